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
MARK = "PULSE_TEST_SESSION"


@pytest.fixture(autouse=True)
def no_leaks() -> Iterator[None]:
    """0.2 ms per test that leaks nothing; what is still going away is waited for."""
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


def pytest_sessionstart() -> None:
    """Mark this session's processes, whatever becomes of their parents."""
    os.environ[MARK] = str(os.getpid())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """No process of the session outlives it, even one whose parent has gone and that no test could see."""
    left: list[str] = []

    def nothing_left() -> bool:
        left[:] = _marked(os.environ[MARK])
        return not left

    # 5 s, which is what a server may take to follow its killed user.
    if not eventually(nothing_left, within_s=5.0):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\nthe session left behind: {'; '.join(left)}")


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
            process = psutil.Process(pid)
            yield f"process {pid} ({process.status()}): {' '.join(process.cmdline()) or process.name()}"
        except psutil.NoSuchProcess:
            continue


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
                found.append(f"process {process.pid} ({process.status()}): {' '.join(process.cmdline())}")
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found
