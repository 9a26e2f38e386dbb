"""Signals as something to read: the handlers do nothing, the numbers arrive at a socket."""

import contextlib
import signal
import socket
from collections.abc import Iterator
from typing import Self

from pulse_supervisor.child import OURS


class Signals:
    """While entered, the supervisor's signals come here; afterwards they do what they did before."""

    def __enter__(self) -> Self:
        self._reading, self._writing = socket.socketpair()
        self._reading.setblocking(False)
        self._writing.setblocking(False)
        self._handlers = {number: signal.signal(number, _nothing) for number in OURS}
        self._wakeup = signal.set_wakeup_fd(self._writing.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._reading.close()
        self._writing.close()

    def fileno(self) -> int:
        return self._reading.fileno()

    def take(self) -> Iterator[signal.Signals]:
        """Those that have come."""
        with contextlib.suppress(BlockingIOError):
            yield from map(signal.Signals, self._reading.recv(1024))


def _nothing(*_: object) -> None:
    pass
