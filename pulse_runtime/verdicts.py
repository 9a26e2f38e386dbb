"""What a handler can raise to say how its job ends, when it is neither done nor has failed."""

from pulse_runtime.errors import PulseError
from pulse_runtime.retry_policy import Duration, seconds_of


class Verdict(PulseError):  # noqa: N818
    """How this delivery ends, decided by its handler. What it enqueued with `ctx.enqueue` commits with that."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class Snooze(Verdict):
    """Run this job again after `delay`. Nothing is charged: it may do so for ever. Raises ValueError for bad delays."""

    def __init__(self, delay: Duration, reason: str = "") -> None:
        super().__init__(reason)
        self.delay_s = seconds_of(delay)


class Cancel(Verdict):
    """This job is no longer wanted: CANCELED, with the reason."""


class Fail(Verdict):
    """This job can never succeed: DEAD_LETTERED at once, however many attempts it has left."""
