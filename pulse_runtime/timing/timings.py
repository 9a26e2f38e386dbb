"""When a schedule fires: once, every so often, or by cron. Pure: the moment is an argument, and aware.

`next_after(moment)` is the first occurrence strictly after `moment`, in UTC; None if there is none. What a database
keeps are `kind`, `spec`, `tz` and `anchor`; `parse_timing` reads them back.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Literal

from pulse_runtime.durations import spoken
from pulse_runtime.retry_policy import LONGEST_S, Duration, seconds_of
from pulse_runtime.timing.cron import Expression, parse
from pulse_runtime.timing.errors import BadTiming, NeverFires, TooFrequent
from pulse_runtime.timing.wall import Fire, next_fire
from pulse_runtime.timing.zones import zone

Kind = Literal["once", "every", "cron"]
LOOK_S = 1.0
"""How often the scheduler looks at worst: nothing may be asked to fire more often."""


@dataclass(frozen=True, slots=True)
class Once:
    """At one moment."""

    at: datetime

    kind: ClassVar[Kind] = "once"
    tz: ClassVar[None] = None
    anchor: ClassVar[None] = None
    shortest_s: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", _utc("once: at", self.at))

    @property
    def spec(self) -> str:
        """The moment as stored text."""
        return self.at.isoformat()

    def next_after(self, moment: datetime) -> datetime | None:
        return self.at if self.at > moment else None


@dataclass(frozen=True, slots=True)
class Every:
    """At `anchor` + n × period for n = 0, 1, 2, …: how long a job takes moves nothing."""

    period_s: float
    anchor: datetime

    kind: ClassVar[Kind] = "every"
    tz: ClassVar[None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "period_s", _period(self.period_s))
        object.__setattr__(self, "anchor", _utc("every: anchor", self.anchor))

    @property
    def spec(self) -> str:
        """The period as stored text."""
        return spoken(self.period_s)

    @property
    def shortest_s(self) -> float:
        return self.period_s

    def next_after(self, moment: datetime) -> datetime | None:
        if moment < self.anchor:
            return self.anchor
        period = timedelta(seconds=self.period_s)
        try:
            return self.anchor + ((moment - self.anchor) // period + 1) * period
        except OverflowError:
            return None


@dataclass(frozen=True, slots=True)
class Cron:
    """At the wall times of `tz` that match `expr`; what happens when clocks change is said in `wall`."""

    expr: str
    tz: str = "UTC"

    kind: ClassVar[Kind] = "cron"
    anchor: ClassVar[None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "expr", parse(self.expr).text)
        zone(self.tz)

    @property
    def spec(self) -> str:
        """The expression as stored text."""
        return self.expr

    @property
    def expression(self) -> Expression:
        return parse(self.expr)

    @property
    def shortest_s(self) -> float:
        return self.expression.shortest_s

    def next_after(self, moment: datetime) -> datetime | None:
        fire = self.next_fire(moment)
        return None if fire is None else fire.at

    def next_fire(self, moment: datetime) -> Fire | None:
        """The same with its wall time and what the clocks did there."""
        return next_fire(self.expression, zone(self.tz), moment)


Timing = Once | Every | Cron


def once(at: datetime) -> Once:
    return Once(at)


def every(period: Duration, *, anchor: datetime) -> Every:
    """`period` as text, seconds or a timedelta. Raises BadTiming unless it is from 1 s to 10 years."""
    return Every(_period(period), anchor)


def cron(expr: str, tz: str = "UTC") -> Cron:
    return Cron(expr, tz)


def parse_timing(kind: str, spec: str, tz: str | None = None, anchor: datetime | None = None) -> Timing:
    """The timing of these stored columns. Raises BadTiming."""
    match kind:
        case "once":
            return Once(_moment(spec))
        case "every" if anchor is not None:
            return every(spec, anchor=anchor)
        case "every":
            raise BadTiming(f"every {spec!r}", "it has no anchor")
        case "cron":
            return Cron(spec, tz or "UTC")
    raise BadTiming(f"kind {kind!r}", "there is no such kind of schedule", "There are once, every and cron")


def check(timing: Timing, *, moment: datetime, look_s: float = LOOK_S) -> None:
    """What creation asks for beyond syntax: that it fires after `moment`, and not too often. Raises BadTiming."""
    what = f"{timing.kind} {timing.spec!r}"
    if timing.shortest_s < look_s:
        raise TooFrequent(what, f"it would fire every {timing.shortest_s:g} s", f"The least is {look_s:g} s")
    if timing.next_after(moment) is None:
        if isinstance(timing, Once):
            raise NeverFires(what, "that moment has passed", "Enqueue a job if it is meant to run now")
        raise NeverFires(what, f"it never fires in {timing.tz}: the clocks are put forward over all its times")


def occurrences(timing: Timing, after: datetime, until: datetime, limit: int) -> Iterator[datetime]:
    """The occurrences in (after, until], the earliest first, at most `limit`."""
    at = timing.next_after(after)
    while at is not None and at <= until and limit > 0:
        yield at
        limit -= 1
        at = timing.next_after(at)


def _utc(what: str, moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise BadTiming(what, f"{moment} has no zone", "Write for example datetime(…, tzinfo=UTC)")
    if not 1970 <= moment.year <= 2999:
        raise BadTiming(what, f"{moment} is not from 1970 to 2999")
    return moment.astimezone(UTC)


def _moment(spec: str) -> datetime:
    try:
        return datetime.fromisoformat(spec)
    except ValueError:
        raise BadTiming(f"once {spec!r}", "it is no moment", "Write for example 2026-12-24T18:00:00+01:00") from None


def _period(period: Duration) -> float:
    what = f"every {period!r}"
    try:
        # A whole number of milliseconds, which is what the stored text can say.
        seconds = round(seconds_of(period), 3)
    except ValueError as error:
        raise BadTiming(what, str(error), f"The longest period is {LONGEST_S / 86_400:g} days") from None
    if seconds < LOOK_S:
        raise TooFrequent(what, "the scheduler looks once per second", "The shortest period is 1s")
    return seconds
