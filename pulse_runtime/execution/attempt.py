"""One delivery that an executor runs."""

import time
from collections.abc import Callable, Coroutine
from typing import Any, Literal
from uuid import UUID

from pulse_runtime.context import Context
from pulse_runtime.execution.delivery import Delivery
from pulse_runtime.execution.follow_ups import FollowUps
from pulse_runtime.execution.known import Known
from pulse_runtime.messages import Progress
from pulse_runtime.retry_policy import LONGEST_S

Wish = Literal["cancel", "timeout", "stop"]


class Interrupted(BaseException):
    """A handler ended by what we sent to end it."""


class Attempt:
    """A delivery with its handler and arguments, ready to run. `wish` is why it was asked to end before it did."""

    __slots__ = (
        "_before",
        "_given",
        "began_ns",
        "context",
        "delivery",
        "follow_ups",
        "known",
        "plain",
        "reason",
        "wish",
    )

    def __init__(
        self, delivery: Delivery, known: Known, given: dict[str, Any], queue: str, tell: Callable[[Progress], None]
    ) -> None:
        self.delivery = delivery
        self.known = known
        self._given = given
        self.wish: Wish | None = None
        self.reason = ""
        self.follow_ups: FollowUps | None = None
        self.context: Context | None = None
        self._before: tuple[Any, ...] = ()
        self.plain = known.plain and delivery.rare is None
        """As most are: its success is one bit, and it may take as long as it likes."""
        if known.takes_context:
            self.follow_ups = FollowUps()
            self.context = _context(delivery, queue, self.timeout_s, self.follow_ups, tell)
            self._before = (self.context,)
        self.began_ns = time.perf_counter_ns()

    @property
    def timeout_s(self) -> float | None:
        """What was said when it was enqueued, or else of its handler."""
        said = self.delivery.options.get("timeout_ms") if self.delivery.rare else None
        if not isinstance(said, int | float) or said <= 0:
            return self.known.timeout_s
        return min(said, LONGEST_S * 1000) / 1000  # numbers in JSON have no bounds, those of clocks do

    @property
    def keeps_result(self) -> bool:
        """What it returns is wanted."""
        return self.known.keep_result or bool(self.delivery.rare and self.delivery.options.get("keep_result"))

    def start(self) -> Coroutine[Any, Any, Any]:
        """Of an async handler: to be run as a task."""
        found: Coroutine[Any, Any, Any] = self.known.function(*self._before, **self._given)
        return found

    def call(self) -> Any:
        """Of a handler that blocks: to be called in a thread."""
        return self.known.function(*self._before, **self._given)

    def ask_to_end(self, wish: Wish, reason: str) -> bool:
        """Whether it had not been asked yet."""
        if self.wish is not None:
            return False
        self.wish, self.reason = wish, reason
        if self.context is not None:
            self.context.asked_to_end(reason)
        return True

    @property
    def took_us(self) -> int:
        return (time.perf_counter_ns() - self.began_ns) // 1000


def _context(
    delivery: Delivery,
    queue: str,
    timeout_s: float | None,
    follow_ups: FollowUps,
    tell: Callable[[Progress], None],
) -> Context:
    def say(done: float, total: float | None, note: str | None) -> None:
        tell(Progress(delivery.id, delivery.attempt, done, total, note))

    return Context(
        UUID(delivery.id),
        delivery.kind,
        delivery.attempt,
        queue=queue,
        charged=delivery.charged,
        max_attempts=delivery.max_attempts,
        timeout_s=timeout_s,
        follow_ups=follow_ups,
        say=say,
        **delivery.about(),
    )
