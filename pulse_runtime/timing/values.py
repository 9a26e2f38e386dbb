"""The six fields of a cron expression, their numbers and names."""

import re
from dataclasses import dataclass

from pulse_runtime.timing.errors import BadCron

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")

ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


@dataclass(frozen=True, slots=True)
class Field:
    """Numbers from `low` to `high`; `names` are those of the first ones. `unit` is that of a duration."""

    name: str
    low: int
    high: int
    unit: str = ""
    names: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return self.high - self.low + 1


DAY = Field("day of month", 1, 31, "d")
WEEKDAY = Field("day of week", 0, 6, "", WEEKDAYS)
FIELDS = (
    Field("second", 0, 59, "s"),
    Field("minute", 0, 59, "m"),
    Field("hour", 0, 23, "h"),
    DAY,
    Field("month", 1, 12, "", MONTHS),
    WEEKDAY,
)


def number(expr: str, field: Field, text: str) -> int:
    """The number that `text` (upper case) is in this field. A Sunday may be 7. Raises BadCron."""
    if text in field.names:
        return field.names.index(text) + field.low
    if not re.fullmatch("[0-9]{1,9}", text):
        raise BadCron(expr, f"{text!r} is no {field.name}", _name_hint(field, text), field=field.name)
    value = int(text)
    if not field.low <= value <= field.high + (field is WEEKDAY):
        hint = "Midnight is 0" if field.unit == "h" and value == 24 else ""
        raise BadCron(
            expr, f"{text} is not from {field.low} to {field.high + (field is WEEKDAY)}", hint, field=field.name
        )
    return value


def _name_hint(field: Field, text: str) -> str:
    if text[:3] in field.names:
        return f"Names have three letters: {text[:3]}"
    if text.startswith("-"):
        return "Negative numbers mean nothing here"
    if field is DAY and "W" in text:
        return "The nearest weekday cannot be given; list the days, or use weekdays such as MON#1"
    if field is DAY and "L" in text:
        return "The last day of the month is L, alone or in a list"
    if text.startswith(("H", "R")):
        return "For a spread over time use the schedule's jitter"
    return f"Write a number from {field.low} to {field.high}" + (f" or {field.names[0]}…" if field.names else "")
