"""Wires: typed messages between two processes, over a socketpair of which neither end ever blocks.

What cannot be written at once is kept, up to a bound: a peer that does not read is found out (`WireFull`) and never
makes anyone wait.
"""

import os
import socket
from array import array
from collections import deque
from collections.abc import Iterable
from typing import Any

import msgspec

from pulse_supervisor.frames import BadFrame, Frames, frame, show

MOST_OUT = 32 << 20
CLOSED = "closed"
_CHUNK = 256 << 10
_READS = 16
_FDS = 16
_ANCILLARY = socket.CMSG_SPACE(_FDS * array("i").itemsize)
_CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)  # Linux; elsewhere there is no such thing
_encoder = msgspec.msgpack.Encoder()


class Message(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """What travels: subclasses are told apart by their names."""


class WireFull(Exception):  # noqa: N818
    """The peer does not read what it is sent."""


class Wire:
    """One end. `ended` says why nothing more will come: None while it is open."""

    def __init__(self, sock: socket.socket, *, incoming: Any, most_out: int = MOST_OUT) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._decode = msgspec.msgpack.Decoder(incoming).decode
        self._out: deque[tuple[memoryview, tuple[int, ...]]] = deque()
        self._out_bytes = 0
        self._most_out = most_out
        self._in = Frames()
        self.fds: deque[int] = deque()
        """Descriptors that came with messages, in their order; whoever takes one owns it."""
        self.ended: str | None = None
        self.broken = False
        """It ended although the peer may live: something came that cannot be understood, or the socket failed."""

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def wants_to_write(self) -> bool:
        """Ask to be told when the socket takes more, then `flush`."""
        return bool(self._out) and self.ended is None

    def send(self, message: Message, *fds: int) -> None:
        """Send now, or as soon as the peer reads. `fds` go with it: they are closed here once they are there.

        On a wire that has ended it does nothing: the peer is gone, and whoever replaces it is told anew.
        Raises WireFull, and ValueError for a message that no wire takes.
        """
        if self.ended is not None:
            close_all(fds)
            return
        try:
            data = frame(_encoder.encode(message))
            if self._out_bytes and self._out_bytes + len(data) > self._most_out:
                raise WireFull(f"{self._out_bytes} bytes wait for a peer that does not read")
        except BaseException:
            close_all(fds)
            raise
        self._out.append((data, fds))
        self._out_bytes += len(data)
        if len(self._out) == 1:  # otherwise the socket is full, and `flush` will be called
            self.flush()

    def flush(self) -> None:
        """Write what fits."""
        while self._out and self.ended is None:
            data, fds = self._out[0]
            try:
                sent = self._write(data, fds)
            except (BlockingIOError, InterruptedError):
                return
            except (BrokenPipeError, ConnectionResetError):
                self._drop_output()  # what it said before is still to be read: `receive` finds the end
                return
            except OSError as error:
                self.give_up(f"cannot write: {error.strerror}")
                return
            close_all(fds)
            self._out_bytes -= sent
            if sent == len(data):
                self._out.popleft()
            else:
                self._out[0] = (data[sent:], ())

    def receive(self, *, everything: bool = False) -> list[Any]:
        """Whole messages that have come. Sets `ended` at the end of the wire or at a frame that cannot be read.

        A turn is bounded, so that one loud peer does not keep the others waiting; `everything` reads on until the
        socket is empty: for a peer that is gone.
        """
        found: list[Any] = []
        turns = 0
        while self.ended is None and (everything or turns < _READS):
            turns += 1
            data = self._read()
            if data is None:
                break
            self._in.feed(data)
            self._take(found)
            if len(data) < _CHUNK and not everything:
                break
        return found

    def give_up(self, why: str) -> None:
        """Nothing more goes or comes, although the peer may live."""
        self._drop_output()
        self.ended, self.broken = why, True

    def close(self) -> None:
        """Close our end; the peer reads an end of file."""
        self._drop_output()
        self.ended = self.ended or "closed here"
        self._socket.close()
        close_all(self.fds)
        self.fds.clear()

    def _write(self, data: memoryview, fds: tuple[int, ...]) -> int:
        if not fds:
            return self._socket.send(data)
        return self._socket.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", fds))])

    def _read(self) -> bytes | None:
        """Some bytes; None if there are none, now or ever."""
        try:
            # Always recvmsg: descriptors that come with bytes read by recv are lost.
            data, ancillary, flags, _ = self._socket.recvmsg(_CHUNK, _ANCILLARY, _CLOEXEC)
        except (BlockingIOError, InterruptedError):
            return None
        except ConnectionResetError:  # how a peer's end looks when it had not read all we sent
            data, ancillary, flags = b"", [], 0
        except OSError as error:
            self.give_up(f"cannot read: {error.strerror}")
            return None
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                self._keep(payload)
        if flags & socket.MSG_CTRUNC:
            self.give_up("cannot read: a descriptor was lost on the way; are there too many?")
            return None
        if not data:
            self.ended = CLOSED
            if len(self._in):
                self.ended = f"cut in the middle of a frame, after {len(self._in)} bytes: {self._in.head()}"
            return None
        return data

    def _keep(self, payload: bytes) -> None:
        got = array("i")
        got.frombytes(payload[: len(payload) - len(payload) % got.itemsize])
        self.fds.extend(got)

    def _take(self, found: list[Any]) -> None:
        try:
            for payload in self._in:
                try:
                    found.append(self._decode(payload))
                except Exception as error:  # msgspec's own, and what a hostile nesting or number makes of it
                    self.give_up(f"cannot be understood: {error}; it begins with {show(payload)}")
                    return
        except BadFrame as error:
            self.give_up(f"cannot be understood: {error}; it begins with {self._in.head()}")

    def _drop_output(self) -> None:
        for _, fds in self._out:
            close_all(fds)
        self._out.clear()
        self._out_bytes = 0


def close_all(fds: Iterable[int]) -> None:
    """Descriptors that nobody will own."""
    for fd in fds:
        os.close(fd)
