"""After a logical restore: are the transaction ids in the log ours, and if not, make them so."""

from typing import NamedTuple

import psycopg

from pulse_runtime.errors import Refused
from pulse_runtime.store.connect import Connection


class Restored(Refused):
    """The database came out of a dump, and its jobs carry transaction ids that this server has not reached yet."""

    def __init__(self, lanes: int) -> None:
        super().__init__(
            f"the database was restored from another server: {lanes} lanes carry transaction ids that are yet to come "
            "here, and jobs enqueued from now on would be lost behind them. Stop every runtime and run "
            "`pulse-runtime db rebase`, once"
        )
        self.lanes = lanes


class LogInUse(Refused):
    """Someone uses the log, and a rebase wants it alone. Nothing was changed."""

    def __init__(self) -> None:
        super().__init__(
            "the log is in use by someone else. Stop every runtime, wait for open transactions of producers to end "
            "(pg_stat_activity lists them), and run it again"
        )


class Rebased(NamedTuple):
    """How many jobs a rebase found: `pending` wait again, `running` of them had been started; `completed` are done."""

    pending: int
    running: int
    completed: int


def foreign_lanes(connection: Connection) -> int:
    """How many lanes carry transaction ids of another server; 0 is what a runtime needs to start."""
    row = connection.execute("select count(*) from pulse.foreign_xids()").fetchone()
    return int(row[0]) if row else 0


def require_own_xids(connection: Connection) -> None:
    """Raises Restored. Asked at the first boot of a runtime, before anything is claimed."""
    lanes = foreign_lanes(connection)
    if lanes:
        raise Restored(lanes)


def rebase(connection: Connection) -> Rebased:
    """Give every unfinished job a new delivery. One transaction: it is done, or nothing is. Raises LogInUse."""
    try:
        row = connection.execute("select pending, running, completed from pulse.rebase()").fetchone()
    except psycopg.errors.LockNotAvailable as error:
        raise LogInUse from error
    assert row is not None  # noqa: S101 (a function with out parameters always answers)
    return Rebased(*row)
