"""Threads for handlers that block: ours, so that one that is stuck is known, and a hop costs little."""

import contextvars
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

Ended = Callable[[Any, BaseException | None], None]
Work = tuple[Callable[[], Any], Ended]


class Threads:
    """At most so many, started when they are needed. What has ended is told in the loop, many ends by one wake-up."""

    def __init__(self, most: int, call_from_thread: Callable[[Callable[[], None]], None]) -> None:
        self._most = most
        self._call_from_thread = call_from_thread
        self._fresh = contextvars.copy_context()
        self._work: SimpleQueue[Work] = SimpleQueue()
        self._over: deque[tuple[Ended, Any, BaseException | None]] = deque()
        self._signalled = False
        self._started = 0
        self._busy = 0

    def run(self, call: Callable[[], Any], ended: Ended) -> None:
        """Call it in a thread, with context variables of its own; `ended` is told in the loop.

        Raises RuntimeError if there is no thread, and none to be had.
        """
        if self._busy >= self._started and self._started < self._most:
            self._start()
        self._busy += 1
        self._work.put((call, ended))

    def _start(self) -> None:
        """One more. Where the system gives no more, those that there are do the work, one after the other."""
        try:
            threading.Thread(target=self._serve, name=f"pulse {self._started + 1}", daemon=True).start()
        except RuntimeError:
            if not self._started:
                raise
        else:
            self._started += 1

    def _serve(self) -> None:
        while True:
            call, ended = self._work.get()
            result, error = None, None
            try:
                result = self._fresh.copy().run(call)
            except BaseException as raised:
                error = raised
            self._over.append((ended, result, error))
            if not self._signalled:
                self._signalled = True
                try:
                    self._call_from_thread(self._tell)
                except RuntimeError:  # the loop has ended, and nobody listens any more
                    return
            del call, ended, result, error  # not kept until the next job comes

    def _tell(self) -> None:
        self._signalled = False  # first: what is added from now on has a wake-up of its own
        while self._over:
            ended, result, error = self._over.popleft()
            self._busy -= 1
            ended(result, error)
