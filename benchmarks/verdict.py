"""Does a row hold? Pure: a target and the recorded samples go in, nothing else, so that `check` can ask again later.

**Spread** is half the interquartile range, in the unit of the value: how far a typical round lies from the median. For
ratio and alike rows it is that of the per-round ratios; for absolute rows that of the samples, as information only. One
outlier among five rounds does not widen it, as it would a range or a standard deviation.

**Leniency** is for ratios only. A ratio that misses its target by no more than its spread holds, "within spread". A
spread above `NOISE_CAP` of the target buys nothing: the row says "too noisy to tell" and does not hold. Identical
(`Alike` within 1) means identical.
"""

import math
import statistics
from collections.abc import Mapping, Sequence

import msgspec

from benchmarks.target import Stat, Target

NOISE_CAP = 0.15

WITHIN_SPREAD = "within spread"
TOO_NOISY = "too noisy to tell"

Number = int | float
Recorded = Number | Mapping[str, Number]
"""One recorded sample: a number, a round `{"value": x, "baseline": y}`, or a round of cases `{"10 k": x, "1 M": y}`."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the samples say. `value` and `spread` are None when they say nothing."""

    value: float | None
    unit: str
    spread: float | None
    holds: bool
    note: str = ""


class UnusableError(ValueError):
    """The samples cannot answer the target: none, of the wrong shape, or with a baseline of zero."""


def judge(
    target: Target, samples: Sequence[Recorded], *, rounds_done: int, rounds_planned: int, error: str = ""
) -> Verdict:
    """The verdict on a whole row. A scenario that failed or was cut short never holds, whatever it measured before."""
    verdict = decide(target, samples)
    if error:
        return msgspec.structs.replace(verdict, holds=False, note=error)
    if rounds_done < rounds_planned:
        return msgspec.structs.replace(
            verdict, holds=False, note=f"incomplete: {rounds_done} of {rounds_planned} rounds"
        )
    return verdict


def decide(target: Target, samples: Sequence[Recorded]) -> Verdict:
    """The verdict on the samples alone: the first bound that holds, else the first bound."""
    first = _decide_one(target, samples)
    if first.holds or target.otherwise is None:
        return first
    second = _decide_one(target.otherwise, samples)
    return second if second.holds else first


def reduce(stat: Stat, numbers: Sequence[Number]) -> float:
    """`stat` of `numbers`. Percentiles are nearest-rank: always a number that was measured, never one in between."""
    if not numbers:
        raise UnusableError("no samples")
    if stat == "median" or stat == "p50":
        return statistics.median(numbers)
    if stat == "max" or stat == "min":
        return max(numbers) if stat == "max" else min(numbers)
    percent = 99 if stat == "p99" else 95
    return sorted(numbers)[math.ceil(percent * len(numbers) / 100) - 1]


def half_iqr(numbers: Sequence[Number]) -> float:
    """Half the distance between the quartiles; 0 for a single number."""
    if len(numbers) < 2:
        return 0.0
    low, _, high = statistics.quantiles(numbers, n=4, method="inclusive")
    return (high - low) / 2


def _decide_one(target: Target, samples: Sequence[Recorded]) -> Verdict:
    try:
        numbers = [_number(target, sample) for sample in samples]
        value = reduce(target.stat if target.kind == "absolute" else "median", numbers)
        spread = half_iqr(numbers)
    except UnusableError as reason:
        return Verdict(value=None, unit=target.unit, spread=None, holds=False, note=str(reason))
    holds, note = _compare(target, value, spread)
    return Verdict(value=value, unit=target.unit, spread=spread, holds=holds, note=note)


def _compare(target: Target, value: float, spread: float) -> tuple[bool, str]:
    missed_by = value - target.limit if target.op == "<=" else target.limit - value
    if missed_by <= 0:
        return True, ""
    identical = target.kind == "alike" and target.limit == 1
    if target.kind == "absolute" or identical or missed_by > spread:
        return False, ""
    if spread > NOISE_CAP * target.limit:
        return False, TOO_NOISY
    return True, WITHIN_SPREAD


def _number(target: Target, sample: Recorded) -> float:
    """What one sample says about one target."""
    if target.kind == "alike":
        return _largest_over_smallest(_mapping(sample))
    if target.kind == "ratio":
        pair = _mapping(sample)
        return _ratio(_part(pair, "value"), _part(pair, "baseline"))
    return _finite(_part(sample, "value") if isinstance(sample, Mapping) else sample)


def _largest_over_smallest(cases: Mapping[str, Number]) -> float:
    if len(cases) < 2:
        raise UnusableError("fewer than two cases to compare")
    largest, smallest = max(cases.values()), min(cases.values())
    return 1.0 if largest == smallest else _ratio(largest, smallest)


def _ratio(value: Number, baseline: Number) -> float:
    if baseline <= 0:
        raise UnusableError(f"the baseline measured {baseline}, so there is no ratio to it")
    return _finite(value / baseline)


def _part(pair: Mapping[str, Number], name: str) -> Number:
    if name not in pair:
        raise UnusableError(f"a sample has no {name!r}")
    return pair[name]


def _mapping(sample: Recorded) -> Mapping[str, Number]:
    if not isinstance(sample, Mapping):
        raise UnusableError("a sample is a bare number where a round was expected")
    return sample


def _finite(number: Number) -> float:
    if not math.isfinite(number):
        raise UnusableError(f"a sample is {number}")
    return number
