"""A user of an embedded server, as a process that tests start, kill and run as someone else.

`python embedded_user.py HOME [HOW]` starts the server, says so in one line of JSON, and stays until its input ends.
HOW: hold (the default); fork, a child takes its place; forget, the same but the child drops its share; exec, a program
it has started takes its place.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from pulse_runtime.embedded import Server


def main(home: str, how: str = "hold") -> None:
    server = Server(Path(home), durable=False)
    dsn = server.start()
    if how in {"fork", "forget"} and os.fork():
        os._exit(0)
    if how == "forget":
        server.forget()
    if how == "exec":
        subprocess.Popen(["cat"], close_fds=False)
    print(
        json.dumps({"dsn": dsn, "postmaster": server.postmaster_pid, "me": os.getpid(), "uid": os.geteuid()}),
        flush=True,
    )
    if how != "exec":
        sys.stdin.read()
    # No stop: leaving is enough, and `exec` leaves its program behind with the same input and output.


if __name__ == "__main__":
    main(*sys.argv[1:])
