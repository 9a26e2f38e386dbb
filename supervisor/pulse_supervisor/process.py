"""Forking, and what a child does before anything else."""

import contextlib
import ctypes
import faulthandler
import gc
import os
import random
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

from setproctitle import setproctitle

_PDEATHSIG = 1
_CHILD_SUBREAPER = 36
# Loaded before any fork: loading a library in a child costs milliseconds, and can deadlock.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
OURS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGCHLD)
LOST_PARENT = 72


def fork(
    body: Callable[[], int | None],
    *,
    title: str,
    keep: Iterable[int],
    killed_with_us: bool = False,
    leads_group: bool = False,
    oom_score_adj: int = 0,
) -> int:
    """Start a child that runs `body` and exits with its result. It has no descriptor but `keep` and 0 to 2."""
    if threading.active_count() != 1:
        raise RuntimeError(f"fork with threads running: {[thread.name for thread in threading.enumerate()]}")
    sys.stdout.flush()
    sys.stderr.flush()
    parent, kept = os.getpid(), set(keep)
    # No signal may reach the child while it still has its parent's handlers.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, OURS)
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return pid
    code = 70
    try:
        _become(parent, kept, title, killed_with_us=killed_with_us, leads_group=leads_group, oom=oom_score_adj)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        code = body() or 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)  # never the parent's clean-up


def adopt_orphans() -> bool:
    """From now on, children of our children that lose their parent become ours. False where it cannot be."""
    return _libc is not None and _libc.prctl(_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def end(pid: int, number: int, *, group: bool) -> None:
    """Send a signal to a child that was not waited for yet, or to its whole group."""
    with contextlib.suppress(ProcessLookupError):
        if group:
            # The group may outlive its leader, or not exist yet in the first instants of the child.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, number)
        os.kill(pid, number)


def end_group(leader: int) -> None:
    """Kill what is left of the group of a leader that has gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _become(parent: int, keep: set[int], title: str, *, killed_with_us: bool, leads_group: bool, oom: int) -> None:
    if killed_with_us and _libc is not None:
        _libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died between the fork and the line above
            os._exit(LOST_PARENT)
    if leads_group:
        os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    for number in OURS:
        signal.signal(number, signal.SIG_DFL)
    # Ctrl-C and a closed terminal go to the whole group: the supervisor decides what they mean.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    close_all_but(keep | {0, 1, 2})
    if oom:
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(str(oom))
    random.seed()
    gc.unfreeze()
    setproctitle(title)


def close_all_but(keep: set[int]) -> None:
    """Otherwise an end of file never comes to those who wait for it."""
    folder = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
    for name in os.listdir(folder):  # noqa: PTH208 (names are all that is wanted)
        if int(name) not in keep:
            with contextlib.suppress(OSError):  # the listing's own
                os.close(int(name))
