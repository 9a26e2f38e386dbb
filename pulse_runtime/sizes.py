"""Amounts of memory as people write them: 512MiB, 1.5GiB, 800M."""

import re

from pulse_runtime.errors import PulseError

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class BadSize(PulseError, ValueError):  # noqa: N818
    """The text is not an amount of memory. `text` is what was given."""

    exit_code = 2

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!r} is not an amount of memory. Write for example 512MiB or 1.5GiB")
        self.text = text


def parse_bytes(text: str) -> int:
    """The bytes that `text` means; M, MB and MiB are the same. Raises BadSize."""
    found = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)(?:([kmgt])i?)?b?", "".join(text.split()).lower())
    if found is None:
        raise BadSize(text)
    return round(float(found[1]) * _UNITS[found[2] or ""])
