"""How fast a runtime works off a backlog, beside what the store alone can do, and in other shapes and conditions."""

from collections.abc import Sequence

from benchmarks import AtLeast, AtMost, Bench, Sample, scenario
from benchmarks.runtime.alone import CLAIM, cpu_us_per_job
from benchmarks.runtime.draining import drain, load
from benchmarks.scenarios.store_drain import drain_pulse
from benchmarks.store.cluster import Cluster, connected
from pulse_loadgen.load import Kind
from pulse_loadgen.tree import Shape

NOOP = "loadgen.count"
HOLD = "select pg_current_xact_id(), (select count(*) from pulse.log)"


@scenario(
    "drain of no-op async jobs, two executors",
    rounds=5,
    quick_rounds=3,
    targets=(AtLeast("runtime", 0.5, of="store"),),
)
def drained(bench: Bench[Cluster]) -> Sample:
    """Jobs per second to the last durable outcome. The store: one client that claims and settles."""
    jobs = 100_000 if bench.quick else 300_000
    bench.details["jobs"] = f"{jobs}, a task each, which counts that it ran; --executors 2 --concurrency 100"
    return bench.interleaved(
        runtime=lambda: _drain(bench.prepared, jobs), store=lambda: drain_pulse(bench.prepared, jobs)
    )


@scenario(
    "drain through trio",
    rounds=5,
    quick_rounds=2,
    targets=(AtLeast("trio", 0.5, of="uvloop"),),
)
def through_trio(bench: Bench[Cluster]) -> Sample:
    """The same no-op jobs, a task each, on either loop."""
    jobs = 50_000 if bench.quick else 200_000
    bench.details["jobs"] = str(jobs)
    return bench.interleaved(
        trio=lambda: _drain(bench.prepared, jobs, [Shape(flags={"loop": "trio"})]),
        uvloop=lambda: _drain(bench.prepared, jobs),
    )


@scenario(
    "drain of no-op sync jobs in threads",
    rounds=3,
    quick_rounds=1,
    targets=(AtLeast("rate", 5_000, unit="jobs/s"),),
)
def threads(bench: Bench[Cluster]) -> Sample:
    jobs = 10_000 if bench.quick else 50_000
    return {"rate": _drain(bench.prepared, jobs, kind="loadgen.noop_in_thread")}


@scenario(
    "drain by four runtimes of one executor, beside one of four",
    rounds=5,
    quick_rounds=2,
    targets=(AtLeast("four", 0.7, of="one"),),
)
def four(bench: Bench[Cluster]) -> Sample:
    """Each runtime has a claimer and a reporter of its own. All are up before the first job is claimed."""
    jobs = 50_000 if bench.quick else 200_000
    bench.details["jobs"] = str(jobs)
    apart = [Shape(name=f"loadgen-{number}", executors=1) for number in range(4)]
    return bench.interleaved(
        four=lambda: _drain(bench.prepared, jobs, apart), one=lambda: _drain(bench.prepared, jobs, [Shape(executors=4)])
    )


@scenario(
    "drain while a transaction is held open",
    rounds=5,
    quick_rounds=3,
    targets=(AtLeast("held", 0.95, of="free"),),
)
def held(bench: Bench[Cluster]) -> Sample:
    """It is REPEATABLE READ and has a snapshot and an id, from before the first job to after the last."""
    jobs = 100_000 if bench.quick else 300_000
    bench.details["jobs"] = str(jobs)
    bench.details["held"] = HOLD
    return bench.interleaved(held=lambda: _drain_held(bench.prepared, jobs), free=lambda: _drain(bench.prepared, jobs))


@scenario(
    "drain of a backlog of 1 million",
    rounds=5,
    quick_rounds=2,
    targets=(AtLeast("deep", 0.95, of="shallow"),),
)
def deep(bench: Bench[Cluster]) -> Sample:
    """The first jobs of a deep backlog, beside a backlog that has no more than those. Before every round the deep one
    is filled up again."""
    jobs, depth = (50_000, 200_000) if bench.quick else (300_000, 1_000_000)
    bench.details["jobs"] = f"{jobs}, at a depth of {depth} that they are taken from"
    dsn = bench.once("deep", lambda: bench.held.enter_context(bench.prepared.database()))
    first = bench.once("numbers", lambda: [0])
    more = jobs if first[0] else depth
    load(dsn, more, first=first[0])
    first[0] += more
    return bench.interleaved(
        deep=lambda: drain(dsn, jobs, [Shape()], numbers=first[0]).rate, shallow=lambda: _drain(bench.prepared, jobs)
    )


def _drain(cluster: Cluster, jobs: int, shapes: Sequence[Shape] = (Shape(),), *, kind: str = NOOP) -> float:
    with cluster.database() as dsn:
        load(dsn, jobs, Kind(queue="default", kind=kind))
        return drain(dsn, jobs, shapes).rate


def _drain_held(cluster: Cluster, jobs: int) -> float:
    with cluster.database() as dsn, connected(dsn) as holder:
        holder.execute("begin isolation level repeatable read")
        holder.execute(HOLD)
        load(dsn, jobs)
        rate = drain(dsn, jobs, [Shape()]).rate
        holder.execute("rollback")
    return rate


@scenario(
    "an executor alone, no-op async jobs",
    rounds=5,
    quick_rounds=3,
    targets=(AtMost("cpu_us", 5, unit="µs of CPU a job"),),
)
def alone(bench: Bench[Cluster]) -> Sample:
    """What remains of a runtime's cost when nothing is left out but the database and the wires."""
    jobs = 50_000 if bench.quick else 300_000
    bench.details["jobs"] = f"{jobs}, a task each, claims of {CLAIM}, on uvloop"
    return {"cpu_us": cpu_us_per_job(jobs)}
