"""Retention: partitions made ahead and dropped, and that neither loses a job or holds anybody up."""

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from embedded_kit import eventually
from fix_cluster import Connect, Connection
from store_kit import Store

WIDTH = 100
NEVER = "interval '0'"


@pytest.fixture
def store(connection: Connection) -> Store:
    """With partitions of 100 numbers; those of a million that the schema comes with are gone."""
    names = connection.execute("select name from pulse.partition").fetchall()
    for (name,) in names:
        connection.execute(f"drop table pulse.{name}".encode())
    connection.execute("truncate pulse.partition")
    connection.execute(f"select pulse.keep_ahead('1 day', {WIDTH})".encode())
    return Store(connection)


def keep_ahead(store: Store) -> Any:
    """As if each partition had lasted for a day, so that the next one is no larger."""
    store.connection.execute(
        "update pulse.partition set opened_at = closed_at - interval '1 day' where closed_at is not null"
    )
    row = store.connection.execute(f"select * from pulse.keep_ahead('1 day', {WIDTH})".encode()).fetchone()
    assert row
    return row


def drop(store: Store, keep: str = NEVER) -> Any:
    row = store.connection.execute(f"select dropped, starved from pulse.drop_partitions({keep})".encode()).fetchone()
    assert row
    return row


def partitions(store: Store) -> list[str]:
    question = "select inhrelid::regclass::text from pg_inherits where inhparent = 'pulse.log'::regclass"
    return [row[0] for row in store.connection.execute(question.encode()).fetchall()]


def fill(store: Store, count: int) -> None:
    """Jobs, settled."""
    for _ in range(count):
        store.enqueue()
    for batch in store.claim(count):
        store.settle(batch)


def test_two_partitions_are_ahead_and_more_are_made_as_numbers_are_drawn(store: Store) -> None:
    assert sorted(partitions(store)) == ["log_1", "log_101", "log_default"]
    fill(store, 150)
    added, burnt, starved = keep_ahead(store)
    assert (added, burnt, starved) == (["log_201", "log_301"], 0, False)
    assert store.ask("select count(*) from pulse.log_default") == 0
    assert keep_ahead(store) == ([], 0, False)


def test_numbers_that_ran_past_the_last_partition_are_kept_and_claimed_all_the_same(store: Store) -> None:
    jobs = [store.enqueue() for _ in range(450)]
    assert store.ask("select count(*) from pulse.log_default") == 250
    added, _, _ = keep_ahead(store)
    assert added[0] == "log_451", "nothing is drawn while it is made"
    claimed = [job[0] for batch in store.claim(1000) for job in batch.jobs]
    assert claimed == [str(job) for job in jobs]
    assert {store.status(job) for job in jobs[::50]} == {"RUNNING"}


def test_a_partition_is_dropped_when_it_is_decided_and_old_enough(store: Store) -> None:
    fill(store, 120)
    keep_ahead(store)
    assert drop(store, "interval '1 hour'") == ([], False), "too young"
    assert drop(store) == (["log_1"], False)
    assert drop(store) == ([], False), "the sequence has not left the next one"
    assert store.ask("select count(*) from pulse.jobs") == 20


@pytest.mark.parametrize("state", ["pending", "late", "leased", "uncommitted"])
def test_a_partition_stays_as_long_as_one_job_in_it_is_not_decided(store: Store, connect: Connect, state: str) -> None:
    other = connect(autocommit=False)
    if state in ("late", "uncommitted"):
        other.execute("select pulse.enqueue(kind => 'late')")
    if state == "leased":
        store.enqueue(queue="slow")
        assert store.claim(1, ("slow",))
    if state == "pending":
        store.enqueue(queue="nobody", priority=-3)
    fill(store, 130)
    if state == "late":
        other.commit()
    keep_ahead(store)
    assert drop(store)[0] == []
    other.rollback()
    for batch in store.claim(10, ("nobody", "default")):
        store.settle(batch)
    store.connection.execute("select pulse.give_back(executor, 'dead', 'gone') from pulse.lease")
    assert drop(store) == (["log_1"], False)


def test_a_slow_log_is_cut_so_that_its_partition_comes_to_an_end(store: Store) -> None:
    job = store.enqueue()
    store.connection.execute("update pulse.partition set opened_at = opened_at - interval '2 days'")
    assert keep_ahead(store)[1] == WIDTH - 1
    assert keep_ahead(store)[1] == 0, "the next one has no number drawn"
    assert store.ask("select name from pulse.partition where closed_at is not null") == "log_1"
    other = store.enqueue()
    assert store.ask("select tableoid::regclass::text from pulse.log where id = %s", other) == "log_101"
    (batch,) = store.claim()
    assert [each[0] for each in batch.jobs] == [str(job), str(other)]


def test_partitions_are_made_although_the_last_range_was_seen_by_nobody_when_it_began(store: Store) -> None:
    """All partitions are gone, and numbers ran on into log_default; Postgres 15 cannot subtract infinity."""
    for (name,) in store.connection.execute("select name from pulse.partition").fetchall():
        store.connection.execute(f"drop table pulse.{name}".encode())
    store.connection.execute("truncate pulse.partition")
    fill(store, 150)
    assert store.ask("select cardinality(added) > 0 from pulse.keep_ahead('1 day', 100)")
    fill(store, 150)
    store.ask("select pulse.note_partitions()")
    closed = "select array_agg(name) from pulse.partition where opened_at = '-infinity' and closed_at is not null"
    assert store.ask(closed) == ["log_default"]
    fill(store, 100)
    assert store.ask("select cardinality(added) > 0 from pulse.keep_ahead('1 day', 100)")


def test_partitions_grow_with_the_rate(store: Store) -> None:
    fill(store, 110)
    keep_ahead(store)
    store.connection.execute(
        "update pulse.partition set opened_at = closed_at - interval '100 s' where closed_at is not null"
    )
    assert store.ask("select pulse.partition_width('500 s', 10)") == 5 * WIDTH
    assert store.ask("select pulse.partition_width('1 day', 10)") == 10 * WIDTH, "one burst is not a rate"


def test_what_fell_to_the_default_partition_is_emptied_when_it_is_decided_and_old(store: Store) -> None:
    fill(store, 450)
    keep_ahead(store)
    assert drop(store)[0] == ["log_1", "log_101"], "the range of log_default is not closed"
    fill(store, 11)
    keep_ahead(store)
    assert drop(store)[0] == ["log_default"]
    assert store.ask("select count(*) from pulse.log_default") == 0
    assert store.ask("select count(*) from pulse.jobs") == 11


def test_a_lookup_reads_the_partition_that_the_id_tells(store: Store) -> None:
    first = store.enqueue()
    fill(store, 250)
    keep_ahead(store)
    assert store.status(first) == "COMPLETED"
    plan = store.connection.execute(
        "explain (format text) select * from pulse.log j where id = %s and j.seq >= 1 and j.seq < 101", (first,)
    ).fetchall()
    assert sum("Index Scan" in row[0] for row in plan) == 1


def under_way(connect: Connect, what: str) -> Connection:
    """A transaction that reads or writes the log and stays open."""
    other = connect(autocommit=False)
    if what == "reader":
        other.execute("set transaction isolation level repeatable read")
        other.execute("select count(*) from pulse.log")
    elif what == "reader of one partition":
        other.execute("select from pulse.log where seq = 5")
    else:
        other.execute("select pulse.enqueue(kind => 'k', queue => 'elsewhere')")
    return other


@contextlib.contextmanager
def in_use(connect: Connect) -> Iterator[list[float]]:
    """Somebody enqueues, claims and settles meanwhile; how long each round took."""
    over, rounds = threading.Event(), list[float]()

    def use() -> None:
        user = Store(connect())
        while not over.is_set():
            began = time.monotonic()
            user.enqueue()
            for batch in user.claim():
                user.settle(batch)
            rounds.append(time.monotonic() - began)

    thread = threading.Thread(target=use)
    thread.start()
    try:
        assert eventually(lambda: bool(rounds), within_s=10.0)
        yield rounds
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("what", ["reader", "writer"])
def test_enqueues_and_claims_go_on_while_dropping_waits_for_a_lock(store: Store, connect: Connect, what: str) -> None:
    fill(store, 120)
    keep_ahead(store)
    other = under_way(connect, what)
    with in_use(connect) as rounds:
        # A writer that was open when the partition was closed may yet write into it; another one only holds the lock.
        assert [drop(store) for _ in range(10)] == [([], True)] * 10
        done = len(rounds)
        assert eventually(lambda: len(rounds) > done, within_s=10.0)
    assert max(rounds) < 1.0, "50 ms at a time, on a noisy machine"
    other.rollback()
    assert eventually(lambda: "log_1" in drop(store)[0], within_s=5.0)


@pytest.mark.parametrize("what", ["reader", "writer"])
def test_enqueues_and_claims_go_on_while_making_a_partition_waits_for_a_lock(
    store: Store, connect: Connect, what: str
) -> None:
    fill(store, 120)
    other = under_way(connect, what)
    with in_use(connect) as rounds:
        assert [keep_ahead(store) for _ in range(10)] == [([], 0, True)] * 10
        done = len(rounds)
        assert eventually(lambda: len(rounds) > done, within_s=10.0)
    assert max(rounds) < 1.0, "50 ms at a time, on a noisy machine"
    other.rollback()
    assert eventually(lambda: bool(keep_ahead(store)[0]), within_s=5.0)


@pytest.mark.parametrize("what", ["reader", "writer", "reader of one partition"])
def test_whoever_uses_the_log_keeps_partitions_from_being_made_and_nothing_fails(
    store: Store, connect: Connect, what: str
) -> None:
    """A transaction whose plans know the partitions of its first statement must not meet rows of another one.

    And a session that reads the list while it changes may keep the old one: so nobody reads it then.
    """
    other = under_way(connect, what)
    fill(store, 150)
    assert keep_ahead(store) == ([], 0, True)
    fill(store, 150)
    other.rollback()
    drawn = store.ask("select last_value from pulse.log_seq")
    assert keep_ahead(store)[0] == [f"log_{drawn + 1}", f"log_{drawn + 1 + WIDTH}"]
    assert store.ask("select count(*) from pulse.jobs where status = 'COMPLETED'") == 300


def test_pruning_keeps_what_the_log_needs_and_each_lanes_cursor(store: Store) -> None:
    for _ in range(25):
        fill(store, 10)
    keep_ahead(store)
    prune = f"select claims from pulse.prune({NEVER}, interval '1 day')"
    assert store.ask(prune) == 0, "their jobs are in the log"
    assert drop(store)[0] == ["log_1", "log_101"]
    assert store.ask(prune) == 20
    assert store.ask("select count(*) from pulse.done") == 5
    fill(store, 5)
    assert store.ask("select count(*) from pulse.jobs where status = 'COMPLETED'") == 55
    assert store.ask("select count(*) from pulse.jobs where status <> 'COMPLETED'") == 0


def test_failures_are_kept_longer_than_successes(store: Store) -> None:
    job = store.enqueue(max_attempts=1)
    (batch,) = store.claim()
    store.close(batch, "fail")
    fill(store, 120)
    keep_ahead(store)
    drop(store)
    store.ask("select pulse.prune(interval '0', interval '1 day')")
    assert store.status(job) == "DEAD_LETTERED"
    assert store.ask("select count(*) from pulse.failure") == 1
    store.ask("select pulse.prune(interval '0', interval '0')")
    assert store.ask("select count(*) from pulse.failure") == 0
    assert store.status(job) is None


def test_expired_keys_old_results_and_stale_wishes_are_pruned(store: Store) -> None:
    store.enqueue(key="short", key_for="1 ms")
    store.enqueue(key="long")
    (batch,) = store.claim()
    store.ask("select pulse.cancel(%s)", batch.jobs[0][0])
    store.settle(batch)
    store.connection.execute(
        "insert into pulse.result values (gen_random_uuid(), pulse.now() - interval '2 days', '1')"
    )
    store.connection.execute("update pulse.cancel_request set at = at - interval '2 hours'")
    time.sleep(0.002)
    row = store.connection.execute("select keys, results, wishes from pulse.prune(interval '1 day', interval '1 day')")
    assert row.fetchone() == (1, 1, 1)


def test_a_lane_that_nobody_uses_is_forgotten_and_found_again(store: Store) -> None:
    for _ in range(120):
        store.enqueue(queue="once")
    for batch in store.claim(200, ("once",)):
        store.settle(batch)
    fill(store, 120)
    keep_ahead(store)
    assert store.ask("select pulse.prune_lanes(interval '0')") == 0, "its jobs are in the log"
    drop(store)
    fill(store, 1)
    keep_ahead(store)
    drop(store)
    assert store.ask("select pulse.prune_lanes(interval '0')") == 1
    assert store.ask("select count(*) from pulse.claim where queue = 'once'") == 0
    job = store.enqueue(queue="once")
    (batch,) = store.claim(1, ("once",))
    assert batch.jobs[0][0] == str(job)


def test_maintenance_is_one_at_a_time(store: Store, connect: Connect) -> None:
    fill(store, 150)
    other = connect(autocommit=False)
    other.execute(f"select pulse.keep_ahead('1 day', {WIDTH})".encode())
    with store.connection.transaction():
        assert keep_ahead(store) == ([], 0, False)
        assert drop(store) == ([], False)
    other.rollback()


def test_a_statement_under_way_is_not_hurt_by_a_new_partition(store: Store, connect: Connect) -> None:
    """It knows the partitions of its start alone, and a row that belongs into a new one would be refused: one waits."""
    adding = connect()
    for _ in range(10):
        added: list[Any] = []
        statement = threading.Thread(
            target=lambda: adding.execute(
                "insert into pulse.log (submitted_at, id, kind, lane_id) select now(), gen_random_uuid(), 'k', 1 "
                "from generate_series(1, 40), pg_sleep(0.0005)"
            )
        )
        statement.start()
        added.append(keep_ahead(store))
        statement.join()
    assert store.ask("select count(*) from pulse.log") == 400


def test_the_owner_alone_makes_partitions_so_a_runtime_does_it_through_a_function(store: Store) -> None:
    from pulse_sql import grants

    store.connection.execute(grants().encode())
    store.connection.execute("set role pulse_runtime")
    fill(store, 150)
    assert store.ask("select added from pulse.keep_ahead('1 day', 100)") == ["log_201", "log_301"]
    assert drop(store) == (["log_1"], False)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        store.connection.execute("drop table pulse.log_101")


def test_a_lane_that_was_idle_opens_no_old_partition(store: Store) -> None:
    for _ in range(2):
        store.enqueue(queue="idle")
        for batch in store.claim(1, ("idle",)):
            store.settle(batch)
    for _ in range(3):
        fill(store, 110)
        keep_ahead(store)
    floor = "select floor_s from pulse.claim where queue = 'idle' order by n desc limit 1"
    assert store.ask(floor) < 100
    assert [store.ask("select pulse.raise_floors()") > 0 for _ in range(3)] == [True, True, False]
    assert store.ask(floor) > 300
    job = store.enqueue(queue="idle")
    (batch,) = store.claim(1, ("idle",))
    assert batch.jobs[0][0] == str(job)


def test_raising_a_floor_leaves_what_is_open_on_the_late_list(store: Store, connect: Connect) -> None:
    store.enqueue(queue="idle")
    for batch in store.claim(1, ("idle",)):
        store.settle(batch)
    writer = connect(autocommit=False)
    (job,) = writer.execute("select pulse.enqueue(kind => 'k', queue => 'idle')").fetchall()[0]
    fill(store, 250)
    keep_ahead(store)
    for _ in range(3):
        store.ask("select pulse.raise_floors()")
    fill(store, 110)
    writer.commit()
    (batch,) = store.claim(1, ("idle",))
    assert batch.jobs[0][0] == str(job)
