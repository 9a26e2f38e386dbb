"""Forking, signals to children, and waiting for them."""

import contextlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from typing import Final, NoReturn

from pulse_supervisor.child import LINUX, OURS, Birth, become, libc

_CHILD_SUBREAPER: Final = 36
SOFTWARE: Final = 70
"""The exit status of a child that raised (EX_SOFTWARE)."""


def fork(
    body: Callable[[], int | None],
    *,
    title: str,
    keep: Iterable[int] = (),
    killed_with_us: bool = False,
    leads_group: bool = False,
    oom_score_adj: int = 0,
) -> int:
    """Start a child that runs `body` and exits with its result. It has no descriptor but `keep` and 0 to 2."""
    if (threads := _threads()) != 1:
        raise RuntimeError(f"fork with {threads} threads running: {[each.name for each in threading.enumerate()]}")
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # or both of us would write what is buffered; None without a console
            stream.flush()
    parent = os.getpid()
    birth = Birth(
        title=title,
        keep=frozenset(keep),
        killed_with_us=killed_with_us,
        leads_group=leads_group,
        oom_score_adj=oom_score_adj,
    )
    # No signal may reach the child while it still has its parent's handlers.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, OURS)
    try:
        pid = os.fork()
        if not pid:
            _live(body, parent, birth, before)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if leads_group:  # the child does it too: whoever is first, it leads before anyone signals its group
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
    return pid


def _live(body: Callable[[], int | None], parent: int, birth: Birth, mask: set[int]) -> NoReturn:
    """The child's whole life: never returns."""
    code = SOFTWARE
    try:
        become(parent, birth)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        code = body() or 0
    except SystemExit as leaving:
        code = _status(leaving)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)  # never the parent's clean-up


def _status(leaving: SystemExit) -> int:
    """As the interpreter has it: nothing is 0, a text goes to stderr and is 1."""
    if leaving.code is None or isinstance(leaving.code, int):
        return leaving.code or 0
    sys.stderr.write(f"{leaving.code}\n")
    return 1


def adopt_orphans() -> bool:
    """From now on, children of our children that lose their parent become ours. False where it cannot be."""
    return libc is not None and libc.prctl(_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def pidfd(pid: int) -> int:
    """Readable when that child has ended; -1 where there is no such thing: then SIGCHLD and polling do."""
    if LINUX:
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    return -1


def end(pid: int, number: int, *, group: bool) -> None:
    """Send a signal to a child that was not waited for yet, or to its whole group."""
    # Not permitted: of the group, only a program is left that became another user (sudo). Others are ended all the same
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number) if group else os.kill(pid, number)


def reap(leads_group: Callable[[int], bool]) -> tuple[int, int] | None:
    """A child that has ended, or a stranger that we adopted: its pid and wait status. None: nobody (more).

    What is left of its group is killed first, while its zombie still keeps its number from being given to another.
    """
    try:
        if not LINUX:  # untested: without waitid the group is killed a moment too late to be sure
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid and leads_group(pid):
                end(pid, signal.SIGKILL, group=True)
            return (pid, status) if pid else None
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        if leads_group(found.si_pid):
            end(found.si_pid, signal.SIGKILL, group=True)
        return os.waitpid(found.si_pid, 0)
    except ChildProcessError:
        return None


def _threads() -> int:
    """Those of libraries too, where the kernel tells."""
    if LINUX:
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208 (a Path each costs more than the listing)
    return threading.active_count()
