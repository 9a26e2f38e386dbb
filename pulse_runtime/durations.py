"""Lengths of time as people write them: 250ms, 10s, 5m, 1h30m, 2d."""

import re

from pulse_runtime.errors import PulseError

_UNIT_MS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_PART = r"([0-9]+)(\.[0-9]{1,6})?(ms|d|h|m|s)"
# Postgres 15 wraps intervals of about 1e13 s without a word; nobody waits for a century.
LONGEST_S = 100 * 365 * 86_400


class BadDuration(PulseError, ValueError):  # noqa: N818
    """The text is not a length of time. `text` is what was given."""

    exit_code = 2

    def __init__(self, text: str, problem: str) -> None:
        super().__init__(f"{text!r} is not a duration: {problem}; write for example 250ms, 10s, 5m or 1h30m")
        self.text = text
        self.problem = problem


def parse_s(text: str) -> float:
    """The seconds that `text` means. Raises BadDuration, which says why."""
    compact = "".join(text.split())
    if not re.fullmatch(f"(?:{_PART})+", compact):
        raise BadDuration(text, _why_not(compact))
    parts = re.findall(_PART, compact)
    units = [unit for _, _, unit in parts]
    if units != [unit for unit in _UNIT_MS if unit in units]:
        raise BadDuration(text, "each unit may come once, the largest first")
    # Digits are counted first: a float of thousands of them is infinite, and an int of them is refused by Python.
    if any(len(whole.lstrip("0")) > 18 for whole, _, _ in parts):
        raise BadDuration(text, "it is longer than 100 years")
    # Milliseconds are whole numbers for as long as possible, so that 1h30m is exactly 5400.
    ms = sum(int(whole) * _UNIT_MS[unit] + (float(part) * _UNIT_MS[unit] if part else 0) for whole, part, unit in parts)
    if ms > LONGEST_S * 1000:
        raise BadDuration(text, "it is longer than 100 years")
    return ms / 1000


def spoken(seconds: float) -> str:
    """The shortest text that `parse_s` reads as `seconds`, rounded to a millisecond."""
    left = round(seconds * 1000)
    if left < 0:
        raise ValueError(f"a duration cannot be negative: {seconds}")
    words = []
    for unit, size in _UNIT_MS.items():
        count, left = divmod(left, size)
        if count:
            words.append(f"{count}{unit}")
    return "".join(words) or "0s"


def _why_not(compact: str) -> str:
    if not compact:
        return "it is empty"
    if compact.startswith("-"):
        return "it is negative"
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", compact):
        return f"it has no unit (did you mean {compact}s?)"
    return "it should be numbers, each with a unit of d, h, m, s or ms"
