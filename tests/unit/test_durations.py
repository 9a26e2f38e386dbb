"""Durations mean what people mean by them."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulse_runtime.durations import LONGEST_S, BadDuration, parse_s, spoken


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("250ms", 0.25), ("10s", 10), ("5m", 300), ("1h30m", 5400), ("2d", 172_800),
        (" 1h 30m ", 5400), ("1.5h", 5400), ("0s", 0),
    ],
)  # fmt: skip
def test_people_are_understood(text: str, seconds: float) -> None:
    assert parse_s(text) == seconds


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"), ("  ", "empty"), ("-5s", "negative"), ("10", "did you mean 10s"),
        ("5 minutes", "a unit of"), ("5M", "a unit of"),
        ("30m1h", "the largest first"), ("1s1s", "once"), ("101y", "a unit of"),
        ("36501d", "100 years"), (f"{'9' * 5000}s", "100 years"),
        ("٣s", "a unit of"), ("1e3s", "a unit of"), ("nans", "a unit of"), ("inf", "a unit of"),
    ],
)  # fmt: skip
def test_what_is_no_duration_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(BadDuration, match=reason):
        parse_s(text)


@given(st.integers(0, LONGEST_S * 1000))
def test_every_millisecond_survives_being_written_and_read(ms: int) -> None:
    assert parse_s(spoken(ms / 1000)) == ms / 1000


@given(st.text())
def test_any_text_is_a_length_within_bounds_or_refused(text: str) -> None:
    with contextlib.suppress(BadDuration):
        assert 0 <= parse_s(text) <= LONGEST_S
