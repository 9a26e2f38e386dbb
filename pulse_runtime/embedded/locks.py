"""Who is alive, as the kernel sees it. Every life here is a flock on a file in the home folder.

A flock belongs to an open file, not to a process: forked children share it, the last copy to close gives it up, and
the kernel closes for the dead. So there is nothing to clean up after a kill, and pids, which are recycled and differ
between containers, decide nothing.

    users.lock    shared by every user; the guardian holds it exclusively while it stops the server
    start.lock    held by the one process that starts (or asks whether it was the last)
    server.lock   held by the guardian, the postmaster and, through fork, by every backend
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

POLL_S = 0.005


class Deadline:
    """A point in time that several waits share."""

    def __init__(self, timeout_s: float) -> None:
        self._end = time.monotonic() + timeout_s

    @property
    def left_s(self) -> float:
        return max(0.0, self._end - time.monotonic())

    def pause(self) -> bool:
        """Wait one poll; False when the time is up."""
        time.sleep(min(POLL_S, self.left_s))
        return self.left_s > 0.0


def take(path: Path, *, exclusive: bool, deadline: Deadline) -> int | None:
    """An open file that holds the lock, or None when the deadline came first. Polls, because flock has no timeout."""
    # O_CLOEXEC: a program that the user starts must not keep the server alive without knowing it.
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    try:
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(file, kind | fcntl.LOCK_NB)
                return file
            if not deadline.pause():
                os.close(file)
                return None
    except BaseException:
        os.close(file)
        raise


@contextlib.contextmanager
def taken(path: Path, *, exclusive: bool, deadline: Deadline) -> Iterator[bool]:
    """Hold the lock inside the block, if True."""
    file = take(path, exclusive=exclusive, deadline=deadline)
    try:
        yield file is not None
    finally:
        if file is not None:
            # Unlocked and not just closed: another thread may have forked meanwhile, and its child has a copy.
            fcntl.flock(file, fcntl.LOCK_UN)
            os.close(file)


def is_free(path: Path, *, exclusive: bool) -> bool:
    """Could the lock be had right now? It is not kept."""
    with taken(path, exclusive=exclusive, deadline=Deadline(0.0)) as ours:
        return ours
