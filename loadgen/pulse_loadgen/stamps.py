"""When each job of a run started and ended, in memory that all executors share. A stamp costs a handler 0.3 µs."""

import mmap
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import NamedTuple

VARIABLE = "PULSE_LOADGEN_STAMPS"
"""Tells handlers the file."""
_WIDTH = 5
_MEMORY = Path("/dev/shm")  # noqa: S108 (mkstemp makes a name of our own in it)


class Run(NamedTuple):
    """What is known of a job. Times are of the monotonic clock, which all processes of a machine share; 0 is never."""

    runs: int
    first_ns: int
    last_ns: int
    """When the newest of its runs started."""
    ended_ns: int
    pid: int
    """Of the executor that started it last."""


class Stamps:
    """Jobs have numbers from 0 on. A job that runs twice at once, in two processes, may count as one run too few."""

    def __init__(self, path: Path) -> None:
        self.path = path
        handle = os.open(path, os.O_RDWR)
        try:
            self._map = mmap.mmap(handle, 0)
        finally:
            os.close(handle)
        self._cells = memoryview(self._map).cast("q")
        self.jobs = len(self._cells) // _WIDTH
        self._pid = os.getpid()

    def count(self, n: int) -> None:
        """That it ran, and nothing else: the least that tells a job that runs twice. 0.1 µs."""
        self._cells[n * _WIDTH] += 1

    def start(self, n: int) -> int:
        """The number of runs, this one included."""
        at, cells = n * _WIDTH, self._cells
        now = time.monotonic_ns()
        runs = cells[at] = cells[at] + 1
        if runs == 1:
            cells[at + 1] = now
        cells[at + 2] = now
        cells[at + 4] = self._pid
        return runs

    def end(self, n: int) -> None:
        self._cells[n * _WIDTH + 3] = time.monotonic_ns()

    def __getitem__(self, n: int) -> Run:
        return Run(*self._cells[n * _WIDTH : (n + 1) * _WIDTH])

    def column(self, name: str, jobs: int | None = None) -> list[int]:
        """One field of the first `jobs` jobs, or of all."""
        end = None if jobs is None else jobs * _WIDTH
        return self._cells[Run._fields.index(name) : end : _WIDTH].tolist()

    def close(self) -> None:
        self._cells.release()
        self._map.close()


@contextmanager
def stamps(jobs: int) -> Iterator[Stamps]:
    """Room for so many jobs; gone afterwards."""
    # In memory: a page of a file on disk that is being written back makes a handler wait.
    handle, name = mkstemp(prefix="pulse-loadgen-", dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None)
    try:
        os.truncate(handle, max(jobs, 1) * _WIDTH * 8)
        made = Stamps(Path(name))
        try:
            yield made
        finally:
            made.close()
    finally:
        os.close(handle)
        Path(name).unlink()
