"""A program's processes: found by title among its children, or by a mark wherever they are."""

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psutil
from embedded_kit import eventually

VARIABLE = "PULSE_TEST_TREE"
_TITLE = re.compile(r"pulse: (?P<actor>[\w-]+) \[[^\]]*\]")


class Mark:
    """In the environment of a program, and so of all that it forks, however they are related later."""

    def __init__(self) -> None:
        self._value = uuid4().hex
        # Without SPT_NOENV, setproctitle writes titles over the environment that /proc shows.
        self.environment = {VARIABLE: self._value, "SPT_NOENV": "1"}

    def processes(self) -> list[psutil.Process]:
        """Those that live; 10 ms or more, as every process of the machine is looked at."""
        return [process for process in psutil.process_iter() if self._is_on(process)]

    def kill(self, *, within_s: float = 5.0) -> None:
        """Until there is none, even if some are born meanwhile."""

        def none_left() -> bool:
            left = self.processes()
            for process in left:
                with _gone_is_fine():
                    process.send_signal(signal.SIGKILL)
            return not left

        assert eventually(none_left, within_s=within_s), f"still there after SIGKILL: {self.processes()}"

    def _is_on(self, process: psutil.Process) -> bool:
        try:
            return process.pid != os.getpid() and process.environ().get(VARIABLE) == self._value
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            return False


def actors_of(pid: int) -> dict[str, int]:
    """The children of a supervisor by actor. Children of theirs have the same titles, and are not meant."""
    found = {}
    for child in _children(pid):
        title = _TITLE.match(_title(child))
        if title:
            found[title["actor"]] = child
    return found


def _children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with _gone_is_fine():
            yield from map(int, task.read_text().split())


def _title(pid: int) -> str:
    with _gone_is_fine():
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode(errors="replace")
    return ""


class _gone_is_fine:  # noqa: N801
    """Whoever looks at a process may find that it has just gone."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, (OSError, psutil.NoSuchProcess))
