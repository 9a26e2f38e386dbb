"""Schedules that belong to the code: `@cron` and `@every` beside `@job`, or a list `schedules` in the handler module.

They are the complete set that an application expects. A runtime compares them with what is stored when it starts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypedDict, TypeVar, Unpack

from pulse_runtime.handlers import Handler
from pulse_runtime.job_spec import Job
from pulse_runtime.retry_policy import Duration
from pulse_runtime.timing.timings import Cron, Every, Timing
from pulse_runtime.timing.timings import every as every_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The anchor of a declared period unless said: the same for every runtime, and after every restart."""
MARK = "__pulse_schedules__"
T = TypeVar("T", bound=Callable[..., Any])


class Policies(TypedDict, total=False):
    """What else a schedule can be told; what is not said has its default."""

    missed: str
    missed_most: int
    missed_pace_s: float
    within_s: float | None
    overlap: str
    jitter: float
    delivery: str
    pause_after: int
    until: datetime | None
    max_fires: int | None
    lookahead_s: float


DEFAULTS: Mapping[str, Any] = {
    "missed": "latest", "missed_most": 100, "missed_pace_s": 0.0, "within_s": None, "overlap": "allow", "jitter": 0.0,
    "delivery": "at_least_once", "pause_after": 10, "until": None, "max_fires": None, "lookahead_s": 60.0,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Declared:
    """One entry of a list `schedules`: when, and which job. Its `name` is the job's kind unless said.

    `retry_delay` waits so long after each failure, instead of what the job's own policy says.
    """

    timing: Timing
    job: Job | Handler[..., Any] | str | None = None
    name: str | None = None
    retry_delay: Duration | None = None
    policies: Policies = field(default_factory=Policies)


def cron(
    expr: str,
    tz: str = "UTC",
    *,
    name: str | None = None,
    args: Mapping[str, Any] | None = None,
    retry_delay: Duration | None = None,
    **policies: Unpack[Policies],
) -> Callable[[T], T]:
    """Fire the handler's job when `expr` matches the wall clock of `tz`. Goes above or below `@job`."""
    return _mark(Cron(expr, tz), name, args, retry_delay, policies)


def every(
    period: Duration,
    *,
    anchor: datetime = EPOCH,
    name: str | None = None,
    args: Mapping[str, Any] | None = None,
    retry_delay: Duration | None = None,
    **policies: Unpack[Policies],
) -> Callable[[T], T]:
    """Fire the handler's job at `anchor` and every `period` after it. Goes above or below `@job`."""
    timing: Every = every_of(period, anchor=anchor)
    return _mark(timing, name, args, retry_delay, policies)


@dataclass(frozen=True)
class Marked:
    """What a decorator leaves on a function; the job is made when all modules are imported."""

    declared: Declared
    args: Mapping[str, Any]


def _mark(
    timing: Timing, name: str | None, args: Mapping[str, Any] | None, retry_delay: Duration | None, policies: Policies
) -> Callable[[T], T]:
    declared = Declared(timing=timing, name=name, retry_delay=retry_delay, policies=policies)

    def mark(function: T) -> T:
        setattr(function, MARK, (*getattr(function, MARK, ()), Marked(declared, dict(args or {}))))
        return function

    return mark
