"""A runtime as a program: started, watched, hurt and stopped. Nothing of it is left when the block ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import checker.record
from embedded_kit import eventually
from log_kit import Line, Log
from titles_kit import Mark, actors_of

TESTS = Path(__file__).parent
PROGRAM = (str(Path(sys.executable).with_name("pulse-runtime")),)
SUPERVISOR = "supervisor"


@dataclass(frozen=True, kw_only=True)
class Flags:
    """What a runtime is told. The names of the flags are here and nowhere else."""

    handlers: str = "apps.history_jobs"
    executors: int = 1
    concurrency: int = 10
    loop: str = "uvloop"
    name: str = "test"
    lease: str = "5s"
    beat: str = "0.5s"
    grace: str = "2s"
    log: str = "json"

    def arguments(self, dsn: str) -> list[str]:
        return ["--dsn", dsn, *(f"--{name}={value}" for name, value in vars(self).items())]


class Runtime:
    """`with Runtime(dsn, flags=Flags(executors=2), history=file) as runtime:`"""

    def __init__(
        self,
        dsn: str,
        *,
        flags: Flags | None = None,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        history: Path | None = None,
        program: Sequence[str] = PROGRAM,
    ) -> None:
        self._mark = Mark()
        self.flags = flags or Flags()
        self._command = [*program, *self.flags.arguments(dsn), *args]
        self._environment = {**os.environ, "PYTHONPATH": str(TESTS), **self._mark.environment, **(env or {})}
        if history:
            self._environment[checker.record.VARIABLE] = str(history)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=self._environment,
            start_new_session=True,  # a Ctrl-C at the tests is not for it
        )
        assert self._process.stderr is not None
        self.log = Log(self._process.stderr)
        return self

    def __exit__(self, *_: object) -> None:
        self.kill_all()
        self.log.close()

    @property
    def pid(self) -> int:
        """The supervisor's."""
        return self._process.pid

    def wait_for(self, event: str, *, within_s: float, after: int = 0, **fields: Any) -> Line:
        """The first log line of this event with these fields; `after` a `runtime.log.mark()`, if given."""
        return self.log.wait_for(event, within_s=within_s, after=after, **fields)

    def pids(self) -> dict[str, int]:
        """The supervisor and its children, by actor: claimer, executor-1, …"""
        # Last, because a child that was just forked still has its parent's title.
        return {**actors_of(self.pid), SUPERVISOR: self.pid}

    def pid_of(self, actor: str, *, other_than: int | None = None, within_s: float = 5.0) -> int:
        """The actor's process, once it is there; `other_than`: once another one is."""
        found: list[int] = []

        def is_there() -> bool:
            found[:] = [pid for name, pid in self.pids().items() if name == actor and pid != other_than]
            return bool(found)

        assert eventually(is_there, within_s=within_s), f"no {actor} in {self.pids()}; its log:\n{self.log.tail()}"
        return found[0]

    def kill(self, actor: str, number: signal.Signals = signal.SIGKILL) -> int:
        """Send a signal; the answer is whom it went to."""
        pid = self.pid_of(actor)
        os.kill(pid, number)
        return pid

    def kill_all(self) -> None:
        """SIGKILL to everybody, as when a host is lost."""
        self._process.kill()
        self._mark.kill()
        self._process.wait()

    def processes(self) -> list[int]:
        """Every process that came of it and lives, orphans and handlers' children too."""
        return [process.pid for process in self._mark.processes()]

    def stop(self, number: signal.Signals = signal.SIGTERM, *, within_s: float = 10.0) -> int:
        """Send SIGTERM, or another one, and wait: the exit status."""
        self._process.send_signal(number)
        return self.wait(within_s=within_s)

    def wait(self, *, within_s: float) -> int:
        """The exit status, negative for a signal."""
        try:
            return self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it did not end within {within_s} s; its log:\n{self.log.tail()}") from None
