"""A supervised tree of puppets in a process of its own, and what a test does with it."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import psutil
from embedded_kit import eventually, is_gone

PROGRAM = Path(__file__).with_name("supervisor") / "programs" / "puppets.py"
PATIENCE_S = 10.0

Line = Mapping[str, Any]


def kind(kind: str, *, script: Mapping[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """A row of the table: options of `Child`, and for its puppets a `script` (see `Puppet`)."""
    return {"kind": kind, "script": script or {}, **options}


class Tree:
    """`lines` is what was said so far, by the supervisor and by the puppets."""

    def __init__(
        self,
        folder: Path,
        *kinds: dict[str, Any],
        links: Sequence[tuple[str, str]] = (),
        without_linux: bool = False,
    ) -> None:
        self.folder = folder
        self.lines: list[Line] = []
        self._read = 0
        self._rest = b""
        self._fifos: dict[str, int] = {}
        (folder / "table.json").write_text(
            json.dumps({"children": kinds, "links": links, "without_linux": without_linux})
        )
        for row in kinds:
            for number in range(1, row.get("count", 1) + 1):
                os.mkfifo(fifo := folder / f"{row['kind']}-{number}")
                self._fifos[fifo.name] = os.open(fifo, os.O_RDWR)  # open for all its lives: an order waits for the next
        with (folder / "stderr").open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, str(PROGRAM), str(folder)], stdout=subprocess.PIPE, stderr=errors
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Whatever happened: nothing of it is left."""
        left: list[psutil.Process] = []
        with contextlib.suppress(psutil.NoSuchProcess):
            left = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        self.process.wait()
        for each in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        for fifo in self._fifos.values():
            os.close(fifo)
        assert self.process.stdout is not None
        self.process.stdout.close()
        assert eventually(lambda: all(is_gone(each.pid) for each in left), within_s=PATIENCE_S)

    def until(self, event: str, *, within_s: float = PATIENCE_S, **details: Any) -> Line:
        """The next line that says so, after the last one that was asked for."""
        end = time.monotonic() + within_s
        while True:
            while self._read < len(self.lines):
                line = self.lines[self._read]
                self._read += 1
                if line["event"] == event and all(line.get(name) == value for name, value in details.items()):
                    return line
            if not self._take(end - time.monotonic()):
                said = "\n".join(map(str, self.lines[-40:]))
                raise AssertionError(f"no {event} {details}; it said:\n{said}\n{self.errors()}")

    def until_all(self, *wanted: tuple[str, Mapping[str, Any]]) -> None:
        """Until each of these was said, in whatever order; goes on after the last of them."""
        start, end = self._read, self._read
        for event, details in wanted:
            self._read = start
            self.until(event, **details)
            end = max(end, self._read)
        self._read = end

    def up(self) -> Self:
        self.until("tree up")
        return self

    def rewind(self) -> None:
        """Look again at everything that was said."""
        self._read = 0

    def order(self, name: str, order: str) -> None:
        """Have a puppet do something."""
        os.write(self._fifos[name], f"{order}\n".encode())

    def pid(self, name: str) -> int:
        """Of whoever holds that place now."""
        while self._take(0.0):
            pass
        return int(next(each["pid"] for each in reversed(self.lines) if each.get("at") == name))

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        pid = self.pid(name)
        os.kill(pid, number)
        return pid

    def signal(self, number: int) -> None:
        """To the supervisor."""
        self.process.send_signal(number)

    def ended(self, *, within_s: float = PATIENCE_S) -> int:
        """Its status, once it has ended; everything it said is in `lines`."""
        end = time.monotonic() + within_s
        while self._take(end - time.monotonic()):
            pass
        return self.process.wait(max(0.1, end - time.monotonic()))

    def said(self, event: str, **details: Any) -> list[Line]:
        """Everything of the kind, so far."""
        return [
            line
            for line in self.lines
            if line["event"] == event and all(line.get(name) == value for name, value in details.items())
        ]

    def errors(self) -> str:
        return (self.folder / "stderr").read_text()

    def _take(self, timeout_s: float) -> bool:
        """More lines; False if there are none in time, or ever."""
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        if not select.select([fd], [], [], max(0.0, timeout_s))[0]:
            return False
        data = os.read(fd, 1 << 16)
        *whole, self._rest = (self._rest + data).split(b"\n")
        self.lines += [json.loads(line) for line in whole]
        return bool(data)
