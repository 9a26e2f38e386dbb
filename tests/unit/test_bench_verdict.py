"""What makes a row hold: the maths alone."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import Alike, AtLeast, AtMost, Target
from benchmarks.verdict import NOISE_CAP, TOO_NOISY, WITHIN_SPREAD, Verdict, decide, half_iqr, judge, reduce

positive = st.floats(min_value=1e-3, max_value=1e6)
ratios = st.lists(st.floats(min_value=0.01, max_value=100), min_size=1, max_size=15)
near_1 = st.floats(min_value=0.8, max_value=1.25)
limits = st.floats(min_value=0.05, max_value=50)


def pairs(*of_each_round: float) -> list[dict[str, float]]:
    return [{"value": ratio, "baseline": 1.0} for ratio in of_each_round]


def on(target: Target, *of_each_round: float) -> Verdict:
    return decide(target, pairs(*of_each_round))


AT_LEAST_2 = AtLeast("rate", 2.0, of="base")


def test_a_ratio_is_the_median_of_the_rounds_ratios_not_the_ratio_of_the_medians() -> None:
    samples = [{"value": 10, "baseline": 1}, {"value": 40, "baseline": 20}, {"value": 90, "baseline": 30}]
    assert decide(AT_LEAST_2, samples).value == 3.0


def test_a_ratio_short_of_its_target_by_less_than_its_spread_holds_and_says_so() -> None:
    verdict = on(AT_LEAST_2, 1.8, 1.9, 1.95, 2.1, 2.2)
    assert (verdict.value, verdict.holds, verdict.note) == (1.95, True, WITHIN_SPREAD)


def test_a_ratio_short_of_its_target_by_more_than_its_spread_does_not_hold() -> None:
    verdict = on(AT_LEAST_2, 1.84, 1.86, 1.92, 1.98, 2.0)  # 0.08 short, ± 0.06
    assert (verdict.holds, verdict.note) == (False, "")


def test_a_spread_above_the_cap_buys_nothing() -> None:
    verdict = on(AT_LEAST_2, 0.5, 1.2, 1.95, 2.6, 3.0)
    assert (verdict.holds, verdict.note) == (False, TOO_NOISY)


def test_one_outlier_among_five_rounds_does_not_widen_the_spread() -> None:
    assert half_iqr([1.0, 1.0, 1.0, 1.0, 50.0]) == 0


def test_an_absolute_row_gets_no_leniency() -> None:
    assert not decide(AtMost("ms", 10, unit="ms"), [9.5, 10.01, 10.5]).holds
    assert decide(AtMost("ms", 10, unit="ms"), [9.5, 10, 10.5]).holds


def test_identical_means_identical() -> None:
    rows_read = Alike("rows", within=1)
    assert decide(rows_read, [{"10 k": 500, "1 M": 500}, {"10 k": 0, "1 M": 0}]).holds
    noisy = [{"a": 100, "b": 100}, {"a": 100, "b": 101}, {"a": 100, "b": 110}]
    assert not decide(rows_read, noisy).holds


def test_alike_compares_the_largest_case_with_the_smallest() -> None:
    verdict = decide(Alike("p50_ms", within=1.3), [{"10 k": 1.0, "1 M": 1.2, "5 M": 0.8}])
    assert verdict.value == pytest.approx(1.5)
    assert not verdict.holds


def test_either_bound_is_enough_and_the_one_that_holds_is_shown() -> None:
    target = AtLeast("rate", 80_000, unit="jobs/s", otherwise=AtLeast("rate", 0.3, of="copy"))
    slow_machine = decide(target, [{"value": 40_000, "baseline": 100_000}])
    assert (slow_machine.holds, slow_machine.value, slow_machine.unit) == (True, 0.4, "×")
    neither = decide(target, [{"value": 10_000, "baseline": 100_000}])
    assert (neither.holds, neither.value, neither.unit) == (False, 10_000, "jobs/s")
    assert target.text == "≥ 80,000 jobs/s or ≥ 0.3 ×"


@pytest.mark.parametrize(
    ("target", "samples", "why"),
    [
        (AT_LEAST_2, [], "no samples"),
        (AT_LEAST_2, [{"value": 1, "baseline": 0}], "the baseline measured 0"),
        (AT_LEAST_2, [{"value": 1}], "no 'baseline'"),
        (AT_LEAST_2, [3.0], "bare number"),
        (AtMost("ms", 1), [math.nan], "nan"),
        (Alike("ms", 2), [{"only": 1}], "fewer than two cases"),
    ],
)
def test_samples_that_cannot_answer_do_not_hold_and_say_why(target: Target, samples: list[float], why: str) -> None:
    verdict = decide(target, samples)
    assert (verdict.holds, verdict.value) == (False, None)
    assert why in verdict.note


def test_a_failed_or_unfinished_scenario_does_not_hold_however_good_its_samples() -> None:
    good = pairs(3.0, 3.0)
    assert judge(AT_LEAST_2, good, rounds_done=2, rounds_planned=2).holds
    cut = judge(AT_LEAST_2, good, rounds_done=2, rounds_planned=5)
    assert (cut.holds, cut.note) == (False, "incomplete: 2 of 5 rounds")
    failed = judge(AT_LEAST_2, good, rounds_done=2, rounds_planned=2, error="OSError: gone")
    assert (failed.holds, failed.note) == (False, "OSError: gone")


def test_a_percentile_is_a_number_that_was_measured() -> None:
    hundred = list(range(1, 101))
    assert [reduce(stat, hundred) for stat in ("p50", "p95", "p99", "max", "min")] == [50.5, 95, 99, 100, 1]


@given(rounds=st.lists(st.floats(min_value=0.7, max_value=1.4), min_size=1), limit=near_1, at_least=st.booleans())
def test_no_ratio_holds_beyond_its_spread_or_the_cap(rounds: list[float], limit: float, at_least: bool) -> None:
    verdict = on((AtLeast if at_least else AtMost)("rate", limit, of="base"), *rounds)
    assert verdict.value is not None
    assert verdict.spread is not None
    missed_by = limit - verdict.value if at_least else verdict.value - limit
    if missed_by <= 0:
        assert (verdict.holds, verdict.note) == (True, "")
    else:
        assert verdict.holds == (missed_by <= verdict.spread <= NOISE_CAP * limit)
        assert verdict.holds == (verdict.note == WITHIN_SPREAD)


@given(rounds=ratios, limit=limits, data=st.data())
def test_the_order_of_rounds_does_not_matter(rounds: list[float], limit: float, data: st.DataObject) -> None:
    target = AtLeast("rate", limit, of="base")
    assert on(target, *rounds) == on(target, *data.draw(st.permutations(rounds)))


@given(numbers=st.lists(positive, min_size=1), percent=st.sampled_from([95, 99]))
def test_at_most_the_promised_share_lies_above_a_percentile(numbers: list[float], percent: int) -> None:
    value = reduce("p99" if percent == 99 else "p95", numbers)
    assert value in numbers
    assert Fraction(sum(n > value for n in numbers), len(numbers)) <= Fraction(100 - percent, 100)
    assert Fraction(sum(n >= value for n in numbers), len(numbers)) > Fraction(100 - percent, 100)


@given(numbers=st.lists(positive, min_size=2))
def test_the_spread_is_never_more_than_half_the_range(numbers: list[float]) -> None:
    assert 0 <= half_iqr(numbers) <= (max(numbers) - min(numbers)) / 2 * (1 + 1e-9)


def test_targets_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="never below 1"):
        Alike("ms", within=0.9)
    with pytest.raises(ValueError, match="same key"):
        AtLeast("rate", 1, otherwise=AtLeast("other", 1))
    with pytest.raises(ValueError, match="one `otherwise`"):
        AtLeast("a", 1, otherwise=AtLeast("a", 2, otherwise=AtLeast("a", 3)))
