"""A program with the looks of a runtime: titles, children, log lines, signals. For the tests of runtime_kit alone."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable

from setproctitle import setproctitle


def say(event: str, actor: str, **fields: object) -> None:
    line = {"event": event, "actor": actor, "pid": os.getpid(), **fields}
    os.write(2, json.dumps(line).encode() + b"\n")


def start(actor: str, body: Callable[[], object]) -> int:
    pid = os.fork()
    if pid == 0:
        setproctitle(f"pulse: {actor} [test]")
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        say("ready", actor)
        body()
        os._exit(0)
    return pid


def orphan() -> None:
    """A child's child in a session of its own, which outlives them all."""
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)


def main() -> None:
    children: dict[str, int] = {}

    def leave(*_: object) -> None:
        for pid in children.values():
            os.kill(pid, signal.SIGKILL)
        say("stopped", "supervisor", argv=sys.argv[1:])
        os._exit(5 if "--exit-5" in sys.argv else 0)

    signal.signal(signal.SIGTERM, signal.SIG_IGN if "--stubborn" in sys.argv else leave)
    setproctitle("pulse: supervisor [test]")
    children["claimer"] = start("claimer", orphan if "--orphan" in sys.argv else signal.pause)
    children["executor-1"] = start("executor-1", signal.pause)
    os.write(2, b"Traceback, for instance\n")
    while True:  # a dead child is started again, as a supervisor does
        pid, _ = os.wait()
        for actor in [name for name, its in children.items() if its == pid]:
            children[actor] = start(actor, signal.pause)


if __name__ == "__main__":
    main()
