"""From scenarios to rows: order, failures, Ctrl-C."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks import Alike, AtLeast, AtMost, Bench, Sample, Scenario, Setup, cli, scenario
from benchmarks.catalog import Suite
from benchmarks.environment import without_paths
from benchmarks.progress import Progress
from benchmarks.record import recorded
from benchmarks.run import Outcome, Plan, run

TARGETS = (AtLeast("rate", 2, of="base"), AtMost("ms", 10, unit="ms", stat="p99", label="latency"))


def made(
    measure: Callable[[Bench[Any]], Sample], name: str = "drain", rounds: int = 4, warmups: int = 0
) -> Scenario[Any]:
    return scenario(name, targets=TARGETS, rounds=rounds, warmups=warmups)(measure)


def good(bench: Bench[Any]) -> Sample:
    return {"rate": 3.0, "base": 1, "ms": [1.0, 2.0]}


def broken(bench: Bench[Any]) -> Sample:
    raise FileNotFoundError(f"no such file: {Path('/somewhere/on/this/machine/tool')}")


def suite(*scenarios: Scenario[Any]) -> Suite:
    return Suite(name="operate", scenarios=scenarios)


def outcome_of(*scenarios: Scenario[Any]) -> Outcome:
    return run(suite(*scenarios), Plan(), Progress(io.StringIO()))


def test_one_measurement_feeds_a_row_per_target() -> None:
    ratio, latency = outcome_of(made(good)).rows
    assert (ratio.scenario, ratio.value, ratio.unit, ratio.holds) == ("drain", 3.0, "×", True)
    assert ratio.samples == [{"value": 3.0, "baseline": 1}] * 4
    assert (latency.scenario, latency.value, latency.unit) == ("drain: latency", 2.0, "ms")
    assert latency.samples == [1.0, 2.0] * 4


def test_the_baseline_goes_first_in_every_other_round_and_warm_ups_leave_no_sample() -> None:
    order: list[tuple[int, str]] = []

    def measure(bench: Bench[Any]) -> Sample:
        def note(name: str, number: float) -> float:
            order.append((bench.round, name))
            return number

        both = bench.interleaved(rate=lambda: note("rate", 3.0), base=lambda: note("base", 1.0))
        return {**both, "ms": 1}

    first = outcome_of(made(measure, rounds=2, warmups=1)).rows[0]
    assert order == [(-1, "base"), (-1, "rate"), (0, "rate"), (0, "base"), (1, "base"), (1, "rate")]
    assert len(first.samples) == 2


def test_what_is_held_lives_through_all_rounds_and_details_are_kept() -> None:
    events: list[str] = []

    @contextmanager
    def table() -> Iterator[str]:
        events.append("open")
        yield "a table"
        events.append("close")

    def measure(bench: Bench[Any]) -> Sample:
        events.append(bench.once("table", lambda: bench.held.enter_context(table())))
        bench.details["baseline_sql"] = "SELECT 1"
        return good(bench)

    rows = outcome_of(made(measure, rounds=2)).rows
    assert events == ["open", "a table", "a table", "close"]
    assert rows[0].details == {"baseline_sql": "SELECT 1"}


def test_prepare_gives_every_scenario_its_value_and_every_row_its_facts() -> None:
    @contextmanager
    def prepare(setup: Setup) -> Iterator[int]:
        setup.facts["postgres"] = "18.6"
        yield 3

    def measure(bench: Bench[int]) -> Sample:
        return {**good(bench), "rate": bench.prepared}

    prepared = Suite(name="store", scenarios=(made(measure),), prepare=prepare)
    rows = run(prepared, Plan(), Progress(io.StringIO())).rows
    assert [row.environment.facts for row in rows] == [{"postgres": "18.6"}] * 2
    assert rows[0].value == 3


def test_a_prepare_that_fails_makes_every_row_fail() -> None:
    @contextmanager
    def prepare(setup: Setup) -> Iterator[None]:
        if setup.quick is False:
            raise OSError("no Postgres")
        yield

    outcome = run(Suite(name="store", scenarios=(made(good),), prepare=prepare), Plan(), Progress(io.StringIO()))
    assert [row.holds for row in outcome.rows] == [False, False]
    assert "no Postgres" in outcome.rows[0].note
    assert cli.exit_code(outcome) == 6


def test_a_failing_scenario_becomes_rows_without_machine_paths_and_the_rest_goes_on() -> None:
    outcome = outcome_of(made(broken, "broken"), made(good))
    assert [row.holds for row in outcome.rows] == [False, False, True, True]
    assert outcome.rows[0].note == "FileNotFoundError: no such file: …/tool"
    assert cli.exit_code(outcome) == 6


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": 1, "base": 1},
        {"rate": {"a": 1}, "base": 1, "ms": 1},
        {"rate": "9", "base": 1, "ms": 1},
        {"rate": float("inf"), "base": 1, "ms": 1},
    ],
)
def test_a_sample_of_the_wrong_shape_fails_its_scenario(wrong: Any) -> None:
    row = outcome_of(made(lambda _: wrong)).rows[0]
    assert (row.holds, row.samples) == (False, [])
    assert row.error


def test_an_error_while_cleaning_up_does_not_hide_ctrl_c() -> None:
    def measure(bench: Bench[Any]) -> Sample:
        bench.held.callback(lambda: 1 // 0)
        raise KeyboardInterrupt

    outcome = outcome_of(made(measure), made(good, "never reached"))
    assert outcome.interrupted
    assert {row.scenario for row in outcome.rows} == {"drain", "drain: latency"}


def test_lists_are_reduced_per_round_for_ratios_and_counts_stay_exact() -> None:
    p50 = AtMost("start_ms", 1.5, of="bare_ms", stat="p50")
    assert recorded(p50, {"start_ms": [1, 2, 9], "bare_ms": [1.0, 1.0]}) == [{"value": 2, "baseline": 1.0}]
    assert recorded(Alike("rows", 1), {"rows": {"a": 123456789, "b": [1, 3]}}) == [{"a": 123456789, "b": 2}]
    assert recorded(AtMost("ms", 1), {"ms": 0.123456789}) == [0.123457]


def test_paths_are_cut_and_ratios_are_not() -> None:
    assert without_paths("cannot open '/a/b c/d.sock' or /x/y") == "cannot open '…/b c/d.sock' or …/y"
    assert without_paths("80,000 jobs/s and/or a/b/c, http://host/p/q") == "80,000 jobs/s and/or a/b/c, http://host/p/q"


def test_a_terminal_gets_one_updating_line_and_a_log_gets_lines() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    log, terminal = io.StringIO(), Terminal()
    for stream in (log, terminal):
        progress = Progress(stream)
        progress.step("one")
        progress.under("two")("half")
        progress.clear()
    assert log.getvalue() == "one\ntwo: half\n"
    assert terminal.getvalue() == "\r\x1b[Kone\r\x1b[Ktwo: half\r\x1b[K"


def test_rows_with_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="different labels"):
        scenario("drain", targets=(AtMost("a", 1), AtMost("b", 1)))(good)
