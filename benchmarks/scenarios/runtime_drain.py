"""How fast a runtime works off a backlog, beside what the store alone can do."""

from benchmarks import AtLeast, Bench, Sample, scenario
from benchmarks.runtime.draining import drain, load
from benchmarks.scenarios.store_drain import drain_pulse
from benchmarks.store.cluster import Cluster
from pulse_loadgen.load import Kind
from pulse_loadgen.tree import Shape


@scenario(
    "drain of no-op async jobs, two executors",
    rounds=5,
    quick_rounds=3,
    targets=(AtLeast("runtime", 0.5, of="store"),),
)
def drained(bench: Bench[Cluster]) -> Sample:
    """Jobs per second to the last durable outcome. The store: one client that claims and settles."""
    jobs = 100_000 if bench.quick else 300_000
    bench.details["jobs"] = f"{jobs}, a task and two stamps each; --executors 2 --concurrency 100"
    return bench.interleaved(
        runtime=lambda: _drain(bench.prepared, jobs, "loadgen.noop"), store=lambda: drain_pulse(bench.prepared, jobs)
    )


@scenario(
    "drain of no-op sync jobs in threads",
    rounds=3,
    quick_rounds=1,
    targets=(AtLeast("rate", 5_000, unit="jobs/s"),),
)
def threads(bench: Bench[Cluster]) -> Sample:
    jobs = 10_000 if bench.quick else 50_000
    return {"rate": _drain(bench.prepared, jobs, "loadgen.noop_in_thread")}


def _drain(cluster: Cluster, jobs: int, kind: str) -> float:
    with cluster.database() as dsn:
        load(dsn, jobs, Kind(queue="default", kind=kind))
        return drain(dsn, jobs, [Shape(executors=2)]).rate
