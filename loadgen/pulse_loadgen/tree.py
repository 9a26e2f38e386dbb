"""A real runtime as a program: started, watched, and stopped. Nothing of it is left when the block ends."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Self

from pulse_loadgen.stamps import VARIABLE
from pulse_runtime.errors import PulseError
from pulse_supervisor.child import end_with_parent

PROGRAM = Path(sys.executable).with_name("pulse-runtime")
HANDLERS = "pulse_loadgen.handlers"
_TITLE = re.compile(r"pulse: (?P<actor>[\w-]+) \[")


class RuntimeFailed(PulseError):  # noqa: N818
    """The runtime that was to be measured ended, or did not come up. Its last lines are in the message."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What a runtime is told."""

    name: str = "loadgen"
    handlers: str = HANDLERS
    executors: int = 2
    concurrency: int = 100
    flags: Mapping[str, str] = field(default_factory=dict)
    """More of them: {"lease": "10s"}."""

    def arguments(self) -> list[str]:
        own = {"name": self.name, "handlers": self.handlers, "executors": self.executors}
        flags = {**own, "concurrency": self.concurrency, "log": "json", **self.flags}
        return [f"--{name}={value}" for name, value in flags.items()]


class Tree:
    """`with Tree(dsn, Shape(), stamps.path) as tree:` is entered when every actor is up."""

    def __init__(self, dsn: str, shape: Shape, stamps: Path, *, up_s: float = 30.0) -> None:
        self._command = [str(PROGRAM), *shape.arguments()]
        # Not as a flag: arguments are for everyone to see, and a DSN may have a password.
        self._environment = {**os.environ, "PULSE_DSN": dsn, VARIABLE: str(stamps)}
        self._up_s = up_s
        self._known: set[int] = set()

    def __enter__(self) -> Self:
        self.started_at = time.monotonic()
        self._process = subprocess.Popen(  # noqa: S603 (our own program, in a list)
            self._command,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=self._environment,
            start_new_session=True,  # a Ctrl-C is for us; we stop it in order
            preexec_fn=end_with_parent,  # it drains, instead of waiting for a database that goes with us
        )
        assert self._process.stderr is not None  # noqa: S101
        self.log = _Log(self._process.stderr)
        try:
            self.log.wait_for("tree up", within_s=self._up_s)
            # "tree up" says that all are ready; executors have their ids when the claimer has told them.
            self.actors()
        except BaseException:
            self.kill_all()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill_all()

    @property
    def pid(self) -> int:
        """The supervisor's."""
        return self._process.pid

    def actors(self) -> dict[str, int]:
        """Process ids by actor: supervisor, claimer-1, executor-1, …"""
        found = {"supervisor": self.pid}
        for child in _children(self.pid):
            title = _TITLE.match(_title(child))
            if title and title["actor"] != "supervisor":
                found[title["actor"]] = child
        self._known.update(found.values())
        return found

    def kill(self, actor: str) -> tuple[int, int]:
        """SIGKILL; whom it hit and when, in nanoseconds of the monotonic clock."""
        pid = self.actors()[actor]
        now = time.monotonic_ns()
        os.kill(pid, signal.SIGKILL)
        return pid, now

    def stop(self, *, within_s: float = 40.0) -> int:
        """Drain it; the exit status."""
        self.actors()
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(within_s)

    def kill_all(self) -> None:
        """SIGKILL to everybody at once, as when a host is lost, and wait until they are gone."""
        if self._process.poll() is None:
            self.actors()
        for pid in [self.pid, *self._known]:
            with contextlib.suppress(ProcessLookupError):
                if pid == self.pid and self._process.poll() is None:
                    self._process.kill()
                elif _TITLE.match(_title(pid)):
                    os.kill(pid, signal.SIGKILL)
        self._process.wait()
        until(lambda: not any(_TITLE.match(_title(pid)) for pid in self._known), within_s=10.0, what="its end")
        self.log.close()


def until(is_so: Callable[[], Any], *, within_s: float, what: str, every_s: float = 0.01) -> None:
    """Wait for it. Raises TimeoutError naming `what`."""
    end = time.monotonic() + within_s
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {within_s:g} s in vain for {what}")
        time.sleep(every_s)


class _Log:
    """The lines of a runtime, as they come."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._changed = threading.Condition()
        self._lines: list[dict[str, Any]] = []
        self._ended = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def mark(self) -> int:
        with self._changed:
            return len(self._lines)

    def said(self, event: str) -> list[dict[str, Any]]:
        with self._changed:
            return [line for line in self._lines if line.get("event") == event]

    def wait_for(self, event: str, *, within_s: float, after: int = 0, **fields: Any) -> dict[str, Any]:
        wanted, end = {"event": event, **fields}, time.monotonic() + within_s
        with self._changed:
            while True:
                for line in self._lines[after:]:
                    if wanted.items() <= line.items():
                        return line
                left_s = end - time.monotonic()
                if self._ended or left_s <= 0:
                    raise RuntimeFailed(f"the runtime did not say {wanted}; its last lines:\n{self.tail()}")
                self._changed.wait(left_s)

    def close(self) -> None:
        self._thread.join(5.0)
        self._stream.close()

    def tail(self) -> str:
        return "\n".join(str(line.get("text", json.dumps(line))) for line in self._lines[-20:])

    def _read(self) -> None:
        for raw in self._stream:
            text = raw.decode(errors="replace").rstrip("\n")
            try:
                line = json.loads(text)
            except ValueError:
                line = None
            with self._changed:
                self._lines.append(line if isinstance(line, dict) else {"text": text})
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()


def _children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            yield from map(int, task.read_text().split())


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode(errors="replace")
    except OSError:
        return ""
