"""The store under a crowd: nothing lost, nothing settled twice, every status right."""

import os
import random
from typing import Any

import psycopg
import pytest
from stress_kit import Crowd


def problems_of(dsn: str, *, seed: int, seconds: float) -> list[str]:
    """What was wrong after the crowd has gone; nothing is what we want."""
    seen = Crowd(dsn, seed=seed, seconds=seconds).run(producers=4, claimers=4)
    found = list(seen.problems)
    settled, canceled = set(seen.settled), seen.canceled
    found += [f"lost: {job}" for job in sorted(seen.sent - settled - canceled)]
    found += [f"settled {times} times: {job}" for job, times in seen.settled.items() if times > 1]
    found += [f"canceled and settled: {job}" for job in sorted(settled & canceled)]
    found += [f"never sent: {job}" for job in sorted(settled - seen.sent)]
    with psycopg.connect(dsn, autocommit=True) as connection:
        found += _wrong_statuses(connection, dict.fromkeys(settled, "COMPLETED") | dict.fromkeys(canceled, "CANCELED"))
    assert len(settled) > 100 * seconds, "too little happened to prove anything"
    return found


def _wrong_statuses(connection: psycopg.Connection[Any], wanted: dict[str, str]) -> list[str]:
    rows = connection.execute("select id::text, status from pulse.jobs").fetchall()
    found = [f"{job} is {status}, not {wanted.get(job)}" for job, status in rows if wanted.get(job) != status]
    if len(rows) != len(wanted):
        found.append(f"pulse.jobs has {len(rows)} rows for {len(wanted)} jobs")
    left = connection.execute("select count(*) from pulse.lease").fetchone()
    return found if left == (0,) else [*found, f"{left} leases are left"]


@pytest.mark.parametrize("seconds", [4.0, pytest.param(30.0, marks=pytest.mark.long)])
def test_a_crowd_loses_nothing_and_settles_nothing_twice(dsn: str, seconds: float) -> None:
    seed = int(os.environ.get("PULSE_STRESS_SEED", random.randrange(10**6)))
    print(f"PULSE_STRESS_SEED={seed}")
    assert problems_of(dsn, seed=seed, seconds=seconds) == []
