"""What becomes of claims while somebody holds a transaction open, and nothing dead can be removed."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

from benchmarks import AtMost, Bench, Sample, scenario
from benchmarks.store import meters, pulse, status_table
from benchmarks.store.cluster import Cluster, Connection, connected
from benchmarks.store.pulse import BATCH, Claimer

ENDS = 100
BASELINE_JOBS = 50_000


class Run(NamedTuple):
    """The milliseconds of each claim in turn, and the dead rows that a vacuum could not remove at the end."""

    claims_ms: list[float]
    dead_rows: int


@scenario(
    "a REPEATABLE READ transaction held open",
    rounds=5,
    quick_rounds=3,
    targets=(
        AtMost("last_ms", 1.3, of="first_ms", stat="p50"),
        AtMost("dead_rows", 5_000, unit="rows", label="dead rows"),
    ),
)
def held_open(bench: Bench[Cluster]) -> Sample:
    """The first hundred claims beside the last hundred, all made while the transaction is open.

    One client enqueues, claims and settles in turn, so that both ends of the run meet the same load.
    """
    jobs = 100_000 if bench.quick else 500_000
    bench.details["load"] = f"{jobs} jobs: enqueue, claim and settle batches of {BATCH} in turn; then vacuum"
    bench.details["baseline"] = status_table.described()
    bench.once("baseline", lambda: _tell_baseline(bench))
    run = _run(bench, jobs, "pulse", pulse_step)
    return {"first_ms": run.claims_ms[:ENDS], "last_ms": run.claims_ms[-ENDS:], "dead_rows": run.dead_rows}


def pulse_step(connection: Connection) -> Callable[[], float]:
    """A function that enqueues, claims and settles one batch and returns the milliseconds of the claim."""
    pulse.enqueue(connection)
    claimer = Claimer(connection)
    claimer.discover()
    claimer.settle(claimer.claim())

    def step() -> float:
        pulse.enqueue(connection)
        took_ms, batches = claimer.timed_claim()
        claimer.settle(batches)
        return took_ms

    return step


def baseline_step(connection: Connection) -> Callable[[], float]:
    """The same of the status table."""

    def step() -> float:
        status_table.enqueue(connection)
        started = time.perf_counter()
        ids = status_table.claim(connection, 1)
        took_ms = (time.perf_counter() - started) * 1000
        status_table.settle(connection, ids)
        return took_ms

    return step


def _tell_baseline(bench: Bench[Cluster]) -> str:
    """Once, as evidence that this load does hurt a store that is not append-only. No target depends on it."""
    run = _run(bench, BASELINE_JOBS, "baseline", baseline_step)
    first, last = statistics.median(run.claims_ms[:20]), statistics.median(run.claims_ms[-20:])
    told = f"{BASELINE_JOBS} jobs: p50 of a claim {first:.1f} ms, then {last:.1f} ms; {run.dead_rows} dead rows"
    bench.details["baseline, first and last 20"] = told
    return told


def _run(bench: Bench[Cluster], jobs: int, schema: str, start: Callable[[Connection], Callable[[], float]]) -> Run:
    claims_ms = []
    with bench.prepared.database() as dsn, connected(dsn) as holder, connected(dsn) as connection:
        # A snapshot and an id before the first job, and in this database: elsewhere it would hold back nothing.
        holder.execute("begin isolation level repeatable read")
        holder.execute("select pg_current_xact_id(), (select count(*) from pulse.log)")
        step = start(connection)
        for done in range(0, jobs, BATCH):
            if done % 50_000 == 0:
                bench.progress(f"{schema}, {done:,} of {jobs:,} jobs")
            claims_ms.append(step())
        dead = meters.dead_rows(connection, schema)
        holder.execute("rollback")
    return Run(claims_ms, dead)
