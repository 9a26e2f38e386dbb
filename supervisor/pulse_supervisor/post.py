"""One place in the tree, and who holds it now."""

import mmap
import os
import socket
import sys
from dataclasses import dataclass, field

from pulse_supervisor import process
from pulse_supervisor.control import FromChild, Peer
from pulse_supervisor.exits import Exit
from pulse_supervisor.intensity import Intensity
from pulse_supervisor.spec import Child, Seat
from pulse_supervisor.wire import Wire


@dataclass(eq=False)
class Post:
    """A child of the table by kind and number. `pid` is 0 while nobody holds the post."""

    spec: Child
    number: int
    intensity: Intensity = field(default_factory=Intensity)
    pid: int = 0
    pidfd: int = -1
    incarnation: int = 0
    control: Wire | None = None
    box: mmap.mmap | None = None
    started: float = 0.0
    ready: bool = False
    due: float | None = None
    """When to start it (again); None: not at all."""
    deadline: float | None = None
    """When it is killed: it was asked to drain."""
    expected: bool = False
    """Its end was asked for, and is no strike against it."""
    why: str | None = None
    """The reason for which it was killed."""

    @property
    def peer(self) -> Peer:
        return Peer(self.spec.kind, self.number)

    def start(self, seat: Seat, control: socket.socket, *, title: str, now: float) -> None:
        """Fork. `seat` goes to the child; `control` is our end of its control wire."""
        self.box = seat.box
        ends = [seat.control, *(sock for _, sock in seat.wires.values())]
        self.pid = process.fork(
            lambda: self.spec.main(seat),
            title=title,
            keep=[end.fileno() for end in ends],
            killed_with_us=self.spec.killed_with_us,
            leads_group=self.spec.leads_group,
            oom_score_adj=self.spec.oom_score_adj,
        )
        for end in ends:
            end.close()
        self.control = Wire(control, incoming=FromChild)
        self.pidfd = os.pidfd_open(self.pid) if sys.platform == "linux" else -1
        self.started, self.due, self.ready = now, None, False
        self.deadline, self.expected, self.why = None, False, None

    def kill(self, number: int, *, why: str | None = None) -> None:
        """Send a signal, to the whole group if it leads one."""
        if self.pid:
            self.why = self.why or why
            process.end(self.pid, number, group=self.spec.leads_group)

    def gone(self, wait_status: int) -> Exit:
        """It was waited for. Its wires are closed and its group is ended with it."""
        if self.spec.leads_group:
            process.end_group(self.pid)
        if self.control is not None:
            self.control.close()
        if self.pidfd >= 0:
            os.close(self.pidfd)
        self.pid, self.pidfd, self.control, self.ready, self.deadline = 0, -1, None, False, None
        return Exit.of(wait_status)

    def take_box(self) -> bytes:
        """What the black box held, once."""
        if self.box is None:
            return b""
        held = self.box[:]
        self.box.close()
        self.box = None
        return held
