"""Rows of `make bench ARGS=runtime`, in the order of the tables they prove."""

from benchmarks.scenarios import runtime_drain
from benchmarks.store.cluster import running

prepare = running

ROWS = (
    runtime_drain.drained,
    runtime_drain.threads,
)
