"""Become someone Postgres will run as, arrange to die with the parent, then become the given program.

Executed as a script, `python -IS launch.py MODE UID GID DEATH_SIGNAL PROGRAM ARGUMENT...`, so it imports nothing of
Pulse. A process of its own, because a user namespace can only be entered by a process with a single thread.

MODE same: stay who we are. namespace: be UID inside a new user namespace and keep our own file rights outside of it.
setuid: be UID for good.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

CLONE_NEWUSER = 0x10000000
PR_SET_PDEATHSIG = 1


def main(mode: str, uid: int, gid: int, death_signal: int, command: list[str]) -> None:
    """Does not return."""
    parent = os.getppid()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the guardian ignores it, and exec would pass that on
    if mode == "namespace":
        enter_namespace(uid=uid, gid=gid)
    elif mode == "setuid":
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    die_with_parent(parent=parent, death_signal=death_signal)
    os.execv(command[0], command)  # noqa: S606 (no shell is the point)


def enter_namespace(*, uid: int, gid: int) -> None:
    """Root outside is `uid` inside: Postgres sees an ordinary user, and the files stay root's without any chown."""
    outer_uid, outer_gid = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "no user namespace")
    Path("/proc/self/uid_map").write_text(f"{uid} {outer_uid} 1")
    Path("/proc/self/setgroups").write_text("deny")  # the kernel wants this before an unprivileged gid_map
    Path("/proc/self/gid_map").write_text(f"{gid} {outer_gid} 1")


def die_with_parent(*, parent: int, death_signal: int) -> None:
    """Linux only; elsewhere a server outlives a killed guardian. After the change of user, which clears the setting."""
    if death_signal and sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit("the parent was gone before the program could start")


if __name__ == "__main__":
    try:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
    except OSError as error:
        sys.exit(f"cannot run {sys.argv[5]} ({sys.argv[1]}, uid {sys.argv[2]}): {error}")
