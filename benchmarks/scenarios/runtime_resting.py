"""What a runtime costs that has nothing to do, and what it keeps when it has done much."""

import time
from collections.abc import Sequence

from benchmarks import AtMost, Bench, Sample, scenario
from benchmarks.runtime.draining import drain, load
from benchmarks.store.cluster import Cluster
from pulse_loadgen import meters
from pulse_loadgen.stamps import stamps
from pulse_loadgen.tree import Shape, Tree
from pulse_runtime.store.connect import Connection, connect

SETTLE_S = 6.0
BEAT_S = 5.0
WALINSPECT = "create extension if not exists pg_walinspect"
# Of Pulse's tables alone: the server writes a little by itself, and vacuums its catalogues whenever it likes. Commits
# belong to no relation. Without the images of pages that are written to for the first time since a checkpoint, whoever
# writes first.
WRITTEN = """select coalesce(sum(record_length - fpi_length), 0)::bigint from pg_get_wal_records_info(%s, %s)
 where substring(block_ref from 'rel [0-9]+/([0-9]+/[0-9]+)') in (
   select d.oid || '/' || c.relfilenode from pg_class c, pg_database d
    where c.relnamespace = 'pulse'::regnamespace and d.datname = current_database())"""
EXTEND = "select pulse.extend(array(select id from pulse.executor where ended_at is null))"


@scenario(
    "an idle runtime",
    rounds=3,
    quick_rounds=1,
    targets=(
        AtMost("transactions", 5, unit="per s", stat="max", label="transactions"),
        AtMost("cpu", 1, unit="% of a core", stat="max", label="CPU"),
        AtMost("wal", 1.05, of="beats", label="WAL, beside the same beats by hand"),
    ),
)
def idle(bench: Bench[Cluster]) -> Sample:
    """All processes of the tree together, two executors, defaults. Six seconds after it was up."""
    for_s = 15.0 if bench.quick else 40.0
    bench.details["baseline"] = f"as many times as there were beats, {EXTEND}"
    bench.details["WAL"] = WRITTEN
    with (
        bench.prepared.database() as dsn,
        stamps(1) as noted,
        connect(dsn, actor="benchmark") as connection,
        Tree(dsn, Shape(), noted.path) as tree,
    ):
        connection.execute(WALINSPECT)
        connection.execute("vacuum analyze")  # now, so that it does not come by itself
        time.sleep(SETTLE_S)
        begin = _position(connection)
        before = meters.read(connection, tree.actors())
        beats = _beats(connection)
        time.sleep(for_s)
        after = meters.read(connection, tree.actors())
        beats = _beats(connection) - beats
        written = _written_since(connection, begin)
        by_hand = _wal_of(connection, beats // 2)
    used = after.cpu_since(before)
    used.pop("postgres", None)
    return {
        "transactions": (after.transactions - before.transactions) / for_s,
        "cpu": 100 * sum(used.values()) / for_s,
        "wal": written,
        "beats": by_hand,
    }


@scenario(
    "memory over 1 M jobs",
    rounds=1,
    targets=(
        AtMost("supervisor", 30, unit="MB", stat="max", label="supervisor"),
        AtMost("actors", 60, unit="MB", stat="max", label="claimer and reporter"),
        AtMost("growth", 1.05, unit="×", stat="max", label="growth of any process"),
    ),
)
def memory(bench: Bench[Cluster]) -> Sample:
    """Resident, what is shared with the supervisor included. Growth: at the end, beside after the first tenth."""
    jobs = 200_000 if bench.quick else 1_000_000
    bench.details["jobs"] = f"{jobs}, two executors"
    peaks: list[dict[str, float]] = [{}, {}]

    def seen(done: int, trees: Sequence[Tree]) -> None:
        now = {name: meters.rss_mb(pid) for name, pid in trees[0].actors().items()}
        early = peaks[0] if done <= jobs / 10 else peaks[1]
        early.update({name: max(early.get(name, 0.0), mb) for name, mb in now.items()})

    with bench.prepared.database() as dsn:
        load(dsn, jobs)
        drain(dsn, jobs, [Shape()], seen=seen)
    bench.details["MB after the first tenth"] = _told(peaks[0])
    bench.details["MB at most after that"] = _told(peaks[1])
    return {
        "supervisor": peaks[1]["supervisor"],
        "actors": max(peaks[1]["claimer-1"], peaks[1]["reporter-1"]),
        "growth": max(mb / peaks[0][name] for name, mb in peaks[1].items()),
    }


def _beats(connection: Connection) -> int:
    return int(connection.execute("select sum(beats) from pulse.executor").fetchall()[0][0])


def _wal_of(connection: Connection, extensions: int) -> int:
    """Two executors are extended at once. A beat of the runtime may fall into these few ms, which is in its favour."""
    begin = _position(connection)
    for _ in range(extensions):
        connection.execute(EXTEND)
    return _written_since(connection, begin)


def _position(connection: Connection) -> str:
    return str(connection.execute("select pg_current_wal_insert_lsn()").fetchall()[0][0])


def _written_since(connection: Connection, begin: str) -> int:
    return int(connection.execute(WRITTEN, (begin, _position(connection))).fetchall()[0][0])


def _told(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {mb:.1f}" for name, mb in found.items())
