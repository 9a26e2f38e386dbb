"""After each test: no process and no descriptor that was not there before. (Connections: see `fix_cluster`.)

What a whole session shares belongs in a session fixture, which is set up before this looks for the first time.
"""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from embedded_kit import eventually

PATIENCE_S = 2.0
SESSION_PATIENCE_S = 5.0  # what an embedded server may take to follow its killed user
MARK = "PULSE_TEST_SESSION"


@pytest.fixture(autouse=True)
def no_leaks() -> Iterator[None]:
    """0.2 ms for a test that leaves nothing; what is still going away is waited for."""
    processes, descriptors = _processes(), _descriptors()
    yield
    left: list[str] = []

    def nothing_left() -> bool:
        left[:] = [*_new_processes(processes), *_new_descriptors(descriptors)]
        return not left

    if not nothing_left():
        gc.collect()  # what only garbage holds is not a leak
        eventually(nothing_left, within_s=PATIENCE_S)
    if left:
        pytest.fail("the test left behind: " + "; ".join(left), pytrace=False)


class Orphans:
    """No process of the session outlives it, even one whose parent has gone and that no single test could see."""

    def __init__(self) -> None:
        self.left: list[str] = []

    def pytest_sessionstart(self) -> None:
        os.environ[MARK] = str(os.getpid())

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not eventually(self._none_left, within_s=SESSION_PATIENCE_S):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.left:
            terminalreporter.section("the session left behind")
            for line in self.left:
                terminalreporter.line(line)

    def _none_left(self) -> bool:
        self.left = _marked(os.environ[MARK])
        return not self.left


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Orphans(), "pulse-orphans")


def _processes() -> set[int]:
    """Our descendants, read from the kernel's own list: psutil looks at every process of the machine (10 ms)."""
    found: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        children = _children(waiting.pop())
        waiting.extend(children - found)
        found |= children
    return found


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found.update(map(int, task.read_text().split()))
        except OSError:  # the thread or process has just gone
            continue
    return found


def _new_processes(before: set[int]) -> Iterator[str]:
    for pid in sorted(_processes() - before):
        try:
            yield _told(psutil.Process(pid))
        except psutil.NoSuchProcess:
            continue


def _told(process: psutil.Process) -> str:
    try:
        command = " ".join(process.cmdline())
    except psutil.ZombieProcess:  # it has no command line any more, only a name
        command = process.name()
    return f"process {process.pid} ({process.status()}): {command}"


def _descriptors() -> dict[str, str]:
    """Number → what it is open on, for instance `socket:[123]`."""
    found: dict[str, str] = {}
    for number in os.listdir("/proc/self/fd"):  # noqa: PTH208 (a Path each costs more than the listing)
        try:
            found[number] = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115
        except OSError:  # the listing's own descriptor
            continue
    return found


def _new_descriptors(before: dict[str, str]) -> Iterator[str]:
    for number, target in _descriptors().items():
        if before.get(number) != target:
            yield f"descriptor {number}: {target}"


def _marked(mark: str) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            ours = process.pid != os.getpid() and process.environ().get(MARK) == mark
            if ours:
                found.append(_told(process))
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found
