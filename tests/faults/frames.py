"""The Postgres wire protocol, version 3, cut into whole messages. Nothing here knows what they mean."""

from collections.abc import Iterator
from dataclasses import dataclass

_LENGTH = 4
SSL_REQUEST, GSS_REQUEST, CANCEL_REQUEST = 80877103, 80877104, 80877102


@dataclass(frozen=True)
class Frame:
    """One message: its letter (empty for what opens a connection), and all of its bytes."""

    letter: bytes
    raw: bytes

    @property
    def body(self) -> bytes:
        return self.raw[len(self.letter) + _LENGTH :]

    @property
    def asks_for_encryption(self) -> bool:
        """SSLRequest and GSSENCRequest: answered with one byte, and the opening comes again."""
        return not self.letter and self.code in {SSL_REQUEST, GSS_REQUEST}

    @property
    def code(self) -> int:
        """Of an opening: the protocol's version, or one of the requests above."""
        return int.from_bytes(self.body[:4], "big")


class Frames:
    """Bytes in, whole messages out. A client's first ones have no letter; a server's all have."""

    def __init__(self, *, opening: bool) -> None:
        self._opening = opening
        self._kept = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The messages that are complete now."""
        self._kept += data
        start = 0
        while (frame := self._next(start)) is not None:
            start += len(frame.raw)
            if self._opening:
                self._opening = frame.asks_for_encryption
            yield frame
        del self._kept[:start]

    @property
    def rest(self) -> bytes:
        """What came of a message that is not complete."""
        return bytes(self._kept)

    def _next(self, start: int) -> Frame | None:
        letter = 0 if self._opening else 1
        head = start + letter
        if len(self._kept) < head + _LENGTH:
            return None
        end = head + int.from_bytes(self._kept[head : head + _LENGTH], "big")
        if len(self._kept) < end:
            return None
        return Frame(letter=bytes(self._kept[start:head]), raw=bytes(self._kept[start:end]))


def text_at(body: bytes, start: int = 0) -> tuple[str, int]:
    """The text that begins there and ends with a zero, and where the next one begins."""
    end = body.index(0, start)
    return body[start:end].decode(errors="replace"), end + 1
