"""The guard: a small process that ends the groups of children whose supervisor was killed.

The kernel kills a leader with its parent (PR_SET_PDEATHSIG), but not what the leader has started.
"""

import os
import signal
import struct
from collections.abc import Iterable

from pulse_supervisor import process

_ENTRY = struct.Struct("<i")


class Guard:
    """Lives while there are groups to guard. One that is killed is replaced at the next `guard`."""

    def __init__(self, *, title: str) -> None:
        self._title = title
        self._pid = 0
        self._pipe = -1
        self._known: set[int] = set()

    def guard(self, leaders: Iterable[int]) -> None:
        """These, and no others."""
        wanted = set(leaders)
        if wanted == self._known:
            return
        try:
            if self._pid:
                news = [*(wanted - self._known), *(-gone for gone in self._known - wanted)]
                os.write(self._pipe, b"".join(map(_ENTRY.pack, news)))
            else:
                self._start(wanted)
            self._known = wanted
        except OSError:  # no more processes, or it does not read: the next turn tries again with a new one
            self.close()

    def ended(self, pid: int) -> None:
        """That stranger was waited for: it may have been the guard."""
        if pid == self._pid:
            self._forget()

    def close(self) -> None:
        """End it. Its groups have ended before, or are no longer ours to end."""
        if self._pid:
            process.end(self._pid, signal.SIGKILL, group=False)
            os.waitpid(self._pid, 0)
            self._forget()

    def _start(self, leaders: set[int]) -> None:
        reading, self._pipe = os.pipe()
        os.set_blocking(self._pipe, False)
        try:
            self._pid = process.fork(
                lambda: _watch(reading, leaders), title=self._title, keep=(reading,), leads_group=True
            )
        except OSError:
            os.close(self._pipe)
            raise
        finally:
            os.close(reading)

    def _forget(self) -> None:
        os.close(self._pipe)
        self._pid, self._pipe, self._known = 0, -1, set()


def _watch(pipe: int, leaders: set[int]) -> None:
    rest = b""
    while data := os.read(pipe, 4096):
        rest += data
        whole = len(rest) - len(rest) % _ENTRY.size
        for (entry,) in _ENTRY.iter_unpack(rest[:whole]):
            leaders.add(entry) if entry > 0 else leaders.discard(-entry)
        rest = rest[whole:]
    for leader in leaders:
        process.end(leader, signal.SIGKILL, group=True)
