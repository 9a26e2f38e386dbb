"""Reading the files beside this one."""

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")


@dataclass(frozen=True)
class Migration:
    """One step of the schema. `name` is the file's name without its suffix: 0001_ground."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """Of the text with line ends made equal, so that a checkout on Windows is the same migration."""
        return sha256(self.sql.replace("\r\n", "\n").encode()).hexdigest()


@cache
def migrations() -> tuple[Migration, ...]:
    """All migrations, numbered 1, 2, 3 … without a gap."""
    found = sorted(_folder("migrations"), key=lambda file: file.name)
    steps = tuple(_migration(file) for file in found if file.name.endswith(".sql"))
    if [step.number for step in steps] != list(range(1, len(steps) + 1)):
        raise ValueError(f"migrations must be numbered without gaps: {', '.join(step.name for step in steps)}")
    return steps


def snapshot() -> str:
    """What the migrations make, as text (schema.sql): kept to be read and compared, never applied."""
    return (files("pulse_sql") / "schema.sql").read_text("utf-8")


def grants() -> str:
    """Roles and what each may do, for a DBA to apply."""
    return (files("pulse_sql") / "grants.sql").read_text("utf-8")


def _folder(name: str) -> list[Traversable]:
    return list((files("pulse_sql") / name).iterdir())


def _migration(file: Traversable) -> Migration:
    match = _NAME.fullmatch(file.name)
    if not match:
        raise ValueError(f"{file.name} should be called NNNN_what.sql")
    return Migration(number=int(match[1]), name=file.name.removesuffix(".sql"), sql=file.read_text("utf-8"))
