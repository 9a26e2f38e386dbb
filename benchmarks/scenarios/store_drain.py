"""Draining a full store by one client: beside a status table, and with failures beside without."""

import time
from collections.abc import Sequence

import msgspec

from benchmarks import AtLeast, Bench, Sample, scenario
from benchmarks.store import pulse, status_table
from benchmarks.store.cluster import Cluster, Connection
from benchmarks.store.pulse import Batch, Claimer, array

# One statement, as the runtime's reporter sends it: a batch that holds a failure is one transaction too.
REPORT = """select (select settled from pulse.settle(%s, %s, %s::bit varying[], %s::integer[])), pulse.close(
  %s::bigint[], %s::uuid[], %s::integer[], %s::text[], %s::bigint[], %s::text[], %s::bigint[])"""
PROMOTE = "select moved from pulse.promote(1000)"
RETRY_MS = 1  # not 0, which would send them back to the log at once


@scenario(
    "drain, batches of 500, 1 client",
    rounds=7,
    quick_rounds=3,
    warmups=1,
    targets=(AtLeast("pulse", 2.5, of="baseline"),),
)
def drain(bench: Bench[Cluster]) -> Sample:
    """Jobs per second from a full table to an empty one: claim, then settle, each its own durable transaction."""
    jobs = 50_000 if bench.quick else 200_000
    bench.details["baseline"] = status_table.described()
    return bench.interleaved(
        pulse=lambda: drain_pulse(bench.prepared, jobs), baseline=lambda: _drain_baseline(bench.prepared, jobs)
    )


@scenario(
    "every third job fails once",
    rounds=7,
    quick_rounds=3,
    warmups=1,
    targets=(AtLeast("failing", 0.4, of="succeeding"),),
)
def failures(bench: Bench[Cluster]) -> Sample:
    """Jobs per second until all have succeeded: failures are closed, wait for a millisecond (those of a report
    together), are claimed a second time and settled. Beside the same loop without failures."""
    jobs = 30_000 if bench.quick else 120_000
    bench.details["every third job fails once"] = f"{REPORT}\n{PROMOTE}; delay {RETRY_MS} ms, one promote per batch"
    return bench.interleaved(
        failing=lambda: _drain_with_failures(bench.prepared, jobs, every=3),
        succeeding=lambda: _drain_with_failures(bench.prepared, jobs, every=0),
    )


def drain_pulse(cluster: Cluster, jobs: int) -> float:
    with cluster.connection() as connection:
        pulse.load(connection, jobs)
        claimer = Claimer(connection)
        started = time.perf_counter()
        for _ in pulse.drain(claimer, jobs):
            pass
        return jobs / (time.perf_counter() - started)


def _drain_baseline(cluster: Cluster, jobs: int) -> float:
    with cluster.connection() as connection:
        status_table.load(connection, jobs)
        done, started = 0, time.perf_counter()
        while done < jobs:
            ids = status_table.claim(connection, 1)
            status_table.settle(connection, ids)
            done += len(ids)
        return jobs / (time.perf_counter() - started)


def _drain_with_failures(cluster: Cluster, jobs: int, *, every: int) -> float:
    """With `every` 0, nothing fails; the client does the same work in both cases."""
    with cluster.connection() as connection:
        pulse.load(connection, jobs)
        claimer = Claimer(connection)
        done, started = 0, time.perf_counter()
        while done < jobs:
            batches = claimer.claim()
            failed = [_failing(batch, every) for batch in batches]
            masks = [mask_without(each, batch.n) for each, batch in zip(failed, batches, strict=True)]
            if any(failed):
                done += _report(connection, batches, masks, failed)
            else:
                done += claimer.settle(batches, masks)
            if every:
                connection.execute(PROMOTE)
        return jobs / (time.perf_counter() - started)


def _failing(batch: Batch, every: int) -> list[int]:
    """The positions that fail: first attempts, one in `every`."""
    attempts = [job[3] for job in msgspec.json.decode(batch.jobs or "[]")]
    return [pos for pos, attempt in enumerate(attempts) if every and attempt == 1 and pos % every == 0]


def mask_without(failed: Sequence[int], n: int) -> str:
    """`n` set bits but for these positions."""
    bits = ["1"] * n
    for pos in failed:
        bits[pos] = "0"
    return "".join(bits)


def _report(connection: Connection, batches: Sequence[Batch], masks: list[str], failed: Sequence[Sequence[int]]) -> int:
    """How many succeeded; the others are closed in the same transaction."""
    took = array(["1000"] * sum(mask.count("1") for mask in masks))
    ends = [(batch, pos) for batch, positions in zip(batches, failed, strict=True) for pos in positions]
    named = [  # the token once for all failures of a claim, as the reporter sends it
        str(batch.token) if pos == positions[0] else "null"
        for batch, positions in zip(batches, failed, strict=True)
        for pos in positions
    ]
    columns = (
        [str(batch.claim) for batch, _ in ends], named, [str(pos) for _, pos in ends],
        *([same] * len(ends) for same in ("fail", str(RETRY_MS), '"ValueError: no such address"', "1000")),
    )  # fmt: skip
    claims, tokens = [batch.claim for batch in batches], [batch.token for batch in batches]
    values = (claims, tokens, masks, took, *map(array, columns))
    settled: int = connection.execute(REPORT, values).fetchall()[0][0]
    return settled
