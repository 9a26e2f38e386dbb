"""What can be wrong between the migrations that we have and those that a database was given."""

from collections.abc import Sequence

from pulse_runtime._version import __version__
from pulse_runtime.errors import PulseError, Refused

_FOR_A_DBA = "or hand the SQL to someone who may: `pulse-runtime db sql`"


class NotMigrated(Refused):
    """The database lacks `pending`."""

    def __init__(self, pending: Sequence[str]) -> None:
        what = (
            "the schema of Pulse"
            if pending[0].startswith("0001_")
            else f"{len(pending)} migrations: {', '.join(pending)}"
        )
        super().__init__(
            f"the database lacks {what}. Run `pulse-runtime db migrate`, start with --migrate, {_FOR_A_DBA}"
        )
        self.pending = tuple(pending)


class MigrationEdited(Refused):
    """A migration that was applied is not the one that we have."""

    def __init__(self, name: str, *, recorded: str, ours: str) -> None:
        super().__init__(
            f"migration {name} was edited: the database recorded checksum {recorded[:12]}…, ours is {ours[:12]}…. "
            "An applied migration never changes. Install the pulse-runtime that applied it, or restore the file; "
            "a change belongs in a new migration"
        )
        self.name = name
        self.recorded = recorded
        self.ours = ours


class MigrationUnknown(Refused):
    """The database was given `recorded`, and in its place we have `ours`, or it was never given `ours` at all."""

    def __init__(self, *, recorded: str | None, ours: str) -> None:
        difference = f"has {recorded} where we have {ours}" if recorded else f"skipped {ours} and has later ones"
        super().__init__(
            f"the database {difference}. It was migrated by another branch or by hand. "
            "Compare `pulse-runtime db status` with the versions that ran on it"
        )
        self.recorded = recorded
        self.ours = ours


class DatabaseNewer(Refused):
    """The database was migrated by a newer Pulse than this one."""

    def __init__(self, recorded: Sequence[str], *, newest: str) -> None:
        super().__init__(
            f"the database has {', '.join(recorded)}, and pulse-runtime {__version__} ends with {newest}. "
            "Upgrade: pip install --upgrade pulse-runtime"
        )
        self.recorded = tuple(recorded)
        self.newest = newest


class NotOurs(Refused):
    """There is a table pulse.migration, but it is not the one that Pulse makes."""

    def __init__(self, why: str) -> None:
        super().__init__(f"pulse.migration in this database is not a table of Pulse: {why}. Use another database")


class MayNotMigrate(Refused):
    """The role lacks a privilege. Nothing of the migration was applied."""

    def __init__(self, name: str, *, role: str, database: str, why: str) -> None:
        super().__init__(
            f"the role {role} may not apply {name}: {why}. "
            f'Grant it, for example `grant create on database "{database}" to "{role}"`, {_FOR_A_DBA}'
        )
        self.name = name
        self.role = role


class MigrationFailed(PulseError):  # noqa: N818
    """The server refused a statement. The migration was rolled back as a whole; those before it stay.

    `line` is that of the statement in the file, when the server said where it was.
    """

    def __init__(self, name: str, *, line: int | None, why: str) -> None:
        place = f"{name}.sql, line {line}" if line else f"{name}.sql"
        super().__init__(f"{place}: {why}. Nothing of {name} was applied; what came before it was")
        self.name = name
        self.line = line
