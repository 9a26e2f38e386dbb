"""Wires: typed messages between two processes, over a socketpair of which neither end ever blocks.

A frame is four bytes of length and a msgpack message. What cannot be written at once is kept, up to a bound: a peer that
does not read is found out (`WireFull`) and never makes anyone wait.
"""

import os
import socket
import struct
from array import array
from collections import deque
from collections.abc import Iterable
from typing import Any

import msgspec

MOST_OUT = 32 << 20
MOST_FRAME = 256 << 20
_CHUNK = 1 << 20
_HEAD = struct.Struct("<I")
_FDS = 16
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
        self._in = bytearray()
        self.fds: deque[int] = deque()
        """Descriptors that came with messages, in their order; whoever takes one owns it."""
        self.ended: str | None = None

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def wants_to_write(self) -> bool:
        """Ask to be told when the socket takes more, then `flush`."""
        return bool(self._out) and self.ended is None

    def send(self, message: Message, *fds: int) -> None:
        """Send now, or as soon as the peer reads. `fds` go with it: they are closed here once they are there.

        On a wire that has ended it does nothing: the peer is gone, and whoever replaces it is told anew. Raises WireFull.
        """
        if self.ended is not None:
            _close(fds)
            return
        payload = _encoder.encode(message)
        if self._out_bytes and self._out_bytes + len(payload) > self._most_out:
            _close(fds)
            raise WireFull(f"{self._out_bytes} bytes wait for a peer that does not read")
        self._out.append((memoryview(_HEAD.pack(len(payload)) + payload), fds))
        self._out_bytes += len(payload) + _HEAD.size
        self.flush()

    def flush(self) -> None:
        """Write what fits."""
        while self._out and self.ended is None:
            data, fds = self._out[0]
            try:
                sent = self._write(data, fds)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                # What was received before is still to be read: `receive` finds the end.
                self._drop_output()
                if not isinstance(error, BrokenPipeError | ConnectionResetError):
                    self.ended = f"cannot write: {error.strerror}"
                return
            _close(fds)
            self._out_bytes -= sent
            if sent == len(data):
                self._out.popleft()
            else:
                self._out[0] = (data[sent:], ())

    def receive(self) -> list[Any]:
        """Whole messages that have come. Sets `ended` at the end of the wire or at a frame that cannot be read."""
        while self.ended is None:
            try:
                data = self._read()
            except (BlockingIOError, InterruptedError):
                break
            except OSError as error:
                self.ended = f"cannot read: {error.strerror}"
                break
            if not data:
                self.ended = (
                    f"cut in the middle of a frame ({len(self._in)} bytes of it)" if self._pending() else "closed"
                )
                break
            self._in += data
            if len(data) < _CHUNK:
                break
        return self._messages()

    def close(self) -> None:
        """Close our end; the peer reads an end of file."""
        self._drop_output()
        self.ended = self.ended or "closed here"
        self._socket.close()
        _close(self.fds)
        self.fds.clear()

    def _write(self, data: memoryview, fds: tuple[int, ...]) -> int:
        if not fds:
            return self._socket.send(data)
        return self._socket.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", fds))])

    def _read(self) -> bytes:
        # Always recvmsg: descriptors that come with bytes read by recv would be lost, and leak in the kernel until then.
        data, ancillary, _, _ = self._socket.recvmsg(_CHUNK, socket.CMSG_SPACE(_FDS * array("i").itemsize))
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                got = array("i")
                got.frombytes(payload[: len(payload) - len(payload) % got.itemsize])
                self.fds.extend(got)
        return data

    def _pending(self) -> bool:
        if len(self._in) < _HEAD.size:
            return bool(self._in)
        return len(self._in) < _HEAD.size + _HEAD.unpack_from(self._in)[0]

    def _messages(self) -> list[Any]:
        found: list[Any] = []
        at, buffer = 0, self._in
        while len(buffer) - at >= _HEAD.size:
            (size,) = _HEAD.unpack_from(buffer, at)
            end = at + _HEAD.size + size
            if size > MOST_FRAME:
                self._bad(buffer, at, f"a frame of {size} bytes")
                break
            if end > len(buffer):
                break
            try:
                found.append(self._decode(memoryview(buffer)[at + _HEAD.size : end]))
            except msgspec.MsgspecError as error:
                self._bad(buffer, at, str(error))
                break
            at = end
        if at:
            del buffer[:at]
        return found

    def _bad(self, buffer: bytearray, at: int, problem: str) -> None:
        head = bytes(buffer[at : at + 64]).hex(" ", 4)
        self.ended = f"cannot be understood: {problem}; it begins with {head}"

    def _drop_output(self) -> None:
        for _, fds in self._out:
            _close(fds)
        self._out.clear()
        self._out_bytes = 0


def _close(fds: Iterable[int]) -> None:
    for fd in fds:
        os.close(fd)
