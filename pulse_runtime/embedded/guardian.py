"""Run one postmaster, and end it when its last user is gone.

Executed as a script, `python -IS guardian.py USERS_LOCK SERVER_LOCK LOG SOCKET_FOLDER PROGRAM ARGUMENT...`, so it
imports nothing of Pulse. It detaches from whoever started it, because the server belongs to all its users alike.
Standard output is a pipe to the starter that says nothing: its end of file means that the server is gone.
"""

import contextlib
import ctypes
import fcntl
import os
import signal
import sys
import threading
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
# Fast shutdown first (30–100 ms when idle). If that hangs, an immediate one: committed data is safe and the next start
# recovers. Then the end, so that a killed user leaves no server behind after 5 s, whatever state it was in.
STOPPING = ((signal.SIGINT, 3.0), (signal.SIGQUIT, 1.0), (signal.SIGKILL, 0.0))


def main(users_lock: str, server_lock: str, log: str, socket_folder: str, command: list[str]) -> None:
    """Returns when the postmaster is gone and nothing of it is left."""
    if os.fork():
        os._exit(0)
    for each in (signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    adopt_orphans()
    lock_server(server_lock)
    postmaster = spawn(command, log=log)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(postmaster, signal.SIGINT))
    ended = threading.Event()
    threading.Thread(target=stop_when_unused, args=(users_lock, postmaster, ended), daemon=True).start()
    os.waitid(os.P_PID, postmaster, os.WEXITED | os.WNOWAIT)
    ended.set()
    bury()
    with contextlib.suppress(OSError):
        Path(socket_folder).rmdir()  # fails, as it should, when a killed server left its socket


def adopt_orphans() -> None:
    """Backends of a killed postmaster become our children. One that computes would not notice the death for hours."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def lock_server(server_lock: str) -> None:
    """Hold the lock, and let the postmaster and its backends inherit it: it is free when the last of them is gone."""
    file = os.open(server_lock, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)  # blocks for microseconds at most, while someone asks whether it is free
    os.set_inheritable(file, True)


def spawn(command: list[str], *, log: str) -> int:
    """From the main thread: the postmaster's death signal comes when the thread that made it ends, not the process."""
    append = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, log, append, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(command[0], command, os.environ, file_actions=files)


def stop_when_unused(users_lock: str, postmaster: int, ended: threading.Event) -> None:
    """Wait for the last user to go; whoever comes meanwhile waits for its share until we are done."""
    file = os.open(users_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    for how, patience_s in STOPPING:
        if ended.is_set():
            return
        os.kill(postmaster, how)
        ended.wait(patience_s)


def bury() -> None:
    """Reap the postmaster, and end what it left behind if it was killed: nobody can use those backends any more."""
    me = os.getpid()
    with contextlib.suppress(ChildProcessError):
        while True:
            with contextlib.suppress(OSError):
                for orphan in Path(f"/proc/{me}/task/{me}/children").read_text().split():
                    os.kill(int(orphan), signal.SIGKILL)
            os.waitpid(-1, 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:])
