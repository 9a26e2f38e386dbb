"""The store under a crowd: nothing lost, nothing settled twice, every status right."""

import os
import random
from functools import partial

from cluster_kit import Cluster
from stress.crowd import problems_of

RESTARTS = 2


def test_a_crowd_loses_nothing_and_settles_nothing_twice(dsn: str, server: Cluster) -> None:
    seconds = float(os.environ.get("PULSE_STRESS_S", "30"))
    seed = int(os.environ.get("PULSE_STRESS_SEED", random.randrange(10**6)))
    print(f"PULSE_STRESS_SEED={seed}")
    crash = partial(server.restart, immediate=True)
    assert problems_of(dsn, seed=seed, seconds=seconds, restart=crash, restarts=RESTARTS) == []
