"""Rows of `make bench ARGS=store`, in the order of the table they prove."""

from benchmarks.scenarios import store_claim, store_drain, store_enqueue, store_held, store_status, store_sustained
from benchmarks.store.cluster import running

prepare = running

ROWS = (
    store_drain.drain,
    store_sustained.sustained,
    store_held.held_open,
    store_claim.depth,
    store_claim.partitions,
    store_claim.queues,
    store_drain.failures,
    store_enqueue.single,
    store_enqueue.many,
    store_status.status,
)
