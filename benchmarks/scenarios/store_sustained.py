"""Enqueueing, claiming and settling at the same time, by processes, beside a status table under the same load."""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks import AtLeast, AtMost, Bench, Sample, scenario
from benchmarks.store import meters, pulse, status_table
from benchmarks.store.cluster import Cluster, connected
from benchmarks.store.crew import Member, Tally, crew, tally
from benchmarks.store.pulse import BATCH, Claimer

PAUSE_S = 0.002  # of a claimer that found nothing
BUSY_S = 0.001  # of one that found another at the lane, as the runtime's claimer waits
DISCOVER_S = 1.0
CLAIMERS = 2


class Cost(NamedTuple):
    """What a run came to, per job where it is not a rate."""

    rate: float
    wal_bytes: float
    cpu_us: float


@scenario(
    "sustained enqueue + claim + settle",
    rounds=7,
    quick_rounds=3,
    targets=(
        AtLeast("rate", 1.5, of="baseline_rate"),
        AtMost("wal_bytes", 500, unit="B/job", label="WAL"),
        AtMost("cpu_us", 0.65, of="baseline_cpu_us", label="Postgres CPU"),
    ),
)
def sustained(bench: Bench[Cluster]) -> Sample:
    """One enqueuer and two claimers, each a process with one connection, from the first enqueue to the last settle.

    WAL and CPU are those of the whole server, vacuum and background writer included; a checkpoint goes before and none
    falls in.
    """
    jobs = 100_000 if bench.quick else 400_000
    bench.details["baseline"] = status_table.described()
    bench.details["load"] = f"{jobs} jobs, {BATCH} a call; a claimer that found nothing waits {PAUSE_S * 1000:g} ms"
    runs = bench.interleaved(
        pulse=lambda: _run(bench.prepared, jobs, enqueue_pulse, claim_pulse),
        baseline=lambda: _run(bench.prepared, jobs, enqueue_baseline, claim_baseline),
    )
    ours, baseline = runs["pulse"], runs["baseline"]
    return {
        "rate": ours.rate,
        "baseline_rate": baseline.rate,
        "wal_bytes": ours.wal_bytes,
        "cpu_us": ours.cpu_us,
        "baseline_cpu_us": baseline.cpu_us,
    }


def enqueue_pulse(dsn: str, jobs: int) -> Iterator[None]:
    with connected(dsn) as connection:
        yield
        for _ in range(jobs // BATCH):
            pulse.enqueue(connection)


def claim_pulse(dsn: str, jobs: int, done: Tally) -> Iterator[None]:
    """Lanes are discovered until the first is found, then once a second, as by a claimer of the runtime."""
    with connected(dsn) as connection:
        claimer = Claimer(connection)
        yield
        discover_at = 0.0
        while done.sum < jobs:
            if batches := claimer.claim():
                discover_at = discover_at or time.perf_counter() + DISCOVER_S
                done.add(claimer.settle(batches))
            elif claimer.busy:
                time.sleep(BUSY_S)
            else:
                if time.perf_counter() >= discover_at:
                    claimer.discover()
                    discover_at = discover_at and time.perf_counter() + DISCOVER_S
                time.sleep(PAUSE_S)


def enqueue_baseline(dsn: str, jobs: int) -> Iterator[None]:
    with connected(dsn) as connection:
        yield
        for _ in range(jobs // BATCH):
            status_table.enqueue(connection)


def claim_baseline(dsn: str, jobs: int, done: Tally) -> Iterator[None]:
    with connected(dsn) as connection:
        yield
        while done.sum < jobs:
            if ids := status_table.claim(connection, connection.info.backend_pid):
                status_table.settle(connection, ids)
                done.add(len(ids))
            else:
                time.sleep(PAUSE_S)


def _run(
    cluster: Cluster, jobs: int, enqueuer: Callable[..., Iterator[None]], claimer: Callable[..., Iterator[None]]
) -> Cost:
    with tally() as done, cluster.database() as dsn, connected(dsn) as admin:
        members = [Member(enqueuer, (dsn, jobs)), *[Member(claimer, (dsn, jobs, done))] * CLAIMERS]
        with crew(members) as go:
            admin.execute("checkpoint")
            before = meters.read(admin, cluster.postmaster)
            seconds = go()
            used = meters.read(admin, cluster.postmaster).since(before)
        settled = done.sum
    if settled != jobs:
        raise RuntimeError(f"{jobs} jobs were enqueued and {settled} settled")
    return Cost(rate=jobs / seconds, wal_bytes=used.wal_bytes / jobs, cpu_us=used.cpu_s / jobs * 1e6)
