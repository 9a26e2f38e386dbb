"""One wire: any messages, any chunks, any bytes."""

import os
import socket
import struct
import time
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulse_supervisor.frames import MOST_FRAME, Frames, frame
from pulse_supervisor.wire import Message, Wire, WireFull


class Small(Message, frozen=True):
    number: int
    text: str = ""


class Large(Message, frozen=True):
    load: bytes
    more: tuple[float, ...] = ()


class Kept(Message, frozen=True):
    raw: msgspec.Raw


MESSAGES = st.one_of(
    st.builds(Small, st.integers(-(2**63), 2**63 - 1), st.text()),
    st.builds(Large, st.binary(max_size=3000), st.lists(st.floats(allow_nan=False)).map(tuple)),
)


@pytest.fixture
def ends() -> Iterator[tuple[Wire, Wire]]:
    one, two = socket.socketpair()
    wires = Wire(one, incoming=Small | Large | Kept), Wire(two, incoming=Small | Large | Kept)
    yield wires
    for wire in wires:
        wire.close()


def encoded(messages: list[Message]) -> bytes:
    return b"".join(bytes(frame(msgspec.msgpack.encode(message))) for message in messages)


@given(st.lists(MESSAGES), st.lists(st.integers(1, 5000)))
def test_whatever_is_sent_arrives_however_it_is_cut(messages: list[Message], cuts: list[int]) -> None:
    raw, end = socket.socketpair()
    wire = Wire(end, incoming=Small | Large)
    data, got = encoded(messages), []
    with raw:
        for size in [*cuts, len(data)]:
            raw.sendall(data[:size])
            data = data[size:]
            got += wire.receive(everything=True)
    got += wire.receive(everything=True)
    wire.close()
    assert got == messages
    assert wire.ended == "closed"


@given(st.lists(MESSAGES, min_size=1), st.data())
def test_a_wire_that_is_cut_gives_what_was_whole_and_shows_the_rest(
    messages: list[Message], data: st.DataObject
) -> None:
    whole = encoded(messages)
    at = data.draw(st.integers(0, len(whole) - 1))
    raw, end = socket.socketpair()
    wire = Wire(end, incoming=Small | Large)
    with raw:
        raw.sendall(whole[:at])
    got = wire.receive(everything=True)
    wire.close()
    assert got == messages[: len(got)]
    rest = whole[len(encoded(messages[: len(got)])) : at]
    if rest:
        assert wire.ended == f"cut in the middle of a frame, after {len(rest)} bytes: {rest[:64].hex(' ', 4)}"
    else:
        assert wire.ended == "closed"


@given(st.binary(max_size=300), st.booleans())
def test_hostile_bytes_end_the_wire_and_raise_nothing(hostile: bytes, framed: bool) -> None:
    raw, end = socket.socketpair()
    wire = Wire(end, incoming=Small | Large)
    with raw:
        raw.sendall(bytes(frame(hostile)) if framed else hostile)
        wire.receive(everything=True)
    wire.receive(everything=True)
    wire.close()
    assert wire.ended is not None
    if framed:
        assert wire.broken or wire.ended == "closed"


def test_deep_nesting_ends_the_wire_and_raises_nothing(ends: tuple[Wire, Wire]) -> None:
    one, two = ends
    os.write(one.fileno(), bytes(frame(b"\x91" * 100_000)))
    assert two.receive() == []
    assert two.broken


def test_a_large_frame_costs_as_much_per_byte_as_a_small_one() -> None:
    frames, data = Frames(), bytes(frame(b"x" * (32 << 20)))
    began = time.process_time()
    found = []
    for at in range(0, len(data), 4096):
        frames.feed(data[at : at + 4096])
        found += list(frames)
    assert [len(each) for each in found] == [32 << 20]
    assert time.process_time() - began < 2.0  # 0.04 s; copying what is there at each step takes minutes


def test_a_frame_that_is_too_long_is_refused_by_its_sender(ends: tuple[Wire, Wire]) -> None:
    with pytest.raises(ValueError, match="too long for a wire"):
        ends[0].send(Large(bytes(MOST_FRAME)))
    ends[0].send(Small(1))
    assert ends[1].receive() == [Small(1)]


def test_a_length_that_no_sender_would_write_is_not_waited_for(ends: tuple[Wire, Wire]) -> None:
    os.write(ends[0].fileno(), struct.pack("<I", MOST_FRAME + 1))
    assert ends[1].receive() == []
    assert ends[1].ended is not None
    assert ends[1].ended.startswith(f"cannot be understood: a frame of {MOST_FRAME + 1} bytes")


def test_a_peer_that_does_not_read_is_found_out_and_nobody_waits(ends: tuple[Wire, Wire]) -> None:
    for _ in range(31):
        ends[0].send(Large(b"x" * (1 << 20)))
    with pytest.raises(WireFull, match="does not read"):
        ends[0].send(Large(b"x" * (2 << 20)))
    assert ends[0].wants_to_write


def test_what_did_not_fit_goes_when_there_is_room_and_in_order(ends: tuple[Wire, Wire]) -> None:
    one, two = ends
    messages = [Large(bytes([number]) * (1 << 20)) for number in range(12)]
    for message in messages:
        one.send(message)
    got = []
    while one.wants_to_write:
        one.flush()
        got += two.receive()
    assert got + two.receive(everything=True) == messages


def test_what_points_into_a_message_outlives_the_next_ones(ends: tuple[Wire, Wire]) -> None:
    one, two = ends
    one.send(Kept(msgspec.Raw(msgspec.msgpack.encode("first"))))
    (kept,) = two.receive()
    for number in range(100):
        one.send(Small(number))
        two.receive()
    assert msgspec.msgpack.decode(kept.raw) == "first"


def test_descriptors_arrive_with_their_messages_and_are_closed_here(ends: tuple[Wire, Wire]) -> None:
    one, two = ends
    pipes = [os.pipe() for _ in range(3)]
    one.send(Large(b"x" * (1 << 20)))  # so that they have to wait for room
    for number, (reading, _) in enumerate(pipes):
        one.send(Small(number), reading)
    got = []
    while one.wants_to_write:
        one.flush()
        got += two.receive()
    got += two.receive(everything=True)
    assert [message.number for message in got[1:]] == [0, 1, 2]
    for (reading, writing), arrived in zip(pipes, list(two.fds), strict=True):
        assert reading == arrived or not os.path.exists(f"/proc/self/fd/{reading}")  # noqa: PTH110
        os.write(writing, b"!")
        assert os.read(arrived, 1) == b"!"
        assert not os.get_inheritable(arrived)
        os.close(writing)


@pytest.mark.parametrize("how", ["peer is gone", "wire has ended", "wire is closed"])
def test_descriptors_that_cannot_go_are_closed(how: str) -> None:
    one, two = socket.socketpair()
    wire = Wire(one, incoming=Small)
    two.close()
    if how != "peer is gone":
        wire.receive()
    if how == "wire is closed":
        wire.close()
    reading, writing = os.pipe()
    wire.send(Small(1), reading)
    with pytest.raises(BrokenPipeError):
        os.write(writing, b"!")
    os.close(writing)
    wire.close()


def test_a_peer_that_closes_with_unread_input_has_closed(ends: tuple[Wire, Wire]) -> None:
    one, two = ends
    two.send(Small(1))
    one.send(Small(2))
    two.close()
    assert one.receive(everything=True) == [Small(1)]
    assert (one.ended, one.broken) == ("closed", False)
