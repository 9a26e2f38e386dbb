"""What a proxy did, so that a test can say that the fault it is about has happened."""

import threading
from collections import Counter


class Counts:
    """Written by the proxy's thread, read and waited for by the test's."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._counts: Counter[str] = Counter()

    def add(self, what: str, times: int = 1) -> None:
        with self._changed:
            self._counts[what] += times
            self._changed.notify_all()

    def __getitem__(self, what: str) -> int:
        with self._changed:
            return self._counts[what]

    def wait_for(self, what: str, *, at_least: int = 1, within_s: float) -> int:
        """How often it happened, once it has happened so often."""
        with self._changed:
            enough = self._changed.wait_for(lambda: self._counts[what] >= at_least, within_s)
            assert enough, f"{what!r} happened {self._counts[what]} times, not {at_least}, within {within_s} s: {self}"
            return self._counts[what]

    def __str__(self) -> str:
        return str(dict(self._counts))
