"""Looking one job up among millions that were kept."""

import random
import time
from uuid import UUID

from benchmarks import AtMost, Bench, Sample, scenario
from benchmarks.store import history
from benchmarks.store.cluster import Cluster, Connection

GET = "select status from pulse.get(%s)"
SOME = "select id from pulse.log tablesample bernoulli (%s)"
LOOKUPS = 500
DAYS = 10


@scenario(
    "status by id at 5 M jobs kept",
    rounds=5,
    quick_rounds=3,
    warmups=1,
    targets=(AtMost("get_ms", 0.6, unit="ms", stat="p50"),),
)
def status(bench: Bench[Cluster]) -> Sample:
    """`pulse.get` of settled jobs, picked at random from ten days with a partition each; never the same one twice."""
    jobs = 500_000 if bench.quick else 5_000_000
    connection, ids = bench.once("kept", lambda: _kept(bench, jobs))
    bench.details["get"] = GET
    return {"get_ms": [_get_ms(connection, ids.pop()) for _ in range(LOOKUPS)]}


def _kept(bench: Bench[Cluster], jobs: int) -> tuple[Connection, list[UUID]]:
    connection = bench.held.enter_context(bench.prepared.connection())
    history.keep_days(connection, jobs, DAYS, bench.progress)
    ids = [row[0] for row in connection.execute(SOME, (100 * 20_000 / jobs,)).fetchall()]
    random.Random(1).shuffle(ids)
    return connection, ids


def _get_ms(connection: Connection, job_id: UUID) -> float:
    started = time.perf_counter()
    rows = connection.execute(GET, (job_id,)).fetchall()
    took_ms = (time.perf_counter() - started) * 1000
    if rows != [("COMPLETED",)]:
        raise RuntimeError(f"a settled job is {rows}")
    return took_ms
