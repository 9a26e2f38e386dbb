"""What a run says while it runs, on stderr: one line that changes on a terminal, one every two seconds elsewhere."""

import sys
import time
from typing import Self, TextIO

_LIVE_S = 0.2
_PLAIN_S = 2.0


class Progress:
    """`with Progress() as progress: progress("3 of 10")`. On a terminal nothing is left of it."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._told_at = float("-inf")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._write("\r\x1b[K")

    def step(self, text: str) -> None:
        """Something else begins: said at once."""
        self._told_at = float("-inf")
        self(text)

    def __call__(self, text: str) -> None:
        now = time.monotonic()
        if now - self._told_at < (_LIVE_S if self._live else _PLAIN_S):
            return
        self._told_at = now
        self._write(f"\r\x1b[K{text}" if self._live else f"{text}\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
