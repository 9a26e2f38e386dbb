"""What a claim costs, whatever is pending, kept or idle beside it."""

import time

from benchmarks import Alike, AtMost, Bench, Sample, scenario
from benchmarks.store import history, pulse
from benchmarks.store.cluster import Cluster, Connection
from benchmarks.store.pulse import Claimer
from benchmarks.store.steady import Steady, in_turn

PENDING = 20_000
QUEUES = [f"queue-{number}" for number in range(200)]
BUSY = QUEUES[100]
LOOK = "select * from pulse.look(%s::text[])"


@scenario(
    "claim of 500 at 10 k / 1 M / 5 M pending",
    rounds=7,
    quick_rounds=3,
    warmups=1,
    targets=(Alike("claim_ms", within=1.3, stat="p50"), Alike("rows_read", within=1, label="rows read")),
)
def depth(bench: Bench[Cluster]) -> Sample:
    """One claim of each depth in turn; the depth stays, as every batch that was settled is followed by a new one.

    All that is pending lies in one partition: every further one that has pending jobs costs a claim one row.
    """
    depths = {"10 k": 10_000, "200 k": 200_000, "1 M": 1_000_000}
    if not bench.quick:
        depths = {"10 k": 10_000, "1 M": 1_000_000, "5 M": 5_000_000}
    cases = bench.once("cases", lambda: {name: _pending(bench, jobs) for name, jobs in depths.items()})
    bench.details["claim"] = pulse.CLAIM
    return {
        "claim_ms": in_turn(cases, 40 if bench.quick else 100),
        "rows_read": {name: case.rows_read() for name, case in cases.items()},
    }


@scenario(
    "claim of 500 with 1, 11, 60, 200 partitions kept",
    rounds=7,
    quick_rounds=3,
    warmups=1,
    targets=(Alike("claim_ms", within=1.3, stat="p50"),),
)
def partitions(bench: Bench[Cluster]) -> Sample:
    """The same, the log's older partitions full of settled jobs."""
    cases = bench.once("cases", lambda: {str(kept): _kept(bench, kept) for kept in (1, 11, 60, 200)})
    bench.details["partitions"] = (
        f"{history.PER_PARTITION} settled jobs in each but the last, {PENDING} pending in that"
    )
    return {"claim_ms": in_turn(cases, 40 if bench.quick else 100)}


@scenario(
    "200 queues, all idle but one",
    rounds=7,
    quick_rounds=3,
    warmups=1,
    targets=(
        AtMost("all_ms", 3, of="single_ms", stat="p50"),
        AtMost("look_ms", 10, unit="ms", stat="p95", label="one look over all"),
    ),
)
def queues(bench: Bench[Cluster]) -> Sample:
    """A claim that names 200 queues, of which one has jobs, beside one that names the only queue of its database."""
    cases = bench.once("cases", lambda: {"all": _among_idle(bench), "single": _pending(bench, PENDING)})
    times = in_turn(cases, 40 if bench.quick else 100)
    bench.details["look"] = LOOK
    return {
        "all_ms": times["all"],
        "single_ms": times["single"],
        "look_ms": [_look_ms(cases["all"].connection) for _ in range(40)],
    }


def _database(bench: Bench[Cluster]) -> Connection:
    """Kept until the scenario's last round."""
    return bench.held.enter_context(bench.prepared.connection())


def _pending(bench: Bench[Cluster], jobs: int) -> Steady:
    connection = _database(bench)
    history.go_on_in_one(connection, jobs + 1_000_000)
    pulse.load(connection, jobs, progress=bench.progress)
    return Steady(connection)


def _kept(bench: Bench[Cluster], kept: int) -> Steady:
    connection = _database(bench)
    history.keep_partitions(connection, kept, bench.progress)
    pulse.load(connection, PENDING)
    return Steady(connection)


def _among_idle(bench: Bench[Cluster]) -> Steady:
    """Every queue has had jobs; all but one have none left."""
    connection = _database(bench)
    for queue in QUEUES:
        pulse.enqueue(connection, 10, queue=queue)
    claimer = Claimer(connection, QUEUES)
    claimer.discover()
    for _ in pulse.drain(claimer, 10 * len(QUEUES)):
        pass
    pulse.load(connection, PENDING, queue=BUSY)
    return Steady(connection, queue=BUSY, queues=QUEUES)


def _look_ms(connection: Connection) -> float:
    started = time.perf_counter()
    connection.execute(LOOK, (pulse.array(QUEUES),)).fetchall()
    return (time.perf_counter() - started) * 1000
