"""Rows of `make bench ARGS=store`: the store's SQL through one client, beside a well-tuned status table."""

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from benchmarks import AtLeast, Bench, Sample, scenario
from benchmarks.scenario import Setup
from pulse_runtime.embedded import Server
from pulse_sql import migrations

BATCH = 500
ARGS = '{"to": "someone@example.com", "subject": "hello"}'
BASELINE = Path(__file__).parents[1] / "baseline.sql"
BASELINE_CLAIM = """
update baseline.job set status = 'running', claimed_by = 1, claimed_at = now() where id = any (array(
  select id from baseline.job where queue = 'default' and status = 'pending'
   order by priority desc, id limit 500 for update skip locked)) returning id, kind, args, attempt, max_attempts
"""
BASELINE_SETTLE = (
    "update baseline.job set status = 'done', finished_at = now() where id = any (%s) and status = 'running'"
)

Connection = psycopg.Connection[Any]


@contextlib.contextmanager
def prepare(setup: Setup) -> Iterator[Connection]:
    """A durable server of its own with both schemas, and a connection to it."""
    folder = Path(tempfile.mkdtemp(prefix="pulse-bench-"))
    settings = {"shared_buffers": "1GB", "max_wal_size": "8GB"}
    try:
        with Server(folder / "home", settings=settings) as dsn, psycopg.connect(dsn, autocommit=True) as connection:
            connection.prepare_threshold = 2
            for migration in migrations():
                connection.execute(migration.sql.encode())
            connection.execute(BASELINE.read_bytes())
            setup.facts["postgres"] = str(connection.execute("show server_version").fetchall()[0][0])
            setup.facts["settings"] = str(settings)
            yield connection
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@scenario(
    "drain, batches of 500, 1 client",
    rounds=7,
    quick_rounds=3,
    warmups=1,
    targets=(AtLeast("pulse", 2.5, of="baseline"),),
)
def drain(bench: Bench[Connection]) -> Sample:
    """Jobs per second from a full table to an empty one: claim, then settle, each its own durable transaction."""
    jobs = 50_000 if bench.quick else 200_000
    bench.details["baseline"] = BASELINE.read_text() + BASELINE_CLAIM + BASELINE_SETTLE
    return bench.interleaved(
        pulse=lambda: _drain_pulse(bench.prepared, jobs), baseline=lambda: _drain_baseline(bench.prepared, jobs)
    )


def _drain_pulse(connection: Connection, jobs: int) -> float:
    connection.execute(
        "insert into pulse.log (submitted_at, id, kind, args) select now(), pulse.uuid7(), 'mail', %s::json "
        "from generate_series(1, %s)",
        (ARGS, jobs),
    )
    connection.execute("select pulse.discover()")
    connection.execute("vacuum analyze pulse.log")
    executor = connection.execute("select pulse.register_executor('bench', 'here', 'boot', 1)").fetchall()[0][0]
    done, request, started = 0, 0, time.perf_counter()
    claim = "select claim, token, n, jobs from pulse.claim(%s, %s, '{default}', '{1}', 500)"
    while done < jobs:
        request += 1
        batches = connection.execute(claim, (executor, request)).fetchall()
        took = [1000] * sum(batch[2] for batch in batches)
        masks = ["1" * batch[2] for batch in batches]
        values = ([batch[0] for batch in batches], [batch[1] for batch in batches], masks, took)
        row = connection.execute("select settled from pulse.settle(%s, %s, %s::bit varying[], %s)", values).fetchone()
        done += row[0] if row else 0
    return jobs / (time.perf_counter() - started)


def _drain_baseline(connection: Connection, jobs: int) -> float:
    connection.execute(
        "insert into baseline.job (kind, args) select 'mail', %s::json from generate_series(1, %s)", (ARGS, jobs)
    )
    connection.execute("vacuum analyze baseline.job")
    done, started = 0, time.perf_counter()
    while done < jobs:
        rows = connection.execute(BASELINE_CLAIM.encode()).fetchall()
        connection.execute(BASELINE_SETTLE, ([row[0] for row in rows],))
        done += len(rows)
    rate = jobs / (time.perf_counter() - started)
    connection.execute("truncate baseline.job")
    return rate


ROWS = (drain,)
