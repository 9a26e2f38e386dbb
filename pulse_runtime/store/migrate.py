"""Bringing a database to the schema that this version of Pulse needs.

Every migration is one transaction that takes the lock first and looks again: two runners at once are safe, also behind
a pooler, and a failure leaves nothing half-applied.
"""

from collections.abc import Callable, Sequence

import psycopg

from pulse_runtime.errors import NoDatabase
from pulse_runtime.store.connect import Connection
from pulse_runtime.store.errors import MayNotMigrate, MigrationFailed
from pulse_runtime.store.history import compare, recorded
from pulse_sql import Migration, migrations

LOCK = 8101820119
"""The advisory lock of whoever migrates, held for one transaction at a time."""

_GUARD = """do $guard$
begin
  if {before} <> (select count(*) from pulse.migration where number <= {before}) or exists (select from pulse.migration where number > {before}) then
    raise exception 'this script needs exactly the {before} migrations before {name}; see `pulse-runtime db status`';
  end if;
end $guard$;
"""  # noqa: E501
_GUARD_FIRST = """do $guard$
begin
  if to_regclass('pulse.migration') is not null then
    raise exception 'this script needs exactly the 0 migrations before {name}; see `pulse-runtime db status`';
  end if;
end $guard$;
"""


def migrate(
    connection: Connection,
    *,
    steps: Sequence[Migration] | None = None,
    applied: Callable[[Migration], None] = lambda _: None,
) -> list[Migration]:
    """Apply what the database lacks of `steps` (ours) and return it; `applied` is told each one after its commit.

    Raises what `pulse_runtime.store.errors` has when the history is not ours or a migration fails.
    """
    known = migrations() if steps is None else steps
    done: list[Migration] = []
    while step := _apply_next(connection, known):
        applied(step)
        done.append(step)
    return done


def script(*, start: int = 1, steps: Sequence[Migration] | None = None) -> str:
    """The SQL that does what `migrate` does, from migration `start` on, for psql or any other client."""
    known = migrations() if steps is None else steps
    return "\n".join(_transaction(step) for step in known if step.number >= start)


def _apply_next(connection: Connection, steps: Sequence[Migration]) -> Migration | None:
    name = steps[0].name
    # Part of BEGIN, no session state. Were the default repeatable read, what the last runner did would not be seen.
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
    try:
        with connection.transaction():
            connection.execute(f"select pg_catalog.pg_advisory_xact_lock({LOCK})".encode())
            pending = compare(steps, recorded(connection))
            if not pending:
                return None
            name = pending[0].name
            _apply(connection, pending[0])
            return pending[0]
    except psycopg.OperationalError as error:
        # psycopg calls a timeout, a full disk or a deadlock by the same name.
        if not connection.closed:
            raise MigrationFailed(name, line=None, why=_said(error)) from error
        said = " ".join(str(error).split())
        raise NoDatabase(f"the connection was lost at {name}: {said}. Whole migrations stay; run again") from error


def _apply(connection: Connection, step: Migration) -> None:
    try:
        connection.execute(step.sql.encode())
        connection.execute(_record(step).encode())
    except psycopg.errors.InsufficientPrivilege as error:
        role, database = connection.info.user, connection.info.dbname
        raise MayNotMigrate(step.name, role=role, database=database, why=_said(error)) from error
    except psycopg.OperationalError:
        raise
    except psycopg.Error as error:
        raise MigrationFailed(step.name, line=_line(step, error), why=_said(error)) from error


def _transaction(step: Migration) -> str:
    guard = _GUARD_FIRST if step.number == 1 else _GUARD
    lock = f"select pg_catalog.pg_advisory_xact_lock({LOCK});\n"
    parts = (lock, guard.format(before=step.number - 1, name=step.name), step.sql.rstrip(), "\n;\n", _record(step))
    return f"begin isolation level read committed;\n{''.join(parts)};\ncommit;\n"


def _record(step: Migration) -> str:
    values = f"{step.number}, '{step.name}', '{step.checksum}'"
    return f"insert into pulse.migration (number, name, checksum) values ({values})"  # noqa: S608 (a file name of ours and a hash)


def _line(step: Migration, error: psycopg.Error) -> int | None:
    """Of the first thing that the server could not do. It counts characters, not bytes, from one."""
    position = error.diag.statement_position
    return step.sql[: int(position) - 1].count("\n") + 1 if position else None


def _said(error: psycopg.Error) -> str:
    return error.diag.message_primary or str(error)
