"""A cron expression in plain English."""

from collections.abc import Sequence

from pulse_runtime.timing.cron import parse
from pulse_runtime.timing.fields import LAST, CronFields

_MONTHS = (
    "", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_COUNTS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", LAST: "last"}
_MOST_TIMES = 6


def describe(expr: str, tz: str | None = None) -> str:
    """What `expr` means, as one would say it. Raises BadCron."""
    fields = parse(expr).fields
    parts = [_time(fields), _days(fields), _months(fields), f"by the clock of {tz}" if tz else ""]
    return ", ".join(part for part in parts if part)


def _time(fields: CronFields) -> str:
    seconds, minutes, hours = fields.seconds, fields.minutes, fields.hours
    if len(seconds) * len(minutes) * len(hours) <= _MOST_TIMES:
        shown = [
            f"{hour:02}:{minute:02}" + (f":{second:02}" if seconds != (0,) else "")
            for hour in hours
            for minute in minutes
            for second in seconds
        ]
        return f"at {_listed(shown)}"
    parts = [_unit(seconds, 60, "second") if seconds != (0,) else "", _minutes(fields), _hours(hours)]
    return " ".join(part for part in parts if part)


def _minutes(fields: CronFields) -> str:
    if len(fields.minutes) == 60:
        return "every minute" if fields.seconds == (0,) else ""
    if fields.minutes == (0,) and len(fields.hours) == 24:
        return "every hour" if fields.seconds == (0,) else "of the first minute of every hour"
    said = _unit(fields.minutes, 60, "minute")
    return said if fields.seconds == (0,) else f"of {said.removeprefix('at ')}"


def _hours(hours: Sequence[int]) -> str:
    if len(hours) == 24:
        return ""
    step = _step(hours, 24)
    if step:
        return f"of every {_ordinal(step)} hour"
    return f"in the hour{'s' if len(hours) > 1 else ''} {_listed(_runs(hours, [f'{hour:02}' for hour in range(24)]))}"


def _unit(values: Sequence[int], size: int, name: str) -> str:
    if len(values) == size:
        return f"every {name}"
    if step := _step(values, size):
        return f"every {step} {name}s"
    return f"at {name}{'s' if len(values) > 1 else ''} {_listed(_runs(values, [str(each) for each in range(size)]))}"


def _step(values: Sequence[int], size: int) -> int | None:
    """The step of a field that goes round evenly, beginning with 0."""
    step = values[1] - values[0] if len(values) > 1 else 0
    return step if step > 1 and size % step == 0 and list(values) == list(range(0, size, step)) else None


def _days(fields: CronFields) -> str:
    day, weekday = _of_month(fields), _of_week(fields)
    if day and weekday:
        return f"{day} or {weekday}" if fields.either else f"{day} if it is {weekday.removeprefix('on ')}"
    return "" if fields.either else day or weekday


def _of_month(fields: CronFields) -> str:
    if len(fields.days) == 31:
        return ""
    days = [_listed(_runs(fields.days, [_ordinal(day) for day in range(32)]))] if fields.days else []
    return f"on the {_listed([*days, *(['last day'] if fields.last_day else [])])} of the month"


def _of_week(fields: CronFields) -> str:
    if fields.nth:
        return f"on the {_listed([f'{_COUNTS[count]} {_WEEKDAYS[day]}' for day, count in fields.nth])} of the month"
    if len(fields.weekdays) == 7:
        return ""
    # A week of work begins on Monday, so that Saturday and Sunday are neighbours.
    from_monday = sorted((day + 6) % 7 for day in fields.weekdays)
    return f"on {_listed(_runs(from_monday, [*_WEEKDAYS[1:], _WEEKDAYS[0]]))}"


def _months(fields: CronFields) -> str:
    return "" if len(fields.months) == 12 else f"in {_listed(_runs(fields.months, _MONTHS))}"


def _runs(values: Sequence[int], names: Sequence[str]) -> list[str]:
    """Names, with three and more in a row as `first to last`."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return [
        said
        for run in runs
        for said in ([f"{names[run[0]]} to {names[run[-1]]}"] if len(run) > 2 else [names[value] for value in run])
    ]


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
