"""A program's log, one JSON object per line, read while it runs."""

import json
import threading
import time
from typing import IO, Any

Line = dict[str, Any]


class Log:
    """Lines as they come. What is no JSON object, for instance a traceback, is kept as {"text": …}."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._changed = threading.Condition()
        self._lines: list[Line] = []
        self._ended = False
        self._thread = threading.Thread(target=self._read, name="log of a program", daemon=True)
        self._thread.start()

    @property
    def lines(self) -> list[Line]:
        with self._changed:
            return list(self._lines)

    def mark(self) -> int:
        """Now, for `after`."""
        with self._changed:
            return len(self._lines)

    def wait_for(self, event: str, *, within_s: float, after: int = 0, **fields: Any) -> Line:
        """The first line, from `after` on, of this event with these fields. Fails at once when the log has ended."""
        wanted, end = {"event": event, **fields}, time.monotonic() + within_s
        with self._changed:
            while True:
                for line in self._lines[after:]:
                    if wanted.items() <= line.items():
                        return line
                left_s = end - time.monotonic()
                if self._ended or left_s <= 0:
                    why = "the log ended" if self._ended else f"{within_s} s"
                    raise AssertionError(f"{why} without {wanted}; its last lines:\n{self._tail()}")
                self._changed.wait(left_s)

    def tail(self, most: int = 20) -> str:
        """The last lines, for a failure's message."""
        with self._changed:
            return self._tail(most)

    def close(self) -> None:
        """Wait for the end, which comes when nobody can write any more."""
        self._thread.join()
        self._stream.close()

    def _tail(self, most: int = 20) -> str:
        return "\n".join(line["text"] if set(line) == {"text"} else json.dumps(line) for line in self._lines[-most:])

    def _read(self) -> None:
        for text in self._stream:
            with self._changed:
                self._lines.append(_line(text.rstrip("\n")))
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()


def _line(text: str) -> Line:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"text": text}
