"""Rows of `make bench ARGS=runtime`, in the order of the tables they prove."""

from benchmarks.scenarios import runtime_drain, runtime_recovery, runtime_resting, runtime_steady
from benchmarks.store.cluster import running

prepare = running

ROWS = (
    runtime_drain.drained,
    runtime_drain.through_trio,
    runtime_drain.threads,
    runtime_steady.soon,
    runtime_steady.sustained,
    runtime_resting.idle,
    runtime_resting.memory,
    runtime_drain.four,
    runtime_drain.held,
    runtime_drain.deep,
    runtime_drain.alone,
    *runtime_recovery.ROWS,
)
