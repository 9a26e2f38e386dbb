"""One place in the tree, and who holds it now."""

import contextlib
import mmap
import os
import signal
import socket
import time
from dataclasses import dataclass, field
from typing import Any

from pulse_supervisor import process
from pulse_supervisor.control import Drain, FromChild, Peer
from pulse_supervisor.intensity import Intensity
from pulse_supervisor.spec import Child, Seat
from pulse_supervisor.wire import Message, Wire, WireFull, close_all

SPARE_S = 1.0
"""A drain ends by itself after its grace; this much later it is ended."""
UNREADY_S = 2.0
"""What a child that is not READY gets to drain: it has nothing in hand yet."""


@dataclass(eq=False)
class Post:
    """A child of the table by kind and number. `pid` is 0 while nobody holds the post."""

    spec: Child
    number: int
    intensity: Intensity = field(init=False)
    pid: int = 0
    pidfd: int = -1
    incarnation: int = 0
    control: Wire | None = None
    box: mmap.mmap | None = None
    started: float = 0.0
    ready: bool = False
    heard: float = 0.0
    """When it last said something."""
    silent: float | None = None
    """When it was first found to be silent."""
    due: float | None = None
    """When to start it (again); None: not at all."""
    deadline: float | None = None
    """When it is killed, because it should have ended by then; `late` says why."""
    late: str = ""
    expected: bool = False
    """Its end was asked for, and is no strike against it."""
    why: str | None = None
    """The reason for which it was killed."""
    waited: bool = False
    """It has ended and was waited for: its number may be another's by now."""

    def __post_init__(self) -> None:
        self.intensity = Intensity(self.spec.restart)
        self.peer = Peer(self.spec.kind, self.number)

    def start(self, seat: Seat, control: socket.socket, *, title: str, now: float) -> None:
        """Fork. `seat` goes to the child; `control` is our end of its control wire. Raises OSError."""
        ends = [seat.control, *(sock for _, sock in seat.wires.values())]
        self.pid = process.fork(
            lambda: self.spec.main(seat),
            title=title,
            keep=[end.fileno() for end in ends],
            killed_with_us=self.spec.killed_with_us,
            leads_group=self.spec.leads_group,
            oom_score_adj=self.spec.oom_score_adj,
        )
        self.pidfd = process.pidfd(self.pid)
        self.control = Wire(control, incoming=FromChild)
        self.box = seat.box
        self.started, self.due, self.ready = now, None, False
        self.heard, self.silent = now, None
        self.deadline, self.expected, self.why, self.waited = None, False, None, False
        if self.box is not None and hasattr(mmap, "MADV_DONTFORK"):
            self.box.madvise(mmap.MADV_DONTFORK)  # children that are forked later have no business with it

    def tell(self, message: Message, *fds: int) -> None:
        """Never waits: a child that does not read is killed."""
        if self.control is None:
            close_all(fds)
            return
        try:
            self.control.send(message, *fds)
        except WireFull as error:
            self.kill(why=f"it does not read its control wire: {error}")
        if self.control.broken:  # nobody waits for a wire that has ended, and so nobody else would find out
            self.kill(why=f"its control wire broke: {self.control.ended}")

    def hear(self, *, everything: bool = False) -> list[Any]:
        """What it says."""
        found = [] if self.control is None else self.control.receive(everything=everything)
        if found:
            self.heard, self.silent = time.monotonic(), None
        return found

    def drain(self, grace_s: float, now: float, *, late: str = "it did not drain in time") -> None:
        """Ask it to end. It is killed if it has not when its grace, and a little more, is over."""
        if self.pid:
            self.expected = True
            self.end_by(now + (grace_s + SPARE_S if self.ready else min(grace_s, UNREADY_S)), late)
            self.tell(Drain(grace_s))

    def end_by(self, moment: float, late: str) -> None:
        """Kill it then, unless an earlier moment was set before."""
        if self.deadline is None or moment < self.deadline:
            self.deadline, self.late = moment, late

    def kill(self, *, why: str) -> None:
        """End it and its group now. The first reason is the one that is told."""
        if self.pid:
            self.why = self.why or why
            if not self.waited:
                process.end(self.pid, signal.SIGKILL, group=self.spec.leads_group)

    def signal(self, number: int) -> None:
        """To the child alone, not to what it has started."""
        if self.pid:
            process.end(self.pid, number, group=False)

    def gone(self) -> bytes:
        """It was waited for: nothing of it is left but what its black box held, which is the answer."""
        held = b""
        if self.control is not None:
            self.control.close()
        if self.pidfd >= 0:
            os.close(self.pidfd)
        if self.box is not None:
            held = self.box[:]
            with contextlib.suppress(BufferError):  # someone looks at it; it goes when they have done
                self.box.close()
        self.pid, self.pidfd, self.control, self.box = 0, -1, None, None
        self.ready, self.deadline = False, None
        return held
