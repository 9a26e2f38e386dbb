"""The stacks of everyone on stderr, one process after the other so that they can be told apart."""

import contextlib
import faulthandler
import os
import signal
from collections.abc import Iterable

from pulse_supervisor.post import Post

BETWEEN_S = 0.05
STDERR = 2


class Dumps:
    """The supervisor's own at once, then a child every 50 ms: each writes its own when it gets its signal."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Post, int]] = []
        self._next = 0.0

    def ask(self, posts: Iterable[Post], now: float) -> None:
        """Everyone who lives now."""
        _head("supervisor", os.getpid())
        faulthandler.dump_traceback(file=STDERR, all_threads=True)
        self._waiting = [(post, post.incarnation) for post in posts]
        self._next = now

    def due(self) -> float | None:
        """When `advance` has something to do."""
        return self._next if self._waiting else None

    def advance(self, now: float) -> None:
        """The next one, if it is time."""
        if self._waiting and now >= self._next:
            post, incarnation = self._waiting.pop(0)
            if post.incarnation == incarnation and post.pid:
                _head(str(post.peer), post.pid)
                post.signal(signal.SIGUSR1)
            self._next = now + BETWEEN_S


def _head(name: str, pid: int) -> None:
    with contextlib.suppress(OSError):
        os.write(STDERR, f"--- stacks of {name}, pid {pid}\n".encode())
