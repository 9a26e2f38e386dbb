"""Jobs that come at a rate, and how long each waited from its commit to its start."""

import statistics
from typing import NamedTuple

from benchmarks.runtime import bare
from benchmarks.store.cluster import Cluster
from benchmarks.store.crew import Member, crew
from pulse_loadgen import ledger
from pulse_loadgen.load import Kind, Producer
from pulse_loadgen.stamps import Stamps, stamps
from pulse_loadgen.tree import Shape, Tree, until
from pulse_runtime.store.connect import connect

QUEUE = "default"
WARM_S = 1.0
"""So long at the beginning counts for nothing: lanes are found, plans are made."""


class Arrived(NamedTuple):
    """Milliseconds from commit to start, and how many jobs more wait with every second."""

    waits_ms: list[float]
    growth: float


def by_runtime(cluster: Cluster, shape: Shape, kind: Kind, *, rate: float, for_s: float) -> Arrived:
    """Through a runtime, until every job has a durable outcome."""
    jobs = round(rate * (WARM_S + for_s))
    with cluster.database() as dsn, stamps(jobs) as noted, Tree(dsn, shape, noted.path) as tree:
        with Producer(dsn, kind, rate, jobs=jobs) as producer, connect(dsn, actor="loadgen") as connection:
            producer.wait()
            until(lambda: ledger.done(connection, QUEUE) == jobs, within_s=30, what=f"{jobs} outcomes")
            balance = ledger.reconcile(connection, QUEUE, noted, expected=jobs)
        if balance.lost or balance.duplicated or tree.stop():
            raise RuntimeError(f"{balance.lost} jobs lost, {balance.duplicated} duplicated, or it did not end in order")
        return _arrived(producer, noted, rate)


def by_bare_loop(cluster: Cluster, *, rate: float, for_s: float) -> Arrived:
    """Through one connection that listens and claims."""
    jobs = round(rate * (WARM_S + for_s))
    with cluster.database() as dsn, stamps(jobs) as noted:
        producer = Producer(dsn, Kind(queue=QUEUE), rate, jobs=jobs)
        with crew([Member(bare.consume, (dsn, str(noted.path), jobs))]) as go, producer:
            go()
            producer.wait()
        return _arrived(producer, noted, rate)


def _arrived(producer: Producer, noted: Stamps, rate: float) -> Arrived:
    if producer.late_s > WARM_S / 4:
        raise RuntimeError(f"the producer was {producer.late_s * 1000:.0f} ms behind its rate")
    skip = round(rate * WARM_S)
    committed, started = producer.committed_ns[skip:], noted.column("first_ns")[skip:]
    # A start may be seen before the commit is known to the producer, by as long as the answer travels: that is no wait.
    waits = [max(0, start - commit) / 1e6 for commit, start in zip(committed, started, strict=True)]
    return Arrived(waits, growth_per_s(committed, started))


def growth_per_s(committed: list[int], started: list[int]) -> float:
    """The slope of how many jobs wait, looked at every 50 ms while they come: 0 when the consumer keeps up."""
    begun, ended = committed[0], committed[-1]
    moments = range(begun, ended, 50_000_000)
    waiting = [sum(c <= at for c in committed) - sum(s <= at for s in started) for at in moments]
    if len(waiting) < 3:
        return 0.0
    return statistics.linear_regression([(at - begun) / 1e9 for at in moments], waiting).slope
