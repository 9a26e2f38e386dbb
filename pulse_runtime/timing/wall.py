"""From wall time to instants: what an expression means where clocks are put forward or back.

A *fixed* expression fires at each of its wall times once: inside a gap at its end, inside a fold on the first pass. A
*repeating* one follows real time: both passes of a fold, and nothing inside a gap.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from pulse_runtime.timing.cron import Expression

Mark = Literal["", "gap", "first pass", "second pass"]
_SECOND = timedelta(seconds=1)
# Beyond it `datetime` itself ends, offsets included.
_LAST_YEAR = 9990


@dataclass(frozen=True, slots=True)
class Fire:
    """One occurrence: the instant, the wall time that matched, and what the clocks did there.

    `gap` means that the wall time does not exist, and that the instant is the end of the gap.
    """

    at: datetime
    wall: datetime
    mark: Mark = ""


def next_fire(expression: Expression, zone: ZoneInfo, moment: datetime) -> Fire | None:
    """The first fire after `moment`, which is aware."""
    local = moment.astimezone(zone)
    wall = local.replace(tzinfo=None, microsecond=0, fold=0)
    before, after = _offsets(zone, wall)
    if before > after:
        if expression.fixed and local.fold:
            # The first pass was theirs; theirs is also the first wall time after the fold.
            wall = _change(zone, wall - before, wall - after) + before - _SECOND
        elif not expression.fixed and not local.fold:
            return _in_first_pass(expression, zone, wall, moment)
    return _resolve(expression, zone, wall, moment)


def _in_first_pass(expression: Expression, zone: ZoneInfo, wall: datetime, moment: datetime) -> Fire | None:
    """The clock will be put back: what is left of the first pass, then the second one from its beginning."""
    before, after = _offsets(zone, wall)
    change = _change(zone, wall - before, wall - after)
    found = expression.next(wall)
    if found is not None and found < change + before:
        return _fire(found, before, "first pass")
    return _resolve(expression, zone, change + after - _SECOND, moment)


def _resolve(expression: Expression, zone: ZoneInfo, wall: datetime, moment: datetime) -> Fire | None:
    found = expression.next(wall)
    while found is not None and found.year < _LAST_YEAR:
        before, after = _offsets(zone, found)
        if before == after:
            return _fire(found, before)
        if before > after:
            first = _fire(found, before, "first pass")
            return first if first.at > moment else _fire(found, after, "second pass")
        change = _change(zone, found - after, found - before)
        if expression.fixed:
            return Fire(change.replace(tzinfo=UTC), found, "gap")
        found = expression.next(change + after - _SECOND)
    return None


def _offsets(zone: ZoneInfo, wall: datetime) -> tuple[timedelta, timedelta]:
    """The offsets that `wall` may have. Equal: it is one instant. Falling: it is two. Rising: it is none."""
    before, after = zone.utcoffset(wall), zone.utcoffset(wall.replace(fold=1))
    assert before is not None  # noqa: S101 (a ZoneInfo knows its offset from any wall time)
    assert after is not None  # noqa: S101
    return before, after


def _change(zone: ZoneInfo, low: datetime, high: datetime) -> datetime:
    """The instant, as naive UTC, between these two at which the offset changes."""

    def offset(instant: datetime) -> timedelta | None:
        return instant.replace(tzinfo=UTC).astimezone(zone).utcoffset()

    old = offset(low)
    while high - low > _SECOND:
        middle = low + (high - low) // 2
        middle = middle.replace(microsecond=0)
        low, high = (middle, high) if offset(middle) == old else (low, middle)
    return high


def _fire(wall: datetime, offset: timedelta, mark: Mark = "") -> Fire:
    return Fire((wall - offset).replace(tzinfo=UTC), wall, mark)
