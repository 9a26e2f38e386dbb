"""Live progress: plain lines in a log, one updating line on a terminal."""

import shutil
from collections.abc import Callable
from typing import TextIO


class Progress:
    """Writes to `stream`. On a terminal the next `step` replaces the last one, and `clear` leaves nothing behind."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._last = ""

    def step(self, text: str) -> None:
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            self._write(f"\r\x1b[K{text[:width]}")
        elif text != self._last:
            self._write(f"{text}\n")
        self._last = text

    def under(self, heading: str) -> Callable[[str], None]:
        """`step` with `heading` in front."""
        return lambda text: self.step(f"{heading}: {text}")

    def clear(self) -> None:
        if self._live and self._last:
            self._write("\r\x1b[K")
        self._last = ""

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
