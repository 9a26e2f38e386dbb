"""The child's side without a tree: the supervisor and the peers are ends of wires in the test's own hands."""

import os
import select
import selectors
import socket
from collections.abc import Iterator

import pytest

from pulse_supervisor import Drain, Event, Hub, Joined, Left, Message, Orphaned, Peer, Said, Seat, Wire
from pulse_supervisor.control import FromChild, Kill, NewWire, Ready, Rewire

B = Peer("b", 1)


class Note(Message, frozen=True):
    text: str
    load: bytes = b""


class Bench:
    def __init__(self) -> None:
        control, theirs = socket.socketpair()
        near, far = socket.socketpair()
        self.control = Wire(control, incoming=FromChild)
        self.peer = Wire(far, incoming=Note)
        seat = Seat(peer=Peer("a", 1), incarnation=1, control=theirs, wires={B: (1, near)})
        self.hub = Hub(seat, {"b": Note})

    def new_wire(self, incarnation: int) -> Wire:
        near, far = socket.socketpair()
        self.control.send(NewWire("b", 1, incarnation), near.detach())
        return Wire(far, incoming=Note)

    def readable(self) -> bool:
        return bool(select.select([self.hub.fileno()], [], [], 0)[0])

    def close(self) -> None:
        for each in (self.hub, self.control, self.peer):
            each.close()


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.close()


def test_the_first_events_are_the_peers_that_were_there(bench: Bench) -> None:
    assert bench.readable(), "whoever waits on the descriptor must hear of them"
    assert bench.hub.poll(None) == [Joined(B, 1)]
    assert not bench.readable()
    assert bench.hub.peers == {B: 1}
    assert bench.hub.poll(0) == []


def test_a_new_wire_comes_after_everything_the_old_one_said(bench: Bench) -> None:
    bench.hub.poll(0)
    new = bench.new_wire(2)  # the hub hears of it before it hears the old one
    for number in range(200):
        bench.peer.send(Note(str(number), b"x" * 50))
    new.send(Note("new"))
    events: list[Event] = []
    while Said(B, Note("new")) not in events:
        events += bench.hub.poll(1.0)
    texts = [event.message.text for event in events if isinstance(event, Said)]
    assert texts == [*map(str, range(200)), "new"]
    assert events[-3:] == [Left(B, 1, "replaced"), Joined(B, 2), Said(B, Note("new"))]
    new.close()


def test_a_peer_that_does_not_read_is_lost_and_its_death_asked_for(bench: Bench) -> None:
    bench.hub.poll(0)
    for _ in range(40):
        bench.hub.send(B, Note("", b"x" * (1 << 20)))
    assert bench.readable()
    (left,) = bench.hub.poll(None)
    assert isinstance(left, Left)
    assert bench.hub.peers == {}
    (kill,) = bench.control.receive()
    assert isinstance(kill, Kill)
    assert (kill.kind, kill.number, kill.incarnation) == ("b", 1, 1)
    assert "it does not read its wire to a-1" in kill.why


def test_a_wire_that_cannot_be_understood_is_asked_for_anew(bench: Bench) -> None:
    bench.hub.poll(0)
    os.write(bench.peer.fileno(), b"\x01\0\0\0\xc0")
    (left,) = bench.hub.poll(None)
    assert isinstance(left, Left)
    assert left.why.startswith("cannot be understood")
    assert bench.control.receive() == [Rewire("b", 1, 1)]


def test_the_end_of_the_supervisor_is_told_once_and_words_to_it_are_lost(bench: Bench) -> None:
    bench.hub.poll(0)
    bench.hub.ready()
    assert bench.control.receive() == [Ready()]
    bench.control.send(Drain(5.0))
    bench.control.close()
    assert [*bench.hub.poll(None), *bench.hub.poll(None)] == [Drain(5.0), Orphaned()]
    bench.hub.ready()
    assert bench.hub.poll(0) == []
    assert not bench.readable()


def test_a_flush_writes_everything_and_says_whether_it_could(bench: Bench) -> None:
    bench.hub.send(B, Note("", b"x" * (8 << 20)))
    assert bench.hub.flush(0.05) is False
    got: list[Note] = []
    while not got:
        got = bench.peer.receive()
        done = bench.hub.flush(0.001)
    assert done is True


def test_a_descriptor_of_the_childs_own_is_watched_until_it_no_longer_is(bench: Bench) -> None:
    bench.hub.poll(0)
    reading, writing = os.pipe()
    called: list[int] = []
    bench.hub.watch(reading, selectors.EVENT_READ, called.append)
    os.write(writing, b"!")
    bench.hub.poll(None)
    assert called == [selectors.EVENT_READ]
    bench.hub.watch(reading, 0, called.append)
    bench.hub.poll(0)
    assert len(called) == 1
    os.close(reading)
    os.close(writing)


def test_a_callback_that_is_taken_back_by_another_is_not_called(bench: Bench) -> None:
    bench.hub.poll(0)
    pipes = [os.pipe() for _ in range(2)]
    called: list[int] = []

    def first_come(fd: int, other: int) -> None:
        called.append(fd)
        bench.hub.watch(other, 0, lambda _: None)

    for (fd, writing), (other, _) in zip(pipes, reversed(pipes), strict=True):
        bench.hub.watch(fd, selectors.EVENT_READ, lambda _, fd=fd, other=other: first_come(fd, other))  # type: ignore[misc]
        os.write(writing, b"!")
    bench.hub.poll(None)
    assert len(called) == 1
    for pipe in pipes:
        for end in pipe:
            os.close(end)
