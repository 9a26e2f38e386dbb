"""Frames: four bytes of length, then that many of a message. Bytes go in as they come, whole payloads come out."""

import struct
from collections.abc import Iterator

MOST_FRAME = 64 << 20
_LENGTH = struct.Struct("<I")
_SHOWN = 64


class BadFrame(Exception):  # noqa: N818
    """These bytes are no frame of ours."""


def frame(payload: bytes) -> memoryview:
    """As it travels."""
    if len(payload) > MOST_FRAME:
        raise ValueError(f"a message of {len(payload)} bytes is too long for a wire; {MOST_FRAME} is the most")
    return memoryview(_LENGTH.pack(len(payload)) + payload)


class Frames:
    """What has come and is not whole yet: at most one frame, and what was read together with its end."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes) -> None:
        """The next bytes, however they were cut."""
        self._held += data

    def __iter__(self) -> Iterator[bytes]:
        """Take out what is whole. Raises BadFrame; the frame that is bad stays, for `head`.

        Payloads are copies: a message that points into its payload (msgspec.Raw) must not hold the buffer still.
        """
        while len(self._held) >= _LENGTH.size:
            (size,) = _LENGTH.unpack_from(self._held)
            if size > MOST_FRAME:
                raise BadFrame(f"a frame of {size} bytes")
            end = _LENGTH.size + size
            if len(self._held) < end:
                return
            with memoryview(self._held) as view:
                payload = bytes(view[_LENGTH.size : end])
            del self._held[:end]  # moves a pointer, not the bytes
            yield payload

    def __len__(self) -> int:
        """Bytes of a frame that is not whole."""
        return len(self._held)

    def head(self) -> str:
        """How it begins, for the log."""
        return show(bytes(self._held[:_SHOWN]))


def show(data: bytes) -> str:
    """The first bytes, to be read by a person."""
    return data[:_SHOWN].hex(" ", 4)
