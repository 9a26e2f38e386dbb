"""One attempt after the other to get a postmaster to answer. The caller holds a share and the start lock."""

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pulse_runtime.embedded.binaries import Binaries
from pulse_runtime.embedded.errors import PostgresDidNotStart
from pulse_runtime.embedded.locks import POLL_S, Deadline, is_free
from pulse_runtime.embedded.root import Identity, clean_environment, run_python
from pulse_runtime.embedded.socket_folder import PORT, SOCKET, answers, make_ours, socket_folder

_GUARDIAN = Path(__file__).with_name("guardian.py")
_LOG_LIMIT_BYTES = 10_000_000
_LOG_TAIL_BYTES = 4_000


@dataclass(frozen=True)
class Postmaster:
    """What it takes to run the server of one home."""

    home: Path
    data: Path
    binaries: Binaries
    identity: Identity
    settings: Mapping[str, str]

    def bring_up(self, deadline: Deadline) -> None:
        """Return when the server answers: the one that runs, or a new one once nothing of the last one is left.

        What still lives is waited for: it may be shutting down, recovering, or backends of a killed postmaster.
        """
        while not is_up(self.home, self.data):
            if is_free(self.home / "server.lock", exclusive=True):
                self._spawn(deadline)
                return
            if not deadline.pause():
                raise PostgresDidNotStart("a server runs but does not answer", log_tail=self._log_since(-1))

    def _spawn(self, deadline: Deadline) -> None:
        self._sweep()
        log_start = self._turn_log()
        guardian = subprocess.Popen(  # noqa: S603
            self._command(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=clean_environment(),
            cwd="/",
            start_new_session=True,  # Ctrl-C in the user's terminal is not for the server
        )
        guardian.wait()  # it detaches at once, so it is never our child or our zombie
        assert guardian.stdout is not None  # noqa: S101 (for mypy; we asked for a pipe)
        with guardian.stdout as life:
            gone = select.poll()
            gone.register(life, select.POLLIN)
            while not is_up(self.home, self.data):
                if gone.poll(POLL_S * 1000.0):
                    problem = f"Postgres {self.binaries.major} did not start{self.identity.hint}"
                    raise PostgresDidNotStart(problem, log_tail=self._log_since(log_start))
                if not deadline.left_s:
                    raise PostgresDidNotStart("Postgres took too long to start", log_tail=self._log_since(log_start))

    def _sweep(self) -> None:
        """Remove what a killed server left. Its pid may be someone else's by now, and Postgres would wait for that one.

        Safe only because server.lock is free: no process of this cluster is left, in any container.
        """
        folder = socket_folder(self.home)
        make_ours(folder, identity=self.identity)
        self.identity.give(self.data)
        for stale in (self.data / "postmaster.pid", folder / SOCKET, folder / f"{SOCKET}.lock"):
            stale.unlink(missing_ok=True)

    def _command(self) -> list[str]:
        folder = socket_folder(self.home)
        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        where = ("-D", self.data, "-k", folder, "-p", str(PORT), "-h", "")
        postgres = self.identity.command(
            self.binaries.folder / "postgres", *options, *where, death_signal=signal.SIGINT
        )
        locks = (self.home / "users.lock", self.home / "server.lock")
        return run_python(_GUARDIAN, *locks, log_file(self.home), folder, *postgres)

    def _turn_log(self) -> int:
        """Keep one old log, and say where in the new one this attempt begins."""
        log = log_file(self.home)
        with contextlib.suppress(FileNotFoundError):
            if log.stat().st_size < _LOG_LIMIT_BYTES:
                return log.stat().st_size
            log.replace(log.with_suffix(".log.old"))
        return 0

    def _log_since(self, start: int) -> str:
        with contextlib.suppress(FileNotFoundError), log_file(self.home).open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(start, end - _LOG_TAIL_BYTES, 0))
            return log.read().decode(errors="replace")
        return ""


def log_file(home: Path) -> Path:
    """Where the server of `home` writes."""
    return home / "postgres.log"


def is_up(home: Path, data: Path) -> bool:
    """Does the server of `home` answer? Its pid file is read first: asking a server that starts litters its log."""
    try:
        lines = (data / "postmaster.pid").read_text(errors="replace").split("\n")
    except FileNotFoundError:
        return False
    ready = any(line.strip() == "ready" for line in lines[-2:])
    return ready and answers(socket_folder(home))
