"""When an executor has to go although its runtime is well: for its memory, its age, or a handler that goes on."""

import os
import struct
from dataclasses import dataclass
from pathlib import Path

from pulse_runtime.execution import black_box

_PAGE = os.sysconf("SC_PAGE_SIZE")


def rss_of(pid: int) -> int:
    """Bytes of memory that a process has; 0 where that cannot be told."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


@dataclass(frozen=True)
class Overdue:
    """Asked by the supervisor about a living executor, however its loop fares: why it should be killed, or None."""

    cleanup_s: float
    hard_memory: int | None

    def __call__(self, memory: memoryview, now: float) -> str | None:
        why = black_box.overdue(memory, now, cleanup_s=self.cleanup_s)
        if why is None and self.hard_memory is not None:
            try:
                size = rss_of(black_box.pid_of(memory))
            except struct.error:
                return None
            if size > self.hard_memory:
                why = f"its memory of {mib(size)} is over the limit of {mib(self.hard_memory)}"
        return why


@dataclass(frozen=True)
class Age:
    """Asked by the executor about itself: why it should be replaced when it has finished what it runs, or None."""

    most_jobs: int | None
    most_memory: int | None

    def reached(self, *, ran: int) -> str | None:
        if self.most_jobs is not None and ran >= self.most_jobs:
            return f"it has run {ran} jobs"
        # One that is over it before it has run anything would be replaced for ever, and no job would ever run.
        if self.most_memory is not None and ran and (size := rss_of(os.getpid())) > self.most_memory:
            return f"its memory has grown to {mib(size)}, over {mib(self.most_memory)}"
        return None


def mib(size: int) -> str:
    return f"{size / (1 << 20):.0f} MiB"
