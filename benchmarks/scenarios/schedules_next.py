"""What it costs to find the next occurrence: each call from another moment, so that no day was looked up before."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from benchmarks import AtMost, Bench, Sample, scenario
from pulse_runtime.timing.timings import Cron

ORDINARY = ("*/5 * * * *", "0 9 * * MON-FRI", "30 2 1,15 * *", "0 0 L * *", "15 8 * * MON#1", "*/10 * * * * *")
LEAP = ("0 0 29 2 *", "30 2 29 FEB *")
# Both fields at once, because one begins with *: Sundays and Saturdays, a few times in 28 years.
RARE = ("0 0 29 2 */6",)
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC")


@scenario(
    "next occurrence",
    rounds=5,
    targets=(
        AtMost("ordinary_us", 100, unit="µs", stat="p50", label="ordinary"),
        AtMost("leap_us", 2000, unit="µs", stat="p50", label="leap day"),
        AtMost("rare_us", 2000, unit="µs", stat="p50", label="leap day on a weekend"),
    ),
)
def next_occurrence(bench: Bench[None]) -> Sample:
    """The expressions are parsed before: a runtime reads each once."""
    calls = 300 if bench.quick else 2000
    random = Random(bench.round)
    return {
        "ordinary_us": _costs_us(random, ORDINARY, calls),
        "leap_us": _costs_us(random, LEAP, calls),
        "rare_us": _costs_us(random, RARE, calls // 4),
    }


def _costs_us(random: Random, expressions: Sequence[str], calls: int) -> list[float]:
    timings = [Cron(expr, tz) for expr in expressions for tz in ZONES]
    costs = []
    for number in range(calls):
        timing = timings[number % len(timings)]
        moment = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=random.randrange(40 * 366 * 86_400))
        started = time.perf_counter_ns()
        timing.next_after(moment)
        costs.append((time.perf_counter_ns() - started) / 1000)
    return costs
