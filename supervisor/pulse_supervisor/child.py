"""What a forked child does before anything else."""

import contextlib
import ctypes
import faulthandler
import gc
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from setproctitle import setproctitle

OURS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGCHLD)
"""The signals that mean something to a supervisor."""
LOST_PARENT: Final = 72
PDEATHSIG: Final = 1
LINUX: bool = sys.platform == "linux"
# Loaded before any fork: loading a library in a child costs milliseconds, and can deadlock.
libc = ctypes.CDLL(None, use_errno=True) if LINUX else None


@dataclass(frozen=True, kw_only=True)
class Birth:
    """How a child differs from its parent."""

    title: str
    keep: frozenset[int]
    """Its descriptors, besides 0 to 2."""
    killed_with_us: bool
    leads_group: bool
    oom_score_adj: int


def become(parent: int, birth: Birth) -> None:
    """The first steps of a child; its signals are blocked until it has taken them."""
    # What is garbage now was the parent's: a finalizer run here would close a number that is something else by then.
    gc.freeze()
    if birth.killed_with_us and libc is not None:
        end_with_parent(signal.SIGKILL)
        if os.getppid() != parent:  # it died between the fork and the line above
            os._exit(LOST_PARENT)
    if birth.leads_group:
        os.setpgid(0, 0)
    _take_signals()
    close_all_but({0, 1, 2, *birth.keep})
    if birth.oom_score_adj:
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(str(birth.oom_score_adj))
    setproctitle(birth.title)


def end_with_parent(number: signal.Signals = signal.SIGTERM) -> None:
    """In a child, or as a `preexec_fn`: this signal comes when the parent has ended, even by SIGKILL. Linux alone."""
    _set_death_signal(number)


@contextlib.contextmanager
def killed_with_parent() -> Iterator[None]:
    """In a child: for as long as it waits for something, and so does not see its control wire end."""
    _set_death_signal(signal.SIGKILL)
    try:
        yield
    finally:
        _set_death_signal(0)


def _set_death_signal(number: int) -> None:
    if libc is not None:
        libc.prctl(PDEATHSIG, number, 0, 0, 0)


def _take_signals() -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # Ctrl-C, a closed terminal and a service manager's SIGTERM go to everyone: the supervisor decides what they mean.
    # Handlers, because what is ignored stays ignored in programs that the child starts.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, _nothing)
    faulthandler.register(signal.SIGUSR1, file=2, all_threads=True)


def _nothing(*_: object) -> None:
    pass


def close_all_but(keep: Iterable[int]) -> None:
    """Otherwise an end of file never comes to those who wait for it."""
    kept = set(keep)
    folder = "/proc/self/fd" if LINUX else "/dev/fd"
    for name in os.listdir(folder):  # noqa: PTH208 (names are all that is wanted)
        if int(name) not in kept:
            with contextlib.suppress(OSError):  # the listing's own
                os.close(int(name))
