"""The store under a crowd: nothing lost, nothing settled twice, every status right."""

import os
import random

import pytest
from stress_kit import problems_of


@pytest.mark.parametrize("seconds", [4.0, pytest.param(30.0, marks=pytest.mark.long)])
def test_a_crowd_loses_nothing_and_settles_nothing_twice(dsn: str, seconds: float) -> None:
    seed = int(os.environ.get("PULSE_STRESS_SEED", random.randrange(10**6)))
    print(f"PULSE_STRESS_SEED={seed}")
    assert problems_of(dsn, seed=seed, seconds=seconds) == []
