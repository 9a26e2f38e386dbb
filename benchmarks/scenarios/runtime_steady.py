"""Jobs that come at a rate: how soon each starts."""

from benchmarks import AtMost, Bench, Sample, scenario
from benchmarks.runtime import bare
from benchmarks.runtime.arriving import QUEUE, by_bare_loop, by_runtime
from benchmarks.store.cluster import Cluster
from pulse_loadgen.load import Kind
from pulse_loadgen.tree import Shape


@scenario(
    "50 jobs/s, enqueue commit to handler start",
    rounds=5,
    quick_rounds=3,
    targets=(
        AtMost("start_ms", 1.5, of="bare_ms", stat="p50", label="beside a bare loop"),
        AtMost("start_ms", 2, unit="ms", stat="p50", label="aim"),
        AtMost("start_ms", 10, unit="ms", stat="p99", label="p99"),
    ),
)
def soon(bench: Bench[Cluster]) -> Sample:
    """From the moment the producer knows of the commit. The bare loop: one connection that listens and claims."""
    for_s = 4.0 if bench.quick else 10.0
    bench.details["load"] = f"50 jobs/s for {for_s:g} s, one enqueue each; two executors"
    bench.details["bare loop"] = bare.DESCRIBED
    runs = bench.interleaved(
        runtime=lambda: by_runtime(bench.prepared, Shape(), Kind(queue=QUEUE), rate=50, for_s=for_s),
        bare=lambda: by_bare_loop(bench.prepared, rate=50, for_s=for_s),
    )
    return {"start_ms": runs["runtime"].waits_ms, "bare_ms": runs["bare"].waits_ms}


@scenario(
    "1,000 jobs/s sustained, handlers of 10 ms",
    rounds=3,
    quick_rounds=1,
    targets=(
        AtMost("start_ms", 25, unit="ms", stat="p99", label="start"),
        AtMost("growth", 1, unit="jobs/s", stat="max", label="backlog growth"),
    ),
)
def sustained(bench: Bench[Cluster]) -> Sample:
    """What comes within five milliseconds is one enqueue of many. Growth: how many more jobs wait with every second."""
    for_s = 5.0 if bench.quick else 20.0
    bench.details["load"] = f"1,000 jobs/s for {for_s:g} s; two executors"
    kind = Kind(queue=QUEUE, kind="loadgen.sleep", args={"ms": 10})
    arrived = by_runtime(bench.prepared, Shape(), kind, rate=1000, for_s=for_s)
    return {"start_ms": arrived.waits_ms, "growth": arrived.growth}
