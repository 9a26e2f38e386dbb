"""Cron on wall time agrees with a brute-force oracle that shares no code with it."""

import functools
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo, available_timezones

import pytest
from oracle.brute_cron import next_after
from oracle.random_cron import any_case

from pulse_runtime.timing.errors import NeverFires
from pulse_runtime.timing.timings import Cron

NAMED = (
    "America/New_York", "Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "Antarctica/Troll",
    "Africa/Casablanca",
)  # fmt: skip
OTHERS = sorted(
    zone for zone in available_timezones() if "/" in zone and not zone.startswith(("Etc/", "posix/", "right/"))
)
STEP = timedelta(days=5)


@functools.cache
def changes(zone: str) -> list[datetime]:
    """When the clocks of a zone change from 2005 to 2060, to the minute; a new year if they never do."""
    place, found, at = ZoneInfo(zone), [], datetime(2005, 1, 1, tzinfo=UTC)
    offset = at.astimezone(place).utcoffset()
    while at.year < 2060:
        low, at, before = at, at + STEP, offset
        offset = at.astimezone(place).utcoffset()
        if offset != before:
            high = at
            while high - low > timedelta(minutes=1):
                middle = low + (high - low) / 2
                same = middle.astimezone(place).utcoffset() == before
                low, high = (middle, high) if same else (low, middle)
            found.append(high.replace(second=0, microsecond=0))
    return found or [datetime(2026, 1, 1, tzinfo=UTC)]


DAYS = 366 * 9


def case_of(seed: int, zone: str | None = None) -> str | None:
    """What differs in this case, if anything does."""
    random = Random(seed)
    name = zone or (random.choice(NAMED) if random.random() < 0.7 else random.choice(OTHERS))
    text, rules = any_case(random)
    moment = instant(random, name)
    expected = next_after(rules, ZoneInfo(name), moment, days=DAYS)
    try:
        got = Cron(text, name).next_after(moment)
    except NeverFires:
        got = None
    if got != expected and (expected is not None or (got is not None and got < moment + timedelta(days=DAYS))):
        return f"seed {seed}: {text!r} in {name} after {moment}: {got}, and by brute force {expected}"
    return None


def instant(random: Random, zone: str) -> datetime:
    """Mostly within hours of a change of the clocks; else near the end of a year or a leap day, or anywhere."""
    part = random.choice([0, 0, 500_000])
    if random.random() < 0.7:
        return random.choice(changes(zone)) + timedelta(seconds=random.randrange(-9_000, 9_000), microseconds=part)
    base = random.choice(
        [
            datetime(random.randint(2005, 2060), 12, 31, 12, tzinfo=UTC),
            datetime(random.randint(502, 515) * 4, 2, 28, 12, tzinfo=UTC),
            datetime(2005, 1, 1, tzinfo=UTC) + timedelta(days=random.randrange(20_000)),
        ]
    )
    return base + timedelta(seconds=random.randrange(-86_400, 86_400), microseconds=part)


def mismatches(seeds: range) -> list[str]:
    return [found for seed in seeds if (found := case_of(seed))]


def test_3_000_random_cases_agree_with_the_oracle() -> None:
    assert mismatches(range(3_000)) == []


@pytest.mark.parametrize("zone", NAMED)
def test_each_named_zone_agrees_with_the_oracle(zone: str) -> None:
    assert [found for seed in range(10_000_000, 10_000_100) if (found := case_of(seed, zone))] == []


@pytest.mark.long
def test_100_000_random_cases_agree_with_the_oracle() -> None:
    count = int(os.environ.get("PULSE_ORACLE_CASES", "100000"))
    assert mismatches(range(1_000_000, 1_000_000 + count)) == []


def test_the_oracle_loads_neither_croniter_nor_anything_of_ours() -> None:
    """Only its own folder is on its path, and what it has loaded is looked through."""
    program = "import sys, oracle.brute_cron; print([n for n in sys.modules if 'cron' in n or 'pulse' in n])"
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(root)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['oracle.brute_cron']"
