"""The stress test is proved by breaking the shipped SQL: it notices every known mistake, and nothing else."""

import os

import pytest
from stress.crowd import problems_of
from stress.mutants import CONTROL, MUTANTS, Mutant, install

SEED = int(os.environ.get("PULSE_STRESS_SEED", "7"))
SECONDS = 8.0  # at most: a run ends at the first problem


@pytest.mark.mutants
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.mistake)
def test_the_stress_test_notices(empty_dsn: str, mutant: Mutant) -> None:
    install(empty_dsn, mutant)
    assert problems_of(empty_dsn, seed=SEED, seconds=SECONDS) != []


@pytest.mark.mutants
def test_the_same_run_without_a_mistake_has_no_problem(empty_dsn: str) -> None:
    install(empty_dsn, CONTROL)
    assert problems_of(empty_dsn, seed=SEED, seconds=SECONDS) == []
