"""Adding jobs: one by one beside a plain INSERT, and many at once beside a raw COPY."""

import time
from collections.abc import Callable
from typing import NamedTuple

from psycopg import sql

from benchmarks import AtLeast, AtMost, Bench, Sample, scenario
from benchmarks.store.cluster import Cluster, Connection, connected
from benchmarks.store.meters import cpu_s
from benchmarks.store.pulse import ARGS, fresh_ids
from pulse_runtime import Job, enqueue_many

PLAIN_TABLE = """create table baseline.plain (
  id           uuid        primary key,
  queue        text        not null,
  kind         text        not null,
  args         json        not null,
  submitted_at timestamptz not null default now()
)"""
PLAIN_INDEX = "create index plain_queue on baseline.plain (queue, submitted_at)"
PLAIN = """insert into baseline.plain (id, queue, kind, args)
values (%s::text::uuid, %s, %s, %s::text::json) returning id::text"""
PULSE = "select pulse.enqueue_plain(id => %s::text::uuid, queue => %s, kind => %s, args => %s::text::json)::text"

COPIED = """create table baseline.copied (
  like pulse.log including defaults including generated including indexes including storage)"""
COPY = "copy baseline.copied (submitted_at, id, lane_id, priority, queue, kind, args) from stdin"
CALL = 10_000
MAIL = {"to": "someone@example.com", "subject": "hello"}


class Cost(NamedTuple):
    """Of one session: statements per second, and its backend's CPU for each."""

    rate: float
    cpu_us: float


@scenario(
    "single enqueue in its own transaction",
    rounds=9,
    quick_rounds=5,
    warmups=1,
    targets=(AtLeast("rate", 0.85, of="plain_rate"), AtMost("cpu_us", 2, of="plain_cpu_us", label="backend CPU")),
)
def single(bench: Bench[Cluster]) -> Sample:
    """The same client sends what `pulse_runtime.enqueue` sends for such a job and a plain INSERT of the same values,
    prepared, durable."""
    statements = 2_000 if bench.quick else 5_000
    bench.details["baseline"] = f"{PLAIN_TABLE};\n{PLAIN_INDEX};\n{PLAIN}"
    bench.details["pulse"] = PULSE
    dsn = bench.once("database", lambda: _plain_database(bench))
    runs = bench.interleaved(
        pulse=lambda: _one_by_one(dsn, PULSE, statements), plain=lambda: _one_by_one(dsn, PLAIN, statements)
    )
    ours, plain = runs["pulse"], runs["plain"]
    return {"rate": ours.rate, "plain_rate": plain.rate, "cpu_us": ours.cpu_us, "plain_cpu_us": plain.cpu_us}


@scenario(
    "enqueue_many, 10,000 a call",
    rounds=9,
    quick_rounds=5,
    warmups=1,
    targets=(AtLeast("rate", 80_000, unit="jobs/s", otherwise=AtLeast("rate", 0.3, of="copy_rate")),),
)
def many(bench: Bench[Cluster]) -> Sample:
    """`pulse_runtime.enqueue_many(jobs, on=connection)` from a list of `Job` to the commit, checks and ids included.

    Beside COPY of lines that were written before the clock started, with the same values, into a plain table with the
    log's columns and indexes, but neither partitions nor CHECKs.
    """
    calls = 2 if bench.quick else 5
    bench.details["baseline"] = f"{COPIED};\n{COPY}"
    with bench.prepared.connection() as connection:
        connection.execute(COPIED)
        return bench.interleaved(
            rate=lambda: _rate(calls, lambda: _enqueue_many(connection)),
            copy_rate=lambda: _rate(calls, lambda: _copy(connection)),
        )


def _plain_database(bench: Bench[Cluster]) -> str:
    dsn = bench.held.enter_context(bench.prepared.database())
    with connected(dsn) as connection:
        connection.execute(PLAIN_TABLE)
        connection.execute(PLAIN_INDEX)
    return dsn


def _one_by_one(dsn: str, statement: str, statements: int) -> Cost:
    ids = fresh_ids(statements + 50)
    with connected(dsn) as connection:
        backend = connection.info.backend_pid
        send = connection.cursor().execute
        for each in ids[:50]:
            send(statement.encode(), (each, "default", "mail", ARGS))
        before, started = cpu_s(backend), time.perf_counter()
        for each in ids[50:]:
            send(statement.encode(), (each, "default", "mail", ARGS))
        seconds, used = time.perf_counter() - started, cpu_s(backend) - before
    return Cost(rate=statements / seconds, cpu_us=used / statements * 1e6)


def _rate(calls: int, call: Callable[[], float]) -> float:
    return calls * CALL / sum(call() for _ in range(calls))


def _enqueue_many(connection: Connection) -> float:
    jobs = [Job("mail", MAIL) for _ in range(CALL)]
    started = time.perf_counter()
    enqueue_many(jobs, on=connection)
    return time.perf_counter() - started


def _copy(connection: Connection) -> float:
    text = ARGS.replace("\\", "\\\\")
    fixed = f"1\t0\tdefault\tmail\t{text}"
    lines = "".join(f"2026-01-01 00:00:00+00\t{each}\t{fixed}\n" for each in fresh_ids(CALL)).encode()
    started = time.perf_counter()
    with connection.cursor().copy(sql.SQL(COPY)) as copy:
        copy.write(lines)
    return time.perf_counter() - started
