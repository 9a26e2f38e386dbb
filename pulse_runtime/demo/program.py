"""The runtime that the demo shows, as a program of its own: a person may kill any of its processes."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from typing import IO, Any, Self

from pulse_runtime.errors import PulseError
from pulse_supervisor.child import end_with_parent

_START = "from pulse_runtime.cli import main; main()"
_FLAGS = ("--handlers=pulse_runtime.demo.jobs", "--name=demo", "--executors=2", "--log=json", "--grace=5s")
UP_S = 30.0
STOP_S = 15.0
LAST_LINES = 8


def told(event: dict[str, Any]) -> str | None:
    """What is worth a line while the demo runs."""
    name, child = event.get("event"), event.get("child")
    if name == "child ended":
        return f"{child} (pid {event.get('child_pid')}) ended: {event.get('how')}"
    if name == "child started":
        return f"{child} started again as pid {event.get('child_pid')}"
    if name == "executor buried":
        return f"what executor {event.get('executor')} held was settled or given back"
    return None


class RuntimeEnded(PulseError):  # noqa: N818
    """The demo's runtime ended by itself, or did not come up. Its last lines are in the message."""


class Program:
    """Entered when the runtime is up. When the demo ends, however that happens, so does it."""

    def __init__(self, dsn: str) -> None:
        # Not as a flag: arguments are for everyone to see, and a DSN may have a password.
        self._environment = {**os.environ, "PULSE_DSN": dsn}
        self._lines: deque[str] = deque(maxlen=LAST_LINES)
        self._up = threading.Event()
        self._stopping = False
        self.news: deque[str] = deque(maxlen=100)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(  # noqa: S603 (our own program)
            [sys.executable, "-c", _START, *_FLAGS],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=self._environment,
            start_new_session=True,  # a Ctrl-C is for the demo, which stops it in order
            preexec_fn=end_with_parent,  # it drains, instead of waiting for a database that goes with us
        )
        assert self._process.stderr is not None  # noqa: S101
        self._reader = threading.Thread(target=self._read, args=(self._process.stderr,), daemon=True)
        self._reader.start()
        if not self._up.wait(UP_S) or self._process.poll() is not None:
            self.__exit__()
            raise self._ended("did not come up")
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def check(self) -> None:
        """Raises RuntimeEnded if it is gone."""
        if self._process.poll() is not None:
            self._reader.join(1.0)
            raise self._ended("ended by itself")

    def stop(self) -> None:
        """In order: running jobs end, reports are flushed. By force if that takes too long."""
        self._stopping = True
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()
        self._reader.join(1.0)

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                text = line.decode(errors="replace").rstrip()
                self._lines.append(text)
                self._notice(text)
        self._up.set()  # the end, too, is something to stop waiting for

    def _notice(self, text: str) -> None:
        try:
            said = json.loads(text)
        except ValueError:
            return
        if not isinstance(said, dict):
            return
        if said.get("event") == "tree up":
            self._up.set()
        elif self._up.is_set() and not self._stopping and (line := told(said)) is not None:
            self.news.append(line)

    def _ended(self, how: str) -> RuntimeEnded:
        return RuntimeEnded("\n".join([f"the demo's runtime {how}. It said:", *self._lines]))
