"""What the tests of the embedded server share: waiting, other processes, and ready-made homes."""

import contextlib
import json
import os
import shutil
import site
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import psutil
import psycopg

from pulse_runtime.embedded import Server

REPOSITORY = Path(__file__).parents[1]
USER_SCRIPT = Path(__file__).with_name("embedded_user.py")
NOBODY = 65534


def eventually(holds: Callable[[], bool], *, within_s: float, every_s: float = 0.01) -> bool:
    """Did it come true in time?"""
    end = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(every_s)
    return True


def is_gone(pid: int) -> bool:
    """No such process, or only its zombie."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def ask(dsn: str, question: str) -> Any:
    """The first value of the answer."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(question.encode()).fetchone()
    return row and row[0]


def tell(dsn: str, *statements: str) -> None:
    """Run and commit each."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@contextlib.contextmanager
def public_folder() -> Iterator[Path]:
    """A folder that any account can reach (pytest's own are closed to others), in memory where there is room.

    A cluster is 1,300 files; on a slow disk making or copying one takes 1–2 s, in memory 0.1–0.5 s.
    """
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 1_000_000_000
    folder = Path(tempfile.mkdtemp(prefix="pulse-test-", dir=memory if roomy else None))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def user_environment() -> dict[str, str]:
    """Ours, with a way to Pulse and its dependencies for an interpreter that is not that of the tests."""
    roots = [REPOSITORY, *(REPOSITORY / name for name in ("supervisor", "sql", "loadgen")), *site.getsitepackages()]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, roots)), "PYTHONDONTWRITEBYTECODE": "1"}


class User:
    """A process that uses the server in `home`. `said` is what it said once the server answered."""

    def __init__(self, home: Path, *, how: str = "hold", python: Sequence[str] = (sys.executable,)) -> None:
        self.process = subprocess.Popen(
            [*python, str(USER_SCRIPT), str(home), how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=user_environment(),
            cwd="/",
        )

    def said(self) -> Any:
        """Waits for it."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the user ended without a word; its errors are above"
        return json.loads(line)

    def leave(self) -> None:
        """End by itself, with everything that took its place."""
        with self.process:
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()


def end(server: Server) -> None:
    """Stop the server, and fail if it does not go."""
    pid = server.postmaster_pid
    server.stop(wait_s=10.0)
    assert pid is None or eventually(lambda: is_gone(pid), within_s=5.0), "the server is still there"
