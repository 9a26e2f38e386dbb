"""Random cron expressions as text and, made at the same time from the same choices, as the oracle's rules."""

from dataclasses import dataclass
from random import Random

from oracle.brute_cron import Rules

MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]


@dataclass(frozen=True)
class Choice:
    text: str
    values: frozenset[int]


def any_case(random: Random) -> tuple[str, Rules]:
    """An expression and what it means."""
    minute, hour = _time(random, 59), _time(random, 23)
    second = random.choice([None, None, None, Choice("0", frozenset([0])), _sparse(random, 0, 59)])
    # Half of the cases are about the time of day: otherwise next to none would fire on the day of a change.
    plain = random.random() < 0.5
    day_text, days = ("*", None) if plain else _days(random)
    month = _field(random, 1, 12, MONTHS, stars=50 if plain else 6)
    week_text, weekdays, nth = ("*", None, None) if plain else _weekdays(random)
    fields = [] if second is None else [second.text]
    text = " ".join([*fields, minute.text, hour.text, day_text, month.text, week_text])
    return random.choice([text, text.lower()]), Rules(
        seconds=frozenset([0]) if second is None else second.values,
        minutes=minute.values,
        hours=hour.values,
        days=days,
        months=month.values,
        weekdays=weekdays,
        nth=nth,
        either=not day_text.startswith(("*", "?")) and not week_text.startswith(("*", "?")),
        fixed=not minute.text.startswith("*") and not hour.text.startswith("*"),
    )


def _time(random: Random, high: int) -> Choice:
    """Hours are often those in which clocks change."""
    if high == 23 and random.random() < 0.5:
        values = random.sample(range(4), random.randint(1, 3))
        return Choice(",".join(map(str, values)), frozenset(values))
    return _field(random, 0, high, [], stars=2)


def _sparse(random: Random, low: int, high: int) -> Choice:
    values = random.sample(range(low, high + 1), random.randint(1, 3))
    return Choice(",".join(map(str, values)), frozenset(values))


def _field(random: Random, low: int, high: int, names: list[str], *, stars: int) -> Choice:
    every = frozenset(range(low, high + 1))
    makers = ["*"] * stars + ["list", "list", "range", "step", "range step", "from step", "wrap"]
    match random.choice(makers):
        case "*":
            return Choice("*", every)
        case "step":
            step = random.randint(1, high - low)
            return Choice(f"*/{step}", frozenset(range(low, high + 1, step)))
        case "from step":
            first, step = random.randint(low, high), random.randint(1, high - low)
            return Choice(f"{first}/{step}", frozenset(range(first, high + 1, step)))
        case "list":
            values = [random.randint(low, high) for _ in range(random.randint(1, 3))]
            return Choice(",".join(_name(random, value, low, names) for value in values), frozenset(values))
        case "wrap":
            first, last = sorted(random.sample(range(low, high + 1), 2), reverse=True)
            text = f"{_name(random, first, low, names)}-{_name(random, last, low, names)}"
            return Choice(text, every - frozenset(range(last + 1, first)))
    first, last = sorted(random.sample(range(low, high + 1), 2))
    text = f"{_name(random, first, low, names)}-{_name(random, last, low, names)}"
    step = random.randint(1, 5)
    return Choice(f"{text}/{step}", frozenset(range(first, last + 1, step)))


def _name(random: Random, value: int, low: int, names: list[str]) -> str:
    return names[value - low] if names and random.random() < 0.5 else str(value)


def _days(random: Random) -> tuple[str, frozenset[int | str] | None]:
    match random.choice(["*", "*", "*", "?", "L", "L list", "leap", "field", "field"]):
        case "*":
            return "*", None
        case "?":
            return "?", None
        case "L":
            return "L", frozenset(["L"])
        case "L list":
            day = random.randint(1, 31)
            return f"{day},L", frozenset([day, "L"])
        case "leap":
            return "29", frozenset([29])
    field = _field(random, 1, 31, [], stars=0)
    return field.text, frozenset(field.values)


def _weekdays(random: Random) -> tuple[str, frozenset[int] | None, frozenset[tuple[int, int]] | None]:
    match random.choice(["*", "*", "*", "*", "?", "nth", "last", "7", "field", "field"]):
        case "*":
            return "*", None, None
        case "?":
            return "?", None, None
        case "nth":
            pairs = [(random.randint(0, 6), random.randint(1, 5)) for _ in range(random.randint(1, 2))]
            return ",".join(f"{_name(random, day, 0, WEEKDAYS)}#{n}" for day, n in pairs), None, frozenset(pairs)
        case "last":
            day = random.randint(0, 6)
            name = _name(random, day, 0, WEEKDAYS)
            return random.choice([f"L{name}", f"{name}L"]), None, frozenset([(day, 0)])
        case "7":
            first = random.randint(1, 6)
            return f"{first}-7", frozenset([*range(first, 7), 0]), None
    field = _field(random, 0, 6, WEEKDAYS, stars=0)
    return field.text, field.values, None
