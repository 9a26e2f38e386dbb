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
    if sys.platform != "linux":
        return ""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]  # a zombie is gone


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
