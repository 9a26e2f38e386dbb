"""What every actor does because its loop does it."""

import socket
from collections.abc import Callable
from typing import Any

import pytest

from pulse_runtime.actors.heartbeat import Heartbeat
from pulse_runtime.actors.loop import run
from pulse_runtime.events import Log
from pulse_runtime.topology import incoming
from pulse_supervisor import Drain, Hub, Peer, Seat, Wire
from pulse_supervisor.control import FromChild, Rewire

EXECUTOR = Peer("executor", 1)


class Bench(Log):
    """A heartbeat with an executor's wire in our hands; the log of it."""

    def __init__(self) -> None:
        super().__init__("heartbeat-1")
        control, theirs = socket.socketpair()
        self.executor, near = socket.socketpair()
        self.supervisor = Wire(control, incoming=FromChild)
        seat = Seat(peer=Peer("heartbeat", 1), incarnation=1, control=theirs, wires={EXECUTOR: (3, near)})
        self.hub = Hub(seat, incoming("heartbeat"))
        self.lines: list[dict[str, Any]] = []

    def __call__(self, event: str, **fields: Any) -> None:
        self.lines.append({"event": event, **fields})
        self.supervisor.send(Drain(1.0))

    def run(self, speak: Callable[[socket.socket], object]) -> list[object]:
        """What it told its supervisor until it had ended."""
        try:
            speak(self.executor)
            assert run(Heartbeat(self.hub, beat_s=5.0, silence_s=25.0, log=self), self.hub, self) == 0
            return self.supervisor.receive()
        finally:
            for end in (self.hub, self.supervisor, self.executor):
                end.close()


@pytest.mark.parametrize(
    ("said", "head", "whole"),
    [
        (b"\xff\xff\xff\xff", "ffffffff", True),
        (b"\x01\0\0\0\xc0", "c0", True),
        (b"\x05\0\0\0ab", "0500 00006162", False),
    ],
    ids=["a length that no one has", "no message", "half a frame"],
)
def test_bytes_that_are_no_message_are_logged_with_their_head_and_end_the_wire_alone(
    said: bytes, head: str, whole: bool
) -> None:
    def speak(executor: socket.socket) -> None:
        executor.sendall(said)
        if not whole:
            executor.shutdown(socket.SHUT_WR)

    bench = Bench()
    told = bench.run(speak)
    (line,) = bench.lines
    assert (line["event"], line["peer"]) == ("wire lost", "executor-1")
    assert line["why"].endswith(head)
    assert told == ([Rewire("executor", 1, 3)] if whole else []), "whoever cut it has gone; the others may live"


def test_the_end_of_a_peers_life_is_no_loss() -> None:
    bench = Bench()
    bench.supervisor.send(Drain(1.0))
    bench.run(lambda executor: executor.shutdown(socket.SHUT_RDWR))
    assert bench.lines == []
