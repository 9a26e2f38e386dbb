"""What a cron expression must do, found by looking at every second that matters: zoneinfo, and nothing of ours.

It knows an expression as sets of numbers, walks the calendar day by day, and tries every wall time of a day. Where the
product computes, this enumerates: the two share no idea but the rules of the design.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Rules:
    """`days` may hold "L"; `nth` are (weekday, n) with n = 0 for the last. Sunday is 0. None: no restriction at all."""

    seconds: frozenset[int]
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int | str] | None
    months: frozenset[int]
    weekdays: frozenset[int] | None
    nth: frozenset[tuple[int, int]] | None
    either: bool
    fixed: bool


def next_after(rules: Rules, zone: ZoneInfo, moment: datetime, *, days: int) -> datetime | None:
    """The first occurrence after `moment` among those of the next `days` days."""
    # Two days back: a gap or a fold of a day may bring an earlier wall time to a later instant.
    day = moment.astimezone(zone).date() - 2 * _DAY
    best: datetime | None = None
    for _ in range(days + 4):
        if _day_matches(rules, day):
            later = [at for wall in _walls(rules, day) for at in _instants(rules, zone, wall) if at > moment]
            best = min([*later, *([best] if best else [])], default=None)
        if best is not None and best < datetime.combine(day - _DAY, time(), tzinfo=UTC):
            break
        day += _DAY
    return best


def _day_matches(rules: Rules, day: date) -> bool:
    if day.month not in rules.months:
        return False
    of_month = rules.days is None or day.day in rules.days or ("L" in rules.days and (day + _DAY).day == 1)
    weekday = day.isoweekday() % 7
    of_week = rules.weekdays is None or weekday in rules.weekdays
    if rules.nth is not None:
        count = (day.day - 1) // 7 + 1
        is_last = (day + 7 * _DAY).month != day.month
        of_week = (weekday, count) in rules.nth or (is_last and (weekday, 0) in rules.nth)
    return (of_month or of_week) if rules.either else (of_month and of_week)


def _walls(rules: Rules, day: date) -> list[datetime]:
    return [
        datetime.combine(day, time(hour, minute, second))
        for hour in rules.hours
        for minute in rules.minutes
        for second in rules.seconds
    ]


def _instants(rules: Rules, zone: ZoneInfo, wall: datetime) -> list[datetime]:
    """All instants at which the clock of `zone` shows `wall`; for a fixed expression, the one that stands for it."""
    first = wall.replace(tzinfo=zone)
    again = first.replace(fold=1)
    # The offset depends on the fold only where a time is skipped or shown twice (PEP 495): rarely; the rest is slow.
    if first.utcoffset() == again.utcoffset():
        return [first.astimezone(UTC)]
    instants = {first.astimezone(UTC), again.astimezone(UTC)}
    shown = sorted(at for at in instants if at.astimezone(zone).replace(tzinfo=None, fold=0) == wall)
    if not rules.fixed:
        return shown
    return shown[:1] or [_end_of_gap(zone, wall)]


def _end_of_gap(zone: ZoneInfo, wall: datetime) -> datetime:
    """The first instant whose wall time lies after `wall`, by hours, then minutes, then seconds."""
    at = (wall - _DAY - timedelta(hours=3)).replace(tzinfo=UTC)
    for step in (timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)):
        while at.astimezone(zone).replace(tzinfo=None) <= wall:
            at += step
        at -= step
    return at + timedelta(seconds=1)
