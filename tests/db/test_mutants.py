"""The stress test is proved by breaking the shipped SQL: it notices every known mistake, and nothing else."""

import os

import psycopg
import pytest
from stress.crowd import problems_of
from stress.mutants import CONTROL, MUTANTS, Mutant, install
from stress.record import LEFT, STATUS, kind_of

SEED = int(os.environ.get("PULSE_STRESS_SEED", "1"))
SEEDS = (SEED, SEED + 1, SEED + 2)
"""The rarest mistakes are met in four seconds with some seeds, and not in thirty with others."""
FOLLOWING = {LEFT, STATUS}  # from whatever else is wrong; they are no reason of their own
SECONDS = 30.0  # at most: a run ends at the first finding, which takes half of them a second and the rarest ten


@pytest.mark.mutants
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.mistake)
def test_the_stress_test_notices_a_mistake_for_its_own_reason(empty_dsn: str, mutant: Mutant) -> None:
    """A run that fails because it was slow, or because a statement failed, has noticed nothing."""
    kinds: set[str] = set()
    for seed in SEEDS:
        again(empty_dsn, mutant)
        found = problems_of(empty_dsn, seed=seed, seconds=SECONDS)
        print(*found, sep="\n")
        kinds = {kind_of(each) for each in found} - FOLLOWING
        if kinds:
            break
    assert kinds, "it was not noticed"
    assert kinds <= set(mutant.noticed_as)


@pytest.mark.mutants
@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_run_without_a_mistake_has_no_problem(empty_dsn: str, seed: int) -> None:
    install(empty_dsn, CONTROL)
    assert problems_of(empty_dsn, seed=seed, seconds=SECONDS) == []


def again(dsn: str, mutant: Mutant) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("drop schema if exists pulse cascade")
    install(dsn, mutant)
