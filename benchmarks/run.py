"""Measure a suite: warm-ups, rounds, rows. Nothing a scenario does stops the next one, except Ctrl-C."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import msgspec

from benchmarks.catalog import Suite
from benchmarks.environment import Environment, collect, without_paths
from benchmarks.progress import Progress
from benchmarks.record import Row, Samples, recorded
from benchmarks.scenario import Bench, Scenario, Setup
from benchmarks.target import Target
from benchmarks.verdict import judge


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the command line asked for. `rounds` None means as many as each scenario declares."""

    quick: bool = False
    only: str = ""
    rounds: int | None = None
    command: str = ""

    def rounds_of(self, scenario: Scenario[Any]) -> int:
        return self.rounds or (scenario.quick_rounds if self.quick else scenario.rounds)


@dataclass(kw_only=True)
class Outcome:
    """The rows so far. `complaint` is what went wrong outside of any scenario."""

    rows: list[Row] = field(default_factory=list)
    interrupted: bool = False
    complaint: str = ""


@dataclass(kw_only=True)
class Findings:
    """What the rounds of one scenario left behind, one list of samples per target."""

    samples: list[Samples]
    details: dict[str, str] = field(default_factory=dict)
    rounds_done: int = 0
    error: str = ""
    interrupted: bool = False


def run(suite: Suite, plan: Plan, progress: Progress) -> Outcome:
    """Measure what `plan` selects. On Ctrl-C the outcome has the rows up to then, the last ones marked incomplete."""
    outcome = Outcome()
    facts: dict[str, str] = {}
    environment = collect(facts)
    waiting = list(suite.only(plan.only))
    try:
        with suite.prepare(Setup(quick=plan.quick, progress=progress.step, facts=facts)) as prepared:
            while waiting and not outcome.interrupted:
                scenario = waiting.pop(0)
                found = measure(scenario, prepared, plan, progress)
                outcome.rows += rows_of(scenario, found, plan, environment)
                outcome.interrupted = found.interrupted
    except KeyboardInterrupt:
        outcome.interrupted = True
    except (Exception, SystemExit) as error:
        outcome.complaint = f"could not prepare or clean up: {describe(error)}"
        unmeasured = [] if outcome.interrupted else waiting
        outcome.rows += _failed(unmeasured, outcome.complaint, plan, environment)
    progress.clear()
    return outcome


def measure(scenario: Scenario[Any], prepared: object, plan: Plan, progress: Progress) -> Findings:
    """Run the rounds of one scenario. Whatever ends them early is in the findings, beside what was measured before."""
    found = Findings(samples=[[] for _ in scenario.targets])
    try:
        with ExitStack() as held:
            bench = Bench(quick=plan.quick, prepared=prepared, progress=progress.step, held=held, details=found.details)
            _take_rounds(scenario, found, plan, progress, bench)
    except KeyboardInterrupt:
        found.interrupted = True
    except (Exception, SystemExit) as error:
        found.error = describe(error)
    return found


def rows_of(scenario: Scenario[Any], found: Findings, plan: Plan, environment: Environment) -> list[Row]:
    """One row per target, judged by the samples that the row itself carries."""

    def row(target: Target, samples: Samples) -> Row:
        done, planned = found.rounds_done, plan.rounds_of(scenario)
        verdict = judge(target, samples, rounds_done=done, rounds_planned=planned, error=found.error)
        return Row(
            scenario=scenario.row_name(target),
            target=target,
            **msgspec.structs.asdict(verdict),
            rounds_done=done,
            rounds_planned=planned,
            error=found.error,
            quick=plan.quick,
            command=plan.command,
            details=found.details,
            samples=samples,
            environment=environment,
        )

    return [row(target, samples) for target, samples in zip(scenario.targets, found.samples, strict=True)]


def describe(error: BaseException) -> str:
    """One line for a note: the kind of the error and its first words, without machine paths."""
    text = " ".join(str(error).split())
    return without_paths(f"{type(error).__name__}: {text}" if text else type(error).__name__)[:300]


def _take_rounds(scenario: Scenario[Any], found: Findings, plan: Plan, progress: Progress, bench: Bench[Any]) -> None:
    """Ctrl-C ends the rounds here, inside the scenario's resources: an error in their clean-up must not hide it."""
    rounds = plan.rounds_of(scenario)
    try:
        for number in range(-scenario.warmups, rounds):
            where = f"{scenario.name}: " + ("warm-up" if number < 0 else f"round {number + 1} of {rounds}")
            progress.step(where)
            _take_round(scenario, found, bench.at(number, progress.under(where)))
    except KeyboardInterrupt:
        found.interrupted = True


def _take_round(scenario: Scenario[Any], found: Findings, bench: Bench[Any]) -> None:
    sample = scenario.measure(bench)
    parts = [recorded(target, sample) for target in scenario.targets]
    if bench.round < 0:
        return
    for samples, part in zip(found.samples, parts, strict=True):
        samples += part
    found.rounds_done += 1


def _failed(scenarios: Iterable[Scenario[Any]], why: str, plan: Plan, environment: Environment) -> list[Row]:
    rows = []
    for scenario in scenarios:
        found = Findings(samples=[[] for _ in scenario.targets], error=why)
        rows += rows_of(scenario, found, plan, environment)
    return rows
