"""One-shot traps: the statement that springs one is carried out, and its reply never arrives."""

import re
import threading
from dataclasses import dataclass

from faults.conversation import Turn

COMMIT = "commit"
_COMMIT = re.compile(r"(^|;)\s*commit\b|^\s*end\s*;?\s*$", re.IGNORECASE)


@dataclass(frozen=True)
class Swallowed:
    """What became of the statement whose reply was swallowed, as the server told the proxy."""

    statement: str
    tags: tuple[str, ...]
    failed: bool
    status: str

    @property
    def is_committed(self) -> bool:
        """The server has answered, without an error, and no transaction is open any more."""
        return not self.failed and self.status == "I" and "ROLLBACK" not in self.tags


class Trap:
    """Springs at the first statement that contains `text`, or that is a COMMIT."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._sprung = threading.Event()
        self._swallowed: Swallowed | None = None

    def matches(self, statement: str) -> bool:
        if self.text.lower() == COMMIT:
            return _COMMIT.search(statement) is not None
        return self.text in statement

    def spring(self, statement: str, turn: Turn) -> None:
        self._swallowed = Swallowed(statement, tuple(turn.tags), turn.failed, turn.status)
        self._sprung.set()

    @property
    def is_sprung(self) -> bool:
        return self._sprung.is_set()

    def wait(self, *, within_s: float) -> Swallowed:
        """What was swallowed. It has been carried out, and its client is cut off or about to be."""
        assert self._sprung.wait(within_s), f"no reply to {self.text!r} was swallowed within {within_s} s"
        assert self._swallowed is not None
        return self._swallowed
