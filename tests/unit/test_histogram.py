"""Percentiles from counts: never too small, and at most a bucket too large."""

import math

from hypothesis import given
from hypothesis import strategies as st

from pulse_runtime.histogram import Histogram

SECONDS = st.lists(st.floats(1e-6, 1e4), min_size=1)


@given(SECONDS, st.sampled_from([1, 50, 90, 99, 100]))
def test_a_percentile_is_that_of_the_samples_within_a_bucket(seconds: list[float], percent: int) -> None:
    histogram = Histogram()
    for each in seconds:
        histogram.add(each)
    exact = sorted(seconds)[math.ceil(len(seconds) * percent / 100) - 1]
    assert exact * 0.999999 <= histogram.percentile(percent) <= exact * 1.0906
    assert histogram.count == len(seconds)


def test_nothing_and_zero_have_percentiles_too() -> None:
    histogram = Histogram()
    assert histogram.percentile(99) == 0.0
    histogram.add(0.0)
    assert histogram.told_ms() == {"p50_ms": 0.0, "p90_ms": 0.0, "p99_ms": 0.0, "max_ms": 0.0}
