"""How late schedules fire, what an idle crowd of them costs, and how long a herd takes. All by the server's clock."""

import time
from typing import Any

from benchmarks import AtMost, Bench, Sample, scenario
from benchmarks.store import meters
from benchmarks.store.cluster import Cluster, Connection, connected
from pulse_loadgen.stamps import stamps
from pulse_loadgen.tree import Shape, Tree, until

LOOKING_S = 30
SHAPE = Shape(handlers="benchmarks.runtime.ticks", executors=1)
# Every 100 s, each second's hundred at another one of those: 100 are due in each second.
SPREAD = """select count(pulse.add_schedule('s' || i, 'every', '100s', 'tick', lookahead_s => %s,
  anchor => date_trunc('second', now()) + (i %% 100) * interval '1 s')) from generate_series(1, %s) i"""
HERD = """select count(pulse.add_schedule('s' || i, 'once', %s::text, 'tick', lookahead_s => %s))
  from generate_series(1, %s) i"""
IDLE = """select count(pulse.add_schedule('s' || i, 'cron', '0 3 1 1 *', 'tick')) from generate_series(1, %s) i"""
CLAIMED = """with claimed as (select unnest(c.ids) as id, c.at from pulse.claim c where c.at > %s)
  select extract(epoch from k.at - o.due_at)::float8 * 1000 from claimed k
    join pulse.occurrence o on o.job_id = k.id where o.due_at >= %s and o.due_at < %s"""


@scenario(
    "10,000 schedules, 100 due per second, for 60 s",
    rounds=1,
    quick_rounds=1,
    targets=(
        AtMost("late_ms", 50, unit="ms", stat="p50", label="lateness p50"),
        AtMost("late_ms", 250, unit="ms", stat="p99", label="lateness p99"),
        AtMost("cpu", 0.15, unit="of a core", label="Postgres CPU"),
    ),
)
def steady(bench: Bench[Cluster]) -> Sample:
    """From when an occurrence was due to the claim of its job; that every one was claimed is checked."""
    for_s = 10 if bench.quick else 60
    bench.details["schedules"] = f"10,000 of every 100s, 100 at each second, lookahead 60 s; {for_s} s; one executor"
    with bench.prepared.database() as dsn, connected(dsn) as connection, stamps(1) as noted:
        connection.execute(SPREAD, (60, 10_000))
        connection.execute("vacuum analyze pulse.schedule")
        with Tree(dsn, SHAPE, noted.path):
            settled(connection)
            begin = one(connection, "select date_trunc('second', now()) + interval '2 s'")
            wait_until(connection, begin)
            before = meters.server_cpu_s(bench.prepared.postmaster)
            wait_until(connection, one(connection, "select %s + %s * interval '1 s'", begin, for_s))
            cpu = (meters.server_cpu_s(bench.prepared.postmaster) - before) / for_s
            time.sleep(1.0)
            end = one(connection, "select %s + %s * interval '1 s'", begin, for_s)
            late = [row[0] for row in connection.execute(CLAIMED, (begin, begin, end)).fetchall()]
    if len(late) != 100 * for_s:
        raise RuntimeError(f"{len(late)} of {100 * for_s} occurrences were claimed")
    return {"late_ms": late, "cpu": cpu}


@scenario(
    "100,000 schedules, none due",
    rounds=1,
    quick_rounds=1,
    targets=(
        AtMost("rows", 4, unit="rows", label="rows read by a look"),
        AtMost("rows_of_due", 4, unit="rows", label="rows read for each that is due"),
        AtMost("looks", 2, unit="/s", label="looks"),
    ),
)
def idle(bench: Bench[Cluster]) -> Sample:
    """What `pulse.due_schedules` reads, with none and with 100 of them due, and how often a runtime at rest asks it."""
    count = 20_000 if bench.quick else 100_000
    bench.details["schedules"] = f"{count} of cron, next year"
    with bench.prepared.database() as dsn, connected(dsn) as connection, stamps(1) as noted:
        connection.execute(
            f"alter database {connection.info.dbname} set track_functions = 'pl'".encode(), prepare=False
        )
        connection.execute(IDLE, (count,))
        connection.execute("vacuum analyze pulse.schedule")
        with Tree(dsn, SHAPE, noted.path):
            settled(connection, within_s=120)
            time.sleep(2)  # what was looked at before is counted a second late, too
            before = _looks(connection)
            time.sleep(LOOKING_S)  # what a session has done is counted up to a second later
            looks = (_looks(connection) - before) / LOOKING_S
        none = _rows(connection)
        connection.execute(
            "update pulse.schedule set look_at = now() where name in (select 's' || i from generate_series(1, 100) i)"
        )
        connection.execute("vacuum analyze pulse.schedule")
        return {"rows": none, "rows_of_due": (_rows(connection) - none) / 100, "looks": looks}


@scenario(
    "a herd: 10,000 schedules due at the same second",
    rounds=2,
    quick_rounds=1,
    targets=(
        AtMost("at_once_s", 2, unit="s", label="fired when due"),
        AtMost("ahead_s", 2, unit="s", label="fired ahead"),
    ),
)
def herd(bench: Bench[Cluster]) -> Sample:
    """From when they were due until the last of their jobs could be claimed."""
    bench.details["schedules"] = "10,000 of once; lookahead 0 and 60 s; one executor runs them meanwhile"
    return bench.interleaved(at_once_s=lambda: _herd(bench.prepared, 0), ahead_s=lambda: _herd(bench.prepared, 60))


def _herd(cluster: Cluster, lookahead_s: int) -> float:
    with cluster.database() as dsn, connected(dsn) as connection, stamps(1) as noted:
        due = one(connection, "select date_trunc('second', now()) + interval '12 s'")
        connection.execute(HERD, (due.isoformat(), lookahead_s, 10_000))
        connection.execute("vacuum analyze pulse.schedule")
        with Tree(dsn, SHAPE, noted.path):
            settled(connection)
            wait_until(connection, due)
            until(
                lambda: one(connection, "select count(*) from pulse.log") == 10_000,
                within_s=30,
                what="the herd",
                every_s=0.02,
            )
            return float(one(connection, "select extract(epoch from clock_timestamp() - %s)::float8", due))


def settled(connection: Connection, *, within_s: float = 60) -> None:
    """The scheduler has seen every schedule that wanted to be seen."""
    waiting = "select count(*) from pulse.schedule where look_at <= now()"
    until(lambda: one(connection, waiting) == 0, within_s=within_s, what="the scheduler", every_s=0.1)


def wait_until(connection: Connection, moment: Any) -> None:
    left = one(connection, "select extract(epoch from %s - clock_timestamp())::float8", moment)
    if left < 0:
        raise RuntimeError(f"the moment to begin passed {-left:.1f} s ago")
    time.sleep(left)


def one(connection: Connection, question: str, *values: Any) -> Any:
    return connection.execute(question.encode(), values).fetchall()[0][0]


def _looks(connection: Connection) -> int:
    calls = "select coalesce(sum(calls), 0)::bigint from pg_stat_user_functions where funcname = 'due_schedules'"
    connection.execute("select pg_stat_clear_snapshot()")
    return int(one(connection, calls))


def _rows(connection: Connection) -> int:
    connection.execute("select * from pulse.due_schedules(5000)")
    before = meters.rows_read(connection)
    connection.execute("select * from pulse.due_schedules(5000)")
    return meters.rows_read(connection) - before


ROWS = (steady, idle, herd)
