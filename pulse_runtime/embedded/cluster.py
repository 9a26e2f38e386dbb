"""The data folder: which one is ours, and making it so that a half-made one is never seen."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from signal import SIGTERM

from pulse_runtime.embedded.binaries import Binaries, find_binaries
from pulse_runtime.embedded.errors import PostgresDidNotStart, PostgresNotFound
from pulse_runtime.embedded.locks import Deadline
from pulse_runtime.embedded.root import Identity, clean_environment

_HALF_MADE = "init-"


def newest_data(home: Path) -> Path | None:
    """The data folder of the newest major version that `home` has."""
    found = [
        folder for folder in home.glob("pg[0-9]*") if folder.name[2:].isdigit() and (folder / "PG_VERSION").exists()
    ]
    return max(found, key=major_of, default=None)


def major_of(data: Path) -> int:
    """The version of Postgres that `data` is of."""
    return int(data.name.removeprefix("pg"))


def binaries_for(data: Path | None) -> Binaries:
    """The binaries that can use `data`, or the preferred ones when there is no data yet."""
    if data is None:
        return find_binaries()
    major = major_of(data)
    try:
        return find_binaries(major=major)
    except PostgresNotFound as error:
        problem = (
            f"{error.problem}, and only Postgres {major} can use the data in {data}. Install that version, or set "
            "PULSE_HOME to another folder to begin with an empty database"
        )
        raise PostgresNotFound(problem, skipped=error.skipped) from error


def make_cluster(data: Path, *, binaries: Binaries, identity: Identity, durable: bool, deadline: Deadline) -> None:
    """Make `data`: superuser and database `pulse`, UTF-8, C collation. All or nothing, even if we are killed."""
    home = data.parent
    for leftover in home.glob(f"{_HALF_MADE}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=_HALF_MADE, dir=home))
    try:
        identity.give(folder)
        _fill(folder, binaries=binaries, identity=identity, durable=durable, deadline=deadline)
        folder.rename(data)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if durable:
        _sync(home)


def _fill(folder: Path, *, binaries: Binaries, identity: Identity, durable: bool, deadline: Deadline) -> None:
    def run(program: str, *arguments: str | Path, stdin: str = "") -> None:
        command = identity.command(binaries.folder / program, *arguments, death_signal=SIGTERM)
        _run(command, stdin=stdin, hint=identity.hint, deadline=deadline)

    # Local connections are trusted, as the socket is ours alone; others are refused even if someone turns listening on.
    auth = ("--auth-local=trust", "--auth-host=reject")
    run("initdb", "-D", folder, "-U", "pulse", *auth, "-E", "UTF8", "--no-locale", "--no-sync", "--no-instructions")
    quick = ("-c", "fsync=off", "-c", "exit_on_error=on")
    run("postgres", "--single", *quick, "-D", folder, "template1", stdin="create database pulse\n")
    if durable:
        # One sync of everything at the end instead of one per step.
        run("initdb", "--sync-only", "-D", folder)


def _run(command: list[str], *, stdin: str, hint: str, deadline: Deadline) -> None:
    try:
        subprocess.run(  # noqa: S603
            command,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=clean_environment(),
            cwd="/",
            timeout=deadline.left_s,
            start_new_session=True,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise PostgresDidNotStart("making the data folder took longer than the time allowed") from error
    except subprocess.CalledProcessError as error:
        raise PostgresDidNotStart(f"making the data folder failed{hint}", log_tail=error.stdout[-4000:]) from error


def _sync(folder: Path) -> None:
    """Without this, a power cut could undo the rename and lose transactions that were committed after it."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
