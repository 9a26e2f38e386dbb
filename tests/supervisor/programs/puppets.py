"""A tree whose children do what a test tells them. `python puppets.py FOLDER`, where `table.json` says who there is.

Everything that happens is a line of JSON on stdout: what the supervisor logs, what the children learn from their hubs,
and answers to orders. An order is a line in the FIFO of a child: `FOLDER/kind-number`.
"""

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pulse_supervisor import (
    Child,
    Died,
    Drain,
    Hub,
    Joined,
    Left,
    Link,
    Message,
    Orphaned,
    Peer,
    Restart,
    Said,
    Seat,
    Supervisor,
    process,
)
from pulse_supervisor import child as process_child

FOLDER = Path(sys.argv[1])
TABLE = json.loads((FOLDER / "table.json").read_text())


class Note(Message, frozen=True):
    """What puppets say to each other."""

    text: str
    load: bytes = b""


def say(event: str, **details: Any) -> None:
    os.write(1, json.dumps({"event": event, **details}).encode() + b"\n")


def peer_of(name: str) -> Peer:
    kind, _, number = name.rpartition("-")
    return Peer(kind, int(number))


class Puppet:
    def __init__(self, seat: Seat) -> None:
        self.seat = seat
        self.name = str(seat.peer)
        self.script = seat.facts[seat.peer.kind]
        self.programs: list[subprocess.Popen[bytes]] = []

    def run(self) -> int:
        starts = self.script.get("starts", ["ready"])
        start = starts[min(self.seat.incarnation, len(starts)) - 1]
        self.hub = Hub(self.seat, dict.fromkeys(self.seat.facts, Note))
        self.orders = os.open(FOLDER / self.name, os.O_RDWR | os.O_NONBLOCK)
        self.hub.watch(self.orders, select.POLLIN, self.read_orders)
        self.say("began", incarnation=self.seat.incarnation, first=self.seat.first)
        if start == "ready":
            self.hub.ready()
        else:
            self.obey(*start.split())
        while True:
            for event in self.hub.poll(None):
                self.learn(event)

    def say(self, event: str, **details: Any) -> None:
        say(event, at=self.name, pid=os.getpid(), **details)

    def read_orders(self, _: int) -> None:
        for line in os.read(self.orders, 65536).decode().splitlines():
            self.obey(*line.split())

    def obey(self, order: str, *words: str) -> None:
        getattr(self, f"do_{order}")(*words)

    def learn(self, event: Any) -> None:
        if isinstance(event, Said):
            self.say("said", by=str(event.peer), text=event.message.text, bytes=len(event.message.load))
        elif isinstance(event, Joined):
            self.say("joined", peer=str(event.peer), incarnation=event.incarnation)
        elif isinstance(event, Left):
            self.say("left", peer=str(event.peer), incarnation=event.incarnation, why=event.why)
        elif isinstance(event, Died):
            name = f"{event.kind}-{event.number}"
            box = event.box[:8].decode()
            self.say("died", who=name, incarnation=event.incarnation, how=event.how, why=event.why, box=box)
            if not self.script.get("silent_mourner"):
                self.hub.seen(event)
            self.last_death = event
        elif isinstance(event, Drain):
            self.say("drain", grace_s=event.grace_s)
            self.obey(*self.script.get("drain", "exit 0").split())
        elif isinstance(event, Orphaned):
            self.say("orphaned")
            os._exit(0)

    # --- orders

    def do_ready(self) -> None:
        self.hub.ready()

    def do_nothing(self) -> None:
        """Read on."""

    def do_exit(self, status: str) -> None:
        self.hub.flush(5.0)
        sys.exit(int(status))

    def do_segfault(self) -> None:
        ctypes.string_at(0)

    def do_raise(self) -> None:
        raise RuntimeError("as it was told")

    def do_deaf(self) -> None:
        self.say("deaf")
        while True:
            time.sleep(60.0)

    def do_send(self, peer: str, text: str, size: str = "0", times: str = "1") -> None:
        for _ in range(int(times)):
            self.hub.send(peer_of(peer), Note(text, b"x" * int(size)))

    def do_raw(self, peer: str, data: str) -> None:
        """Bytes that are no message."""
        os.write(self.hub._wires[peer_of(peer)][1].fileno(), bytes.fromhex(data))

    def do_raw_control(self, data: str) -> None:
        os.write(self.hub._control.fileno(), bytes.fromhex(data))

    def do_kill(self, peer: str, incarnation: str, why: str) -> None:
        self.hub.kill(peer_of(peer), int(incarnation), why)

    def do_seen(self) -> None:
        self.hub.seen(self.last_death)

    def do_mark(self, text: str) -> None:
        assert self.seat.box is not None
        self.seat.box[: len(text)] = text.encode()
        self.say("marked")

    def do_boxes(self) -> None:
        """How many pieces of shared memory we have."""
        self.say("boxes", count=Path("/proc/self/maps").read_text().count("/dev/zero (deleted)"))

    def do_spawn(self) -> None:
        self.programs.append(subprocess.Popen(["sleep", "600"]))
        self.say("spawned", program=self.programs[-1].pid)

    def do_terminate(self) -> None:
        program = self.programs.pop()
        program.terminate()
        self.say("terminated", status=program.wait(5.0))

    def do_stray(self) -> None:
        """A process that leaves our group, loses its parent at once, and ends soon."""
        reading, writing = os.pipe()
        if not os.fork():
            if not os.fork():
                os.setsid()
                os.write(writing, str(os.getpid()).encode())
                time.sleep(0.05)
            os._exit(0)
        os.wait()
        self.say("strayed", program=int(os.read(reading, 20)))

    def do_close(self) -> None:
        """Close the control wire, and live on."""
        os.close(self.seat.control.detach())
        self.do_deaf()

    def do_parent(self) -> None:
        self.say("parent", ppid=os.getppid(), group=os.getpgid(0))


def main(seat: Seat) -> int:
    return Puppet(seat).run()


def overdue(box: memoryview, now: float) -> str | None:
    if bytes(box[:4]) == b"fail":
        raise RuntimeError("this check fails")
    return "it is late" if bytes(box[:4]) == b"late" else None


def child(options: dict[str, Any]) -> Child:
    options = {name: value for name, value in options.items() if name != "script"}
    if "restart" in options:
        options["restart"] = Restart(**options["restart"])
    if options.pop("watched", False):
        options["overdue"] = overdue
    for name in ("mourners", "refusals"):
        if name in options:
            options[name] = tuple(options[name])
    return Child(main=main, **options)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if TABLE["without_linux"]:  # no pidfds, waitid, prctl: what is left is what macOS has
        for module in (process, process_child):
            vars(module).update(LINUX=False, libc=None)
    tree = Supervisor(
        [child(options) for options in TABLE["children"]],
        [Link(*pair) for pair in TABLE["links"]],
        name="test",
        log=say,
        facts={options["kind"]: options.get("script", {}) for options in TABLE["children"]},
    )
    sys.exit(tree.run())
