"""A cluster for one test session, with a database to clone for each test."""

import contextlib
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path

import psycopg
from embedded_kit import eventually, is_gone
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from pulse_runtime.embedded import Server
from pulse_runtime.store.connect import connect
from pulse_runtime.store.migrate import migrate

TEMPLATE = "pulse_template"
SETTINGS = {
    "max_connections": "100",
    "max_prepared_transactions": "450",
    "autovacuum": "on",
    "synchronous_commit": "on",  # else a crash of the server loses commits; without fsync it costs next to nothing
    "shared_buffers": "64MB",  # a clone begins with a checkpoint, which looks at all of them
    "track_io_timing": "on",
    "track_functions": "all",
    "log_min_messages": "warning",
}

USERS = b"""
    select format('connection %%s (%%s, %%s): %%s', pid, application_name, state, left(query, 80))
    from pg_stat_activity where datname = %(name)s and backend_type = 'client backend'
    union all
    select format('prepared transaction %%s', gid) from pg_prepared_xacts where database = %(name)s
"""


class Cluster:
    """A Postgres of the tests' own: nothing of it survives the session, so any test may do anything to it."""

    def __init__(self, home: Path) -> None:
        self._server = Server(home, settings=SETTINGS, durable=False)
        self._numbers = count(1)

    def start(self) -> None:
        """Make the cluster, and the template that clones are made of."""
        self._server.start()
        self._run(SQL("create database {}").format(Identifier(TEMPLATE)))
        with closing(connect(self.dsn_of(TEMPLATE), actor="tests")) as connection:
            migrate(connection)
        # A connection to the template would make every clone fail, so nobody may have one.
        self._run(SQL("alter database {} is_template true allow_connections false").format(Identifier(TEMPLATE)))

    def stop(self) -> None:
        self._server.stop(wait_s=10.0)

    @property
    def dsn(self) -> str:
        """The database `pulse`, which has no schema of ours and is shared: connect, ask, change nothing."""
        return self._server.dsn

    @property
    def pid(self) -> int:
        """The postmaster."""
        pid = self._server.postmaster_pid
        assert pid is not None, f"the test server is gone; its last words are in {self._server.log_file}"
        return pid

    def restart(self, *, immediate: bool) -> None:
        """Every connection ends. `immediate` is a crash: open transactions are cut off and the start recovers."""
        pid = self.pid
        # Signalled and not stopped: the session keeps its share, and the descriptor that is the share.
        os.kill(pid, signal.SIGQUIT if immediate else signal.SIGINT)
        assert eventually(lambda: is_gone(pid), within_s=30.0), f"the postmaster {pid} did not end"
        self._server.start()

    def dsn_of(self, database: str) -> str:
        return make_conninfo(self.dsn, dbname=database)

    def create(self, *, template: str) -> str:
        """A new database; the answer is its name.

        Copying files took 15 ms with a hundred tables in the template, `wal_log` 25 ms.
        """
        name = f"test_{next(self._numbers)}"
        self._run(
            SQL("create database {} template {} strategy file_copy").format(Identifier(name), Identifier(template))
        )
        return name

    @contextlib.contextmanager
    def ending(self, database: str, *, within_s: float) -> Iterator[Sequence[str]]:
        """Who still uses the database when the time is up, by name. After the block it is dropped, and they thrown out.

        A backend takes a moment to go: mostly less than 1 ms, so that is how often we look.
        """
        users: list[str] = []
        with psycopg.connect(self.dsn, autocommit=True) as connection:

            def nobody_left() -> bool:
                users[:] = [row[0] for row in connection.execute(USERS, {"name": database})]
                return not users

            eventually(nobody_left, within_s=within_s, every_s=0.001)
            yield users
            connection.execute(SQL("drop database {} with (force)").format(Identifier(database)))

    def roll_back_prepared(self, database: str) -> None:
        """End prepared transactions, because not even force drops a database that has one."""
        with psycopg.connect(self.dsn_of(database), autocommit=True) as connection:
            found = connection.execute("select gid from pg_prepared_xacts where database = current_database()")
            for (name,) in found.fetchall():
                connection.execute(SQL("rollback prepared {}").format(name))

    def _run(self, statement: SQL | psycopg.sql.Composed) -> None:
        # A connection each time (3 ms): one that is kept would not survive a restart.
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(statement)
