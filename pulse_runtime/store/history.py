"""Which migrations a database was given, beside those that we have."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import psycopg

from pulse_runtime.store.connect import Connection
from pulse_runtime.store.errors import DatabaseNewer, MigrationEdited, MigrationUnknown, NotMigrated, NotOurs
from pulse_sql import Migration, migrations

State = Literal["applied", "pending", "edited", "unknown", "newer"]


@dataclass(frozen=True)
class Recorded:
    """A row of pulse.migration."""

    number: int
    name: str
    checksum: str
    applied_at: datetime


@dataclass(frozen=True)
class Step:
    """One migration, ours or the database's, and how the two compare."""

    number: int
    name: str
    state: State
    applied_at: datetime | None


def recorded(connection: Connection) -> dict[int, Recorded]:
    """What the database was given, by number; nothing when it never met Pulse."""
    found = connection.execute("select pg_catalog.to_regclass('pulse.migration') is not null").fetchone()
    if found != (True,):
        return {}
    try:
        rows = connection.execute("select number, name, checksum, applied_at from pulse.migration order by number")
    except psycopg.errors.UndefinedColumn as error:
        raise NotOurs(error.diag.message_primary or "") from error
    return {row[0]: Recorded(*row) for row in rows}


def status(connection: Connection, steps: Sequence[Migration] | None = None) -> list[Step]:
    """Every migration that either side knows, in order."""
    ours = {step.number: step for step in (migrations() if steps is None else steps)}
    theirs = recorded(connection)
    return [_step(ours.get(number), theirs.get(number), newest=max(ours)) for number in sorted({*ours, *theirs})]


def require(connection: Connection) -> None:
    """Raise unless the database has exactly our migrations. For everything that is about to use the schema."""
    theirs = recorded(connection)
    if pending := compare(migrations(), theirs):
        raise NotMigrated([step.name for step in pending])


def compare(steps: Sequence[Migration], theirs: dict[int, Recorded]) -> Sequence[Migration]:
    """Those that the database still needs. Raises when what it has is not the beginning of what we have."""
    done = [number for number in theirs if number <= steps[-1].number]
    for step in steps[: max(done, default=0)]:
        found = theirs.get(step.number)
        if found is None or found.name != step.name:
            raise MigrationUnknown(recorded=found.name if found else None, ours=step.name)
        if found.checksum != step.checksum:
            raise MigrationEdited(step.name, recorded=found.checksum, ours=step.checksum)
    if newer := [each.name for each in theirs.values() if each.number > steps[-1].number]:
        raise DatabaseNewer(newer, newest=steps[-1].name)
    return steps[len(done) :]


def _step(ours: Migration | None, theirs: Recorded | None, *, newest: int) -> Step:
    if theirs is None:
        assert ours is not None  # noqa: S101 (for mypy; the number came from one of them)
        return Step(ours.number, ours.name, "pending", None)
    state: State = "applied"
    if ours is None:
        state = "newer" if theirs.number > newest else "unknown"
    elif ours.name != theirs.name:
        state = "unknown"
    elif ours.checksum != theirs.checksum:
        state = "edited"
    return Step(theirs.number, theirs.name, state, theirs.applied_at)
