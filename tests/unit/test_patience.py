"""Pauses between two looks: short at first, bounded in the end, and never beyond the deadline."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulse_runtime import BadJob
from pulse_runtime.patience import Patience


class Clock:
    """A clock that is told how time goes by."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@given(timeout_s=st.floats(0.0, 3600.0), answer_s=st.floats(0.0, 1.0))
def test_pauses_grow_from_5_to_500_ms_and_end_with_the_time(timeout_s: float, answer_s: float) -> None:
    clock = Clock()
    patience, pauses = Patience(timeout_s, clock=clock), []
    while (pause := patience.next_s()) is not None:
        pauses.append(pause)
        clock.now += pause + answer_s
    assert all(0 < pause <= 0.5 for pause in pauses)
    assert pauses[:-1] == sorted(pauses[:-1])
    assert not pauses or pauses[0] == pytest.approx(min(0.005, timeout_s), abs=1e-9)
    assert timeout_s - 1e-6 <= clock.now - 1000.0 <= timeout_s + answer_s + 1e-6


def test_without_a_timeout_it_never_ends() -> None:
    clock = Clock()
    patience = Patience(None, clock=clock)
    for _ in range(1000):
        clock.now += 1e6
        assert patience.next_s() is not None
    assert (patience.left_s(), patience.timeout_s) == (math.inf, math.inf)


@pytest.mark.parametrize("bad", ["soon", "-1s", -1, float("nan"), ""])
def test_a_senseless_timeout_is_refused(bad: str | float) -> None:
    with pytest.raises(BadJob, match=r"^timeout: "):
        Patience(bad)
