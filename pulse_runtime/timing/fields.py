"""The text of a cron expression: five fields, or six with the seconds first, read into sets of numbers."""

import re
from dataclasses import dataclass

from pulse_runtime.timing.errors import BadCron
from pulse_runtime.timing.values import ALIASES, DAY, FIELDS, WEEKDAY, Field, number

LAST = -1


@dataclass(frozen=True, slots=True)
class CronFields:
    """What each field allows, in order. `text` is the expression in the form in which it is stored and compared.

    `last_day` is an L among the days; `nth` are pairs (weekday, n), n from 1 to 5 or LAST. `any_day` says that the days
    of the month are free, `any_weekday` the same of the weekdays; `either` that both are restricted and one suffices.
    """

    text: str
    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    last_day: bool
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    nth: tuple[tuple[int, int], ...]
    either: bool
    fixed: bool
    texts: tuple[str, ...]


def read(expr: str) -> CronFields:
    """The fields of `expr`. Raises BadCron."""
    text, texts = _split(expr)
    seconds, minutes, hours, days, months, weekdays = texts
    plain_days, last_day = _days(expr, days)
    plain_weekdays, nth = _weekdays(expr, weekdays)
    return CronFields(
        text=text,
        seconds=_values(expr, FIELDS[0], seconds),
        minutes=_values(expr, FIELDS[1], minutes),
        hours=_values(expr, FIELDS[2], hours),
        days=plain_days,
        last_day=last_day,
        months=_values(expr, FIELDS[4], months),
        weekdays=plain_weekdays,
        nth=nth,
        # As cron has it: a field that begins with * restricts, if at all, what the other one allows.
        either=not days.startswith("*") and not weekdays.startswith("*"),
        fixed=not minutes.startswith("*") and not hours.startswith("*"),
        texts=texts,
    )


def _split(expr: str) -> tuple[str, tuple[str, ...]]:
    """The stored form, and the six fields in upper case."""
    words = expr.upper().split()
    if len(words) > 0 and words[0].startswith("@"):
        text = _alias(expr, words)
        words = ALIASES[text].split()
    else:
        text = " ".join(words)
    if len(words) == 5:
        words = ["0", *words]
    if len(words) != 6:
        raise BadCron(expr, f"it has {len(words)} fields, not five or six", _count_hint(words))
    fields = [
        "*" if word == "?" and field in (DAY, WEEKDAY) else word for field, word in zip(FIELDS, words, strict=True)
    ]
    return text, tuple(fields)


def _alias(expr: str, words: list[str]) -> str:
    name = words[0].lower()
    if name in ALIASES and len(words) == 1:
        return name
    if name == "@every":
        raise BadCron(
            expr, "it is a period and no cron expression", f'Use every("{"".join(words[1:]).lower() or "5m"}")'
        )
    if name == "@reboot":
        raise BadCron(expr, "a start is no moment of the calendar", "Enqueue a job when your application starts")
    raise BadCron(expr, "there is no such alias", f"There are {', '.join(ALIASES)}")


def _count_hint(words: list[str]) -> str:
    if len(words) == 7:
        return "A year cannot be given: use `until`, or a schedule that fires once"
    if not words:
        return 'It is empty. Write for example "0 9 * * MON-FRI" (minute, hour, day, month, weekday)'
    return "They are: [second] minute hour day-of-month month day-of-week"


def _days(expr: str, text: str) -> tuple[tuple[int, ...], bool]:
    items = text.split(",")
    if "L" not in items:
        return _values(expr, DAY, text), False
    rest = [item for item in items if item != "L"]
    return (_values(expr, DAY, ",".join(rest)) if rest else ()), True


def _weekdays(expr: str, text: str) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    special = [item for item in text.split(",") if "#" in item or _LAST_WEEKDAY.fullmatch(item)]
    if not special:
        return _values(expr, WEEKDAY, text), ()
    if len(special) != len(text.split(",")):
        raise BadCron(
            expr, "weekdays of every week and of one week cannot be mixed", "Make two schedules", field=WEEKDAY.name
        )
    return (), tuple(sorted({_nth(expr, item) for item in special}))


def _nth(expr: str, item: str) -> tuple[int, int]:
    if last := _LAST_WEEKDAY.fullmatch(item):
        return number(expr, WEEKDAY, last[1] or last[2]) % 7, LAST
    day, _, count = item.partition("#")
    if count not in ("1", "2", "3", "4", "5"):
        hint = f"For the last one of the month write L{day}" if count == "L" else ""
        raise BadCron(expr, f"{item}: after # comes a number from 1 to 5", hint, field=WEEKDAY.name)
    return number(expr, WEEKDAY, day) % 7, int(count)


_LAST_WEEKDAY = re.compile(r"L(\w{1,3})|(\w{1,3})L")


def _values(expr: str, field: Field, text: str) -> tuple[int, ...]:
    items = text.split(",")
    if len(items) > 1 and any(item.startswith("*") for item in items):
        raise BadCron(expr, f"{text}: * in a list", "Leave the rest of the list away, or the *", field=field.name)
    found = {value for item in items for value in _item(expr, field, item)}
    return tuple(sorted(found))


def _item(expr: str, field: Field, item: str) -> list[int]:
    """One of a list: `*`, `5`, `1-5`, and each with a step."""
    span, slash, step_text = item.partition("/")
    low_text, dash, high_text = span.partition("-")
    step = _step(expr, field, item, step_text) if slash else 1
    if span == "*":
        low, high = field.low, field.high
    else:
        low = number(expr, field, low_text)
        high = number(expr, field, high_text) if dash else field.high if slash else low
    if field is WEEKDAY:
        # Sunday is 0 and 7: as an end it is 7, so that MON-SUN, 5-7 and 0-7 mean what they say.
        low, high = low % 7, (7 if high in (0, 7) and dash and low % 7 else high)
    if high < low:
        high += field.size
    return [(value - field.low) % field.size + field.low for value in range(low, high + 1, step)]


def _step(expr: str, field: Field, item: str, text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) == 0:
        raise BadCron(expr, f"{item}: a step is a whole number from 1", field=field.name)
    if int(text) >= field.size:
        hint = f'For a period of your own use every("{text}{field.unit}")' if field.unit else ""
        raise BadCron(
            expr, f"{item}: a step of {text} is no smaller than the {field.size} that there are", hint, field=field.name
        )
    return int(text)
