"""Which host and boot this is, and whether a process of it still lives."""

import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Identity:
    """A host, since its last boot."""

    host: str
    boot_id: str


def here() -> Identity:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        boot = ""
    return Identity(socket.gethostname(), boot)


def start_of(pid: int) -> str:
    """When a process began, in the kernel's own count: with the pid, a name that is never used twice. Empty if gone."""
    fields = _stat(pid)
    return "" if fields is None or fields[0] in "ZX" else fields[19]  # a zombie is gone


def is_sibling(pid: int, pid_start: str) -> bool:
    """Is that very process another child of our own parent?"""
    if pid == os.getpid() or not pid_start or start_of(pid) != pid_start:
        return False
    fields = _stat(pid)
    return fields is not None and int(fields[1]) == os.getppid()


def lives(pid: int, pid_start: str) -> bool:
    """Does that very process still live on this host?"""
    if pid_start:
        return start_of(pid) == pid_start
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _stat(pid: int) -> list[str] | None:
    """State, parent and so on: what the kernel tells after a process's name. None: it is gone, or nobody tells."""
    if sys.platform != "linux":
        return None
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()
