"""Cron expressions on naive wall time: which come next, and which never. Zones are the business of `wall`."""

import copy
import functools
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal

from croniter import CroniterBadDateError, croniter

from pulse_runtime.timing.errors import NeverFires
from pulse_runtime.timing.fields import LAST, CronFields, read

# A 29th of February on a given weekday comes at most 40 years after the last (over a year like 2100).
_HORIZON_YEARS = 50
_DAY = timedelta(days=1)
_LAST_YEAR = 9990


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked cron expression. Make one with `parse`, which keeps those that it has read."""

    fields: CronFields
    days: tuple[str, ...]
    """Days as croniter reads them, at midnight: any of these suffices. Empty if every day is meant."""

    @property
    def text(self) -> str:
        """The form in which it is stored and compared: one space between fields, names in upper case."""
        return self.fields.text

    @property
    def fixed(self) -> bool:
        """Whether each wall time fires once a day, come what may; otherwise the expression follows real time."""
        return self.fields.fixed

    def next(self, wall: datetime) -> datetime | None:
        """The first wall time after `wall` that matches."""
        today = _first_day(self.days, wall.date())
        if today == wall.date() and (later := self._time_after(wall.time())) is not None:
            return datetime.combine(today, later)
        if today == wall.date():
            today = None if wall.year > _LAST_YEAR else _first_day(self.days, today + _DAY)
        return None if today is None else datetime.combine(today, self._times_edge(0))

    def previous(self, wall: datetime) -> datetime | None:
        """The last wall time before `wall` that matches."""
        today = _last_day(self.days, wall.date())
        if today == wall.date() and (earlier := self._time_before(wall.time())) is not None:
            return datetime.combine(today, earlier)
        if today == wall.date():
            today = _last_day(self.days, today - _DAY)
        return None if today is None else datetime.combine(today, self._times_edge(-1))

    @property
    def shortest_s(self) -> float:
        """The least time between two occurrences, clock changes aside."""
        for values, unit_s, turn in ((self.fields.seconds, 1, 60), (self.fields.minutes, 60, 60)):
            if len(values) > 1:
                return min(_steps(values, turn)) * unit_s
        return min(_steps(self.fields.hours, 24)) * 3600

    def _times_edge(self, index: int) -> time:
        return time(self.fields.hours[index], self.fields.minutes[index], self.fields.seconds[index])

    def _time_after(self, at: time) -> time | None:
        hours, minutes, seconds = self.fields.hours, self.fields.minutes, self.fields.seconds
        hour = bisect_left(hours, at.hour)
        if hour < len(hours) and hours[hour] == at.hour:
            minute = bisect_left(minutes, at.minute)
            if minute < len(minutes) and minutes[minute] == at.minute:
                second = bisect_right(seconds, at.second)
                if second < len(seconds):
                    return time(at.hour, at.minute, seconds[second])
                minute += 1
            if minute < len(minutes):
                return time(at.hour, minutes[minute], seconds[0])
            hour += 1
        return time(hours[hour], minutes[0], seconds[0]) if hour < len(hours) else None

    def _time_before(self, at: time) -> time | None:
        hours, minutes, seconds = self.fields.hours, self.fields.minutes, self.fields.seconds
        hour = bisect_right(hours, at.hour) - 1
        if hour >= 0 and hours[hour] == at.hour:
            minute = bisect_right(minutes, at.minute) - 1
            if minute >= 0 and minutes[minute] == at.minute:
                second = bisect_left(seconds, at.second) - 1
                if second >= 0:
                    return time(at.hour, at.minute, seconds[second])
                minute -= 1
            if minute >= 0:
                return time(at.hour, minutes[minute], seconds[-1])
            hour -= 1
        return time(hours[hour], minutes[-1], seconds[-1]) if hour >= 0 else None


@functools.lru_cache(maxsize=16_384)
def parse(expr: str) -> Expression:
    """The expression of this text. Raises BadCron, or NeverFires for a date that no calendar has."""
    fields = read(expr)
    expression = Expression(fields, _days_texts(fields))
    if expression.next(datetime(2000, 1, 1)) is None:  # noqa: DTZ001 (wall time)
        raise NeverFires(f"cron {expr!r}", _never(fields), _never_hint(fields))
    return expression


def _days_texts(fields: CronFields) -> tuple[str, ...]:
    """Explicit numbers, so that only the calendar is left to croniter: its steps and ranges differ from ours.

    Two texts where either field suffices: croniter would want both of `13 * FRI#1`.
    """
    days = [*map(str, fields.days), *(["l"] if fields.last_day else [])]
    nth = [f"l{weekday}" if count == LAST else f"{weekday}#{count}" for weekday, count in fields.nth]
    day = "*" if len(fields.days) == 31 else ",".join(days)
    month = "*" if len(fields.months) == 12 else ",".join(map(str, fields.months))
    weekday = "*" if len(fields.weekdays) == 7 else ",".join(nth or map(str, fields.weekdays))
    if fields.either and "*" in (day, weekday):
        day = weekday = "*"
    if day == month == weekday == "*":
        return ()
    if fields.either and day != "*":
        return f"0 0 {day} {month} *", f"0 0 * {month} {weekday}"
    return (f"0 0 {day} {month} {weekday}",)


@functools.lru_cache(maxsize=65_536)
def _first_day(days: tuple[str, ...], day: date) -> date | None:
    """`day`, or the first one after it that matches."""
    if not days:
        return day
    start = datetime.combine(day, time()) - timedelta(minutes=1)
    return min((found for each in days if (found := _seek(each, start, "get_next"))), default=None)


@functools.lru_cache(maxsize=4096)
def _last_day(days: tuple[str, ...], day: date) -> date | None:
    """`day`, or the last one before it that matches."""
    if not days:
        return day
    start = datetime.combine(day, time()) + timedelta(minutes=1)
    return max((found for each in days if (found := _seek(each, start, "get_prev"))), default=None)


def _seek(days: str, start: datetime, way: Literal["get_next", "get_prev"]) -> date | None:
    # In a copy, because a croniter remembers where it was, and threads share this one.
    engine = copy.copy(_engine(days))
    try:
        found: datetime = getattr(engine, way)(datetime, start_time=start)
    except (CroniterBadDateError, OverflowError):
        return None
    return found.date()


@functools.lru_cache(maxsize=16_384)
def _engine(days: str) -> croniter:
    start = datetime(2000, 1, 1)  # noqa: DTZ001 (wall time)
    return croniter(days, start, day_or=False, max_years_between_matches=_HORIZON_YEARS)


def _steps(values: tuple[int, ...], turn: int) -> list[int]:
    """From each value to the next, and from the last to the first of the next turn."""
    return [later - earlier for earlier, later in zip(values, (*values[1:], values[0] + turn), strict=True)]


def _never(fields: CronFields) -> str:
    if fields.nth or not fields.days:
        return "it never fires: no month has such a day"
    days = ", ".join(map(str, fields.days))
    return f"it never fires: none of its months has a day {days}" if len(fields.months) < 12 else "it never fires"


def _never_hint(fields: CronFields) -> str:
    return "For the last day of the month write L" if fields.days and min(fields.days) > 28 else ""
