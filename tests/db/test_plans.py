"""Hot statements at a million rows in 60 partitions: no table is scanned, and hardly more is read than is used."""

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from cluster_kit import TEMPLATE, Cluster
from fix_cluster import Connection, database
from plan_kit import Work, buffers_of, watched
from store_kit import Store

PARTITIONS = 60
ROWS = 1_000_000
BATCH = 500
BIG = {"claim", "lease", "done", "delayed", "place", "outcome", "failure", "key"}

# Two queues in one log: "mail" has a long history and little to do, "bulk" a backlog as long as the log.
# An hour's jobs in each partition, and ids that tell the hour.
LOG = """
  insert into pulse.log (submitted_at, id, kind, queue, lane_id)
    select now(), (left(h.ms, 8) || right(h.ms, 4) || '70008000' || lpad(to_hex(i), 12, '0'))::uuid, 'k',
           q.name, pulse.lane_id(q.name, 0::smallint, 0::smallint)
      from generate_series(1, %(rows)s) i, lateral (select case when i %% 4 = 0 then 'bulk' else 'mail' end) q(name),
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


def test_an_empty_poll_reads_next_to_nothing(store: Store) -> None:
    """Trap 10: by rows and buffers, which a busy machine does not change."""
    for _ in range(3):
        store.enqueue(queue="quiet")
        store.settle(store.claim(1, ("quiet",))[0])
    question = "select * from pulse.claim(%s, 9, '{quiet}', '{1}', 500)"
    work = work_of(store, question, store.executor)
    assert_no_scan(work)
    assert work.log_rows == 0
    assert work.rows["claim"] <= 4
    assert len(work.partitions) <= 4
    assert buffers_of(store.connection, question, store.executor) <= 40


def test_a_settle_reads_its_claim_and_lease(store: Store) -> None:
    """Trap 13: and no other lease, however many there are, though the plan was made when there were few."""
    batch, more = store.claim(BATCH, ("bulk",))[0], store.claim(BATCH, ("bulk",))[0]
    store.settle(batch)
    for _ in range(10):
        store.claim(1, ("bulk",))
    with watched(store.connection) as work:
        assert store.settle(more) == BATCH
    assert_no_scan(work)
    assert work.log_rows == 0
    assert work.rows["lease"] <= 4


def test_a_close_finds_each_job_in_the_partition_that_the_ledger_names(store: Store) -> None:
    (batch,) = store.claim(200, ("bulk",))
    values = [batch.claim] * 100, [batch.token] * 100
    call = "select pulse.fail(%s, %s, %s::int[], %s, %s::bigint[])"
    store.ask(call, *values, list(range(100)), ["x"] * 100, [0] * 100)
    with watched(store.connection) as work:
        assert store.ask(call, *values, list(range(100, 200)), ["x"] * 100, [0] * 100) == 100
    assert_no_scan(work)
    assert work.log_rows <= 200
    assert len(work.partitions) <= 3
    assert work.rows["claim"] <= 4


@pytest.mark.parametrize("number", [1, ROWS // 2, ROWS - 50])
def test_a_lookup_asks_the_partitions_of_its_hour(store: Store, number: int) -> None:
    job = store.ask("select id from pulse.log where seq = %s", number)
    work = work_of(store, "select status from pulse.get(%s)", job)
    assert_no_scan(work)
    assert work.log_rows <= 2
    assert len(work.partitions) <= 4
    assert work.rows.get("claim", 0) <= 4


def test_discovery_looks_above_its_floor(store: Store) -> None:
    for _ in range(3):
        store.enqueue(queue="mail")
        store.ask("select pulse.discover()")
    store.enqueue(queue="mail")
    with watched(store.connection) as work:
        store.ask("select pulse.discover()")
    assert_no_scan(work)
    assert work.log_rows <= 10
    assert len(work.partitions) <= 4


def test_a_look_reads_a_few_rows_for_each_lane(store: Store) -> None:
    work = work_of(store, "select * from pulse.look('{mail,bulk}', %s)", [store.executor])
    assert_no_scan(work)
    assert work.log_rows <= 10 + PARTITIONS  # the first row of the backlog is looked for in all of them
    assert work.rows.get("claim", 0) <= 4
    assert work.rows["delayed"] == 1


def test_a_promotion_reads_what_is_due(store: Store) -> None:
    store.ask("select pulse.promote(100)")
    with watched(store.connection) as work:
        assert store.ask("select moved from pulse.promote(100)") == 100
    assert_no_scan(work)
    assert work.rows["delayed"] <= 4 * 100
    assert work.log_rows == 0


def test_a_cancel_reads_one_job(store: Store) -> None:
    question = "select id from pulse.log where queue = 'bulk' and seq > %s order by seq limit 1"
    one, two = (store.ask(question, number) for number in (ROWS * 0.9, ROWS * 0.95))
    store.ask("select pulse.cancel(%s)", one)
    with watched(store.connection) as work:
        assert store.ask("select pulse.cancel(%s)", two) == "CANCELED"
    assert_no_scan(work)
    assert work.log_rows <= 8
    assert len(work.partitions) <= 4


@pytest.mark.parametrize("queue", ["mail", "bulk"])
def test_a_fetch_reads_its_batch(store: Store, queue: str) -> None:
    (batch,) = store.claim(100, (queue,))
    work = work_of(store, "select pulse.fetch(%s, %s)", batch.claim, batch.token)
    assert_no_scan(work)
    assert work.log_rows <= 200


def test_a_reap_finds_what_its_executor_held_and_no_more(store: Store) -> None:
    """Trap 7: in the partitions that the ledger names, one lease after the other."""
    for _ in range(3):
        store.claim(100, ("bulk",))
    first = Store(store.connection)
    first.claim(1, ("bulk",))
    store.ask("select pulse.reap(%s, 0)", first.executor)
    with watched(store.connection) as work:
        assert store.ask("select pulse.reap(%s, 0)", store.executor) == 300
    assert_no_scan(work)
    assert work.log_rows <= 2 * 300
    assert len(work.partitions) <= 3
    assert work.rows["claim"] <= 3 * 4
    assert work.rows["lease"] <= 3 * 6


def test_a_burial_reads_what_it_is_told_of(store: Store) -> None:
    call = (
        "select settled + ended + given_back from pulse.bury(%s, 'gone', array[%s::bigint], array[%s::uuid],"
        " array[%s::bit varying], array[%s::bigint], array[%s::uuid], '{1}', '{suspect}', '{x}', 'release')"
    )
    for _ in range(2):  # the first one fills the caches of the session
        dead = Store(store.connection)
        (batch,) = dead.claim(100, ("bulk",))
        held = batch.claim, batch.token
        with watched(store.connection) as work:
            assert store.ask(call, dead.executor, *held, "1" + "0" * 99, *held) == 100
    assert_no_scan(work)
    assert work.log_rows <= 2 * 100
    assert len(work.partitions) <= 3
    assert work.rows["claim"] <= 12


@pytest.mark.parametrize("status", [None, "PENDING", "RUNNING", "COMPLETED", "RETRYING", "DEAD_LETTERED", "CANCELED"])
def test_a_page_of_a_list_reads_about_a_page_however_many_jobs_there_are(store: Store, status: str | None) -> None:
    work = work_of(store, "select * from pulse.list(status => %s, most => 50)", status)
    assert not work.sequential & (BIG - {"lease"} | work.partitions)  # what runs is listed whole
    # It reads 5,000 candidates at most, whatever it has found; what other tests made fail is looked up row by row.
    failed = store.ask("select count(*) from pulse.failure") if status == "RETRYING" else 0
    assert sum(work.rows.values()) <= 6_000 + 6 * failed


def test_counts_read_no_more_than_they_were_told_to(store: Store) -> None:
    work = work_of(store, "select * from pulse.counts(1000)")
    assert not work.sequential & (BIG - {"lease"} | work.partitions)
    assert sum(work.rows.values()) <= 10 * 1000
