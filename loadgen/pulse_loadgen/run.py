"""A run: jobs are added, a runtime works them off, and every one of them is accounted for."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pulse_loadgen import ledger, meters, report
from pulse_loadgen.ledger import Balance
from pulse_loadgen.load import Producer, fill
from pulse_loadgen.meters import Reading
from pulse_loadgen.place import Place, described
from pulse_loadgen.plan import Plan
from pulse_loadgen.progress import Progress
from pulse_loadgen.stamps import Stamps, stamps
from pulse_loadgen.tree import RuntimeFailed, Tree
from pulse_runtime.store.connect import Connection, connect

LOOK_S = 0.1
PATIENCE_S = 30.0
"""So long without an outcome, and the run gives up on what is left."""


@dataclass(kw_only=True)
class Course:
    """What was seen of a run, before anything is made of it."""

    before: Reading
    after: Reading
    committed_ns: list[int] = field(default_factory=list)
    """Of the jobs that came while it ran."""
    producer_late_s: float = 0.0
    rss_mb: dict[str, float] = field(default_factory=dict)
    told: dict[str, dict[str, float]] = field(default_factory=dict)
    """How long claims and reports took, in the runtime's own words."""


def run(plan: Plan, place: Place) -> dict[str, Any]:
    """The figures, as they are written to a file."""
    with stamps(plan.jobs) as noted, connect(place.dsn, actor="loadgen") as connection, Progress() as progress:
        # Until the meters are read: a backlog is half gone before all processes are known to be up.
        connection.execute("select pulse.pause(%s, 'pulse-loadgen', 'the run has not begun')", (place.queue,))
        if plan.backlog:
            fill(connection, plan.kind(place.queue), plan.backlog, progress=progress)
            connection.execute("vacuum analyze pulse.log")
        progress.step("starting the runtime")
        course = _course(plan, place, noted, connection, progress)
        progress.step("accounting for every job")
        balance = ledger.reconcile(connection, place.queue, noted, expected=plan.jobs)
        return _result(plan, place, noted, connection, course, balance)


def _course(plan: Plan, place: Place, noted: Stamps, connection: Connection, progress: Progress) -> Course:
    with Tree(place.dsn, plan.shape(place.queue, place.runtime), noted.path) as tree:
        before = meters.read(connection, tree.actors())
        connection.execute("select pulse.resume(%s)", (place.queue,))
        with _producer(plan, place) as producer:
            peaks = _wait(plan, place, tree, producer, connection, progress)
            after = meters.read(connection, tree.actors())
        if producer is not None and producer.error is not None:
            raise producer.error
        code = tree.stop()
        if code:
            raise RuntimeFailed(f"the runtime ended with status {code}; its last lines:\n{tree.log.tail()}")
        told = {event: lines[-1] for event in ("claims", "reports") if (lines := tree.log.said(event))}
    return Course(
        before=before,
        after=after,
        committed_ns=producer.committed_ns if producer else [],
        producer_late_s=producer.late_s if producer else 0.0,
        rss_mb=peaks,
        told=told,
    )


@contextlib.contextmanager
def _producer(plan: Plan, place: Place) -> Iterator[Producer | None]:
    if not plan.arriving:
        yield None
        return
    kind, jobs = plan.kind(place.queue), plan.arriving
    with Producer(place.dsn, kind, plan.rate, jobs=jobs, first=plan.backlog) as producer:
        yield producer


def _wait(
    plan: Plan, place: Place, tree: Tree, producer: Producer | None, connection: Connection, progress: Progress
) -> dict[str, float]:
    """Until every job has a durable outcome, or nothing has happened for long; the most memory each process had."""
    peaks: dict[str, float] = {}
    began = moved = time.monotonic()
    done = 0
    while done < plan.jobs and time.monotonic() - moved < PATIENCE_S:
        time.sleep(LOOK_S)
        if producer is not None and producer.error is not None:
            raise producer.error
        for name, pid in tree.actors().items():
            peaks[name] = max(peaks.get(name, 0.0), meters.rss_mb(pid))
        now, before = time.monotonic(), done
        done = ledger.done(connection, place.queue)
        if done > before or (producer is not None and len(producer.committed_ns) < plan.arriving):
            moved = now
        progress(f"{now - began:5.1f} s  {done:,} of {plan.jobs:,} jobs done, {done / (now - began):,.0f} per s")
    return peaks


def _result(
    plan: Plan, place: Place, noted: Stamps, connection: Connection, course: Course, balance: Balance
) -> dict[str, Any]:
    version, durable = described(connection)
    jobs = plan.jobs - balance.lost
    times = ledger.settled(connection, place.queue, ledger.clock_offset_s(connection))
    # What was there already waits from the first claim on.
    origin = [int(times.began_s * 1e9)] * plan.backlog + course.committed_ns
    used, per_10k = course.after.cpu_since(course.before), 10_000 / max(jobs, 1)
    return {
        "scenario": plan.scenario,
        "parameters": plan.parameters(),
        "environment": report.environment(version, durable=durable),
        "jobs": plan.jobs,
        "lost": balance.lost,
        "duplicated": balance.duplicated,
        "jobs_per_s": times.rate,
        **({"jobs_per_s_by_tenth": times.by_tenth} if plan.scenario == "depth" else {}),
        "start_ms": report.percentiles(_starts_ms(noted, origin)),
        "total_ms": report.percentiles(_totals_ms(times.at_s, origin)),
        "claims": _count(course.told.get("claims")),
        "reports": _count(course.told.get("reports")),
        "claim_ms": _told(course.told.get("claims")),
        "report_ms": _told(course.told.get("reports")),
        "cpu_s_per_10k_jobs": {name: round(cpu * per_10k, 4) for name, cpu in used.items()},
        "rss_mb": {name: round(mb, 1) for name, mb in course.rss_mb.items()},
        "wal_bytes_per_job": round((course.after.wal_bytes - course.before.wal_bytes) / max(jobs, 1), 1),
        "transactions_per_job": round((course.after.transactions - course.before.transactions) / max(jobs, 1), 4),
        "producer_late_ms": round(course.producer_late_s * 1000, 1),
    }


def _starts_ms(noted: Stamps, origin: list[int]) -> list[float]:
    """A start may be seen before its commit is known, by as long as the answer travels: that is no wait."""
    firsts = noted.column("first_ns", len(origin))
    return [max(0, first - since) / 1e6 for first, since in zip(firsts, origin, strict=True) if first]


def _totals_ms(at_s: list[tuple[int, float]], origin: list[int]) -> list[float]:
    return [max(0.0, at * 1e3 - origin[n] / 1e6) for n, at in at_s if n < len(origin)]


def _count(said: dict[str, float] | None) -> int | None:
    return int(said["count"]) if said else None


def _told(said: dict[str, float] | None) -> dict[str, float | None]:
    names = ("p50", "p90", "p99", "max")
    return {name: said.get(f"{name}_ms") if said else None for name in names}
