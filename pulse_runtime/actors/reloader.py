"""For development: sees files of the handlers change, tries to import them, and has the executors replaced."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pulse_runtime.events import Log
from pulse_runtime.sources import Stamps, changed, look
from pulse_supervisor import Drain, Event, Orphaned

LOOK_S = 0.25


@dataclass(frozen=True)
class Tried:
    """What an import in a throw-away process came to: the files that it read, and why it failed if it did."""

    files: Sequence[str]
    error: str | None = None


class Reloader:
    """Nothing is replaced by what cannot be imported: the executors that run go on with the code that they have."""

    def __init__(
        self,
        attempt: Callable[[Callable[[Tried], None]], None],
        roll: Callable[[], None],
        log: Log,
        *,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._attempt = attempt
        self._roll = roll
        self._log = log
        self._files: set[Path] = set()
        self._loaded: Stamps | None = None
        """As they were before the newest import; None before the first has told which files there are."""
        self._seen: Stamps = {}
        self._began_ns = int(wall() * 1e9)
        self._look_at = 0.0
        self._trying = False
        self.done: int | None = None

    def receive(self, event: Event, _: float) -> None:
        if isinstance(event, Drain | Orphaned):
            self.done = 0

    def wake(self, now: float) -> float | None:
        if self._trying:
            return None
        if self._loaded is None:
            self._try(self._first)
        elif now >= self._look_at:
            self._look_at = now + LOOK_S
            self._look()
        return self._look_at

    def _look(self) -> None:
        """A change is tried once nothing has moved between two looks: an editor may be at work."""
        now = look(self._files)
        still, self._seen = now == self._seen, now
        if still and self._loaded is not None and (files := changed(self._loaded, now)):
            self._loaded = now
            self._try(lambda tried: self._tried(tried, files))

    def _try(self, then: Callable[[Tried], None]) -> None:
        def ended(tried: Tried) -> None:
            self._trying = False
            self._files |= set(map(Path, tried.files))
            then(tried)

        self._trying = True
        self._attempt(ended)

    def _first(self, tried: Tried) -> None:
        """Executors are importing these files just now: what was written since we began they may have read, or not."""
        self._seen = look(self._files)
        self._loaded = {file: stamp for file, stamp in self._seen.items() if stamp[0] < self._began_ns}
        if tried.error is not None:
            self._log("reload failed", why=tried.error)

    def _tried(self, tried: Tried, files: list[str]) -> None:
        # Files that this import has found first belong to it.
        self._loaded = {**look(map(Path, tried.files)), **(self._loaded or {})}
        if tried.error is not None:
            self._log("reload failed", files=files, why=tried.error)
        else:
            self._log("reloading", files=files)
            self._roll()
