"""Hot statements at a million rows in 60 partitions: no table is scanned, and hardly more is read than is used."""

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from cluster_kit import TEMPLATE, Cluster
from fix_cluster import Connection, database
from plan_kit import Work, watched
from store_kit import Store

PARTITIONS = 60
ROWS = 1_000_000
BATCH = 500
BIG = {"claim", "lease", "done", "delayed", "place", "outcome", "failure", "key"}

# Two queues in one log: "mail" has a long history and little to do, "bulk" a backlog as long as the log.
# An hour's jobs in each partition, and ids that tell the hour.
LOG = """
  insert into pulse.log (submitted_at, id, kind, queue)
    select now(), (left(h.ms, 8) || right(h.ms, 4) || '70008000' || lpad(to_hex(i), 12, '0'))::uuid, 'k',
           case when i %% 4 = 0 then 'bulk' else 'mail' end
      from generate_series(1, %(rows)s) i,
           lpad(to_hex(%(first_ms)s + i::bigint * 3600000 / %(width)s), 12, '0') h(ms)
"""
HOURS = """
  update pulse.partition p
     set opened_at = to_timestamp(%(first_ms)s / 1000.0) + (p.lower_seq / %(width)s) * interval '1 h',
         closed_at = to_timestamp(%(first_ms)s / 1000.0) + (p.upper_seq / %(width)s) * interval '1 h'
   where p.lower_seq < %(rows)s
"""
HISTORY = """
  with numbered as (
    select j.*, row_number() over (order by j.seq) as nr from pulse.log j where j.queue = 'mail' and j.seq <= %(upto)s),
  claims as (
    insert into pulse.claim (token, executor, request, at, queue, priority, lane, n, x, s, late_x, late_s,
                             floor_s, next_x, next_s, ids, seqs)
      select gen_random_uuid(), 0, (nr - 1) / 500, now(), 'mail', 0, 0, (nr - 1) / 500 + 1, max(xid), max(seq), '{}',
             '{}', min(seq) - 1, max(xid), max(seq), array_agg(id order by seq), array_agg(seq order by seq)
        from numbered group by (nr - 1) / 500 returning id, ids)
  insert into pulse.done (claim, at, mask, took_us)
    select id, now(), repeat('1', cardinality(ids))::bit varying, array_fill(5, array[cardinality(ids)]) from claims
"""
DELAYED = """
  insert into pulse.delayed (id, run_at, submitted_at, priority, lane, attempt, charged, max_attempts, queue, kind,
                             args)
    select pulse.uuid7(), now() + (i - 1000) * interval '1 min', now(), 0, 0, 1, 0, 25, 'mail', 'k', '{}'
      from generate_series(1, 20000) i
"""


@pytest.fixture(scope="module")
def filled(server: Cluster) -> Iterator[str]:
    with database(server, template=TEMPLATE) as dsn:
        with psycopg.connect(dsn, autocommit=True) as connection:
            fill(connection)
        yield dsn


def fill(connection: Connection) -> None:
    for (name,) in connection.execute("select name from pulse.partition").fetchall():
        connection.execute(f"drop table pulse.{name}".encode())
    connection.execute("truncate pulse.partition")
    connection.execute("set synchronous_commit = off")
    width = ROWS // (PARTITIONS - 2)
    first_ms = int(time.time() * 1000) - 3_600_000 * (PARTITIONS - 2)
    for _ in range(PARTITIONS):
        connection.execute("select pulse.add_partition(%s)", (width,))
    for statement in (LOG, HOURS):
        connection.execute(statement.encode(), {"rows": ROWS, "width": width, "first_ms": first_ms})
    connection.execute(HISTORY.encode(), {"upto": ROWS - 10 * BATCH})
    connection.execute(DELAYED.encode())
    connection.execute("select pulse.discover()")
    connection.execute("analyze")


@pytest.fixture
def store(filled: str) -> Iterator[Store]:
    """What a test changes is there for the next: each takes its own few out of a million."""
    with psycopg.connect(filled, autocommit=True) as connection:
        yield Store(connection)


def work_of(store: Store, question: str, *values: Any) -> Work:
    """Of the second call: the first one fills the caches of the session."""
    store.connection.execute(question.encode(), values).fetchall()
    with watched(store.connection) as work:
        store.connection.execute(question.encode(), values).fetchall()
    return work


def assert_no_scan(work: Work) -> None:
    assert not work.sequential & (BIG | work.partitions)


@pytest.mark.parametrize(("queue", "most_partitions"), [("mail", 4), ("bulk", PARTITIONS + 1)])
def test_a_claim_reads_its_batch_and_no_more(store: Store, queue: str, most_partitions: int) -> None:
    store.claim(BATCH, (queue,))
    with watched(store.connection) as work:
        (batch,) = store.claim(BATCH, (queue,))
    assert len(batch.jobs) == BATCH
    assert_no_scan(work)
    assert work.log_rows <= 2 * BATCH
    assert len(work.partitions) <= most_partitions
    assert work.rows["claim"] <= 20
