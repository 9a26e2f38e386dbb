"""Traps 5 and 6 of the design: repeated and forged requests, large batches, many lanes."""

import json
from uuid import UUID

import psycopg
import pytest
from fix_cluster import Connect, Connection
from store_kit import Batch, Store

# Two lanes whose locks have the same key: (a, 0, 0) and (b, priority, lane).
COLLISION = """
  with names as (select 'q' || i as name, hashtext('q' || i) as hash from generate_series(1, 1500) i),
  pairs as (select a.name as one, b.name as two, a.hash # b.hash as apart from names a, names b where a.name < b.name)
  select one, two, apart >> 16, apart & 65535 from pairs
   where apart >> 16 between -10 and 10 and apart & 65535 < 1024 limit 1
"""
ROW = """
  insert into pulse.log (submitted_at, id, kind, queue, priority, lane, lane_id)
    select pulse.now(), pulse.uuid7(), 'k', l.queue, l.priority, l.lane, pulse.lane_id(l.queue, l.priority, l.lane)
      from (values (%s::text, %s::smallint, %s::smallint)) l(queue, priority, lane)
"""


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


def ask_again(store: Store, queues: tuple[str, ...] = ("default",)) -> list[Batch]:
    store.request -= 1
    return store.claim(queues=queues)


def test_a_request_that_is_repeated_gets_the_same_batches(store: Store) -> None:
    """Trap 5: the reply to a claim may be lost, and new jobs may have come since."""
    for priority in (0, 7):
        store.enqueue(priority=priority)
    first = store.claim()
    store.enqueue(priority=9)
    again = ask_again(store)
    assert [batch.claim for batch in again] == [batch.claim for batch in first]
    fetched = [json.loads(store.ask("select pulse.fetch(%s, %s)", batch.claim, batch.token)) for batch in again]
    assert fetched == [batch.jobs for batch in first]


def test_a_request_that_is_repeated_gets_new_tokens_and_the_old_ones_mean_nothing(store: Store) -> None:
    """Whoever saw that nobody held the batch must not give it back once it is on its way again."""
    store.enqueue()
    (first,) = store.claim()
    (again,) = ask_again(store)
    give_back = "select pulse.give_back_claims(%s, %s, 'release', null)"
    assert store.ask(give_back, [first.claim], [first.token]) == 0
    assert store.settle(first) == 0
    assert store.ask("select pulse.fetch(%s, %s)", first.claim, first.token) is None
    assert store.settle(again, "1") == 1


def test_what_was_given_back_is_not_in_the_answer_to_a_request_that_is_repeated(store: Store) -> None:
    store.enqueue(priority=7)
    store.enqueue()
    urgent, other = store.claim()
    assert store.close(urgent, "release") == 1
    (still_ours,) = ask_again(store)
    assert still_ours.claim == other.claim
    assert store.settle(still_ours, "1") == 1
    (anew,) = ask_again(store)
    assert anew.jobs == urgent.jobs
    assert anew.claim != urgent.claim


def test_the_same_number_of_another_executor_is_another_request(store: Store, connect: Connect) -> None:
    """Trap 5."""
    store.enqueue()
    assert len(store.claim()) == 1
    assert Store(connect()).claim() == []


def test_a_report_for_a_claim_whose_number_was_used_again_changes_nothing(store: Store) -> None:
    """Trap 5: after a failover to a standby that lagged, numbers come again; tokens do not."""
    store.enqueue()
    store.enqueue()
    (lost,) = store.claim(1)
    store.connection.execute("delete from pulse.lease; delete from pulse.claim")  # as if it had not arrived there
    store.connection.execute("alter table pulse.claim alter column id restart")
    store.request = 0
    (batch,) = store.claim(1)
    assert batch.claim == lost.claim
    assert (store.settle(lost), store.close(lost, "fail")) == (0, 0)
    assert store.ask("select pulse.fetch(%s, %s)", lost.claim, lost.token) is None
    assert store.settle(batch) == 1


def test_a_batch_of_over_128_kib_does_not_come_with_its_claim(store: Store) -> None:
    """Trap 6: a client that stops reading in the middle of it would hold the lane."""
    small, large = {"x": "y" * 60_000}, {"x": "y" * 70_000}
    for args in (small, small, large, large):
        store.enqueue(args=json.dumps(args))
    assert len(store.claim(2)[0].jobs) == 2
    (batch,) = store.claim(2)
    assert batch.jobs == []
    jobs = json.loads(store.ask("select pulse.fetch(%s, %s)", batch.claim, batch.token))
    assert [job[2] for job in jobs] == [large, large]


@pytest.mark.parametrize("field", ["options", "meta", "args"])
@pytest.mark.parametrize("later", [False, True], ids=["now", "delayed"])
def test_whatever_goes_with_a_job_is_bounded(store: Store, field: str, later: bool) -> None:
    """Trap 6: a batch of over 1 GB would fail at every try, whichever column it comes from and whoever wrote it."""
    most = {"options": 8_192, "meta": 65_536, "args": 4_194_304}[field] - len('{"x":""}')
    when = {"run_at": "2100-01-01T00:00:00Z"} if later else {}
    store.enqueue(**{field: '{"x":"%s"}' % ("y" * most)}, **when)
    with pytest.raises(psycopg.errors.CheckViolation):
        store.enqueue(**{field: '{"x":"%s"}' % ("y" * (most + 1))}, **when)


def test_the_bound_in_bytes_holds_over_all_lanes_of_a_claim(store: Store) -> None:
    """Trap 6: one job goes however large it is."""
    for priority in (3, 2, 1):
        store.enqueue(priority=priority, args=json.dumps({"x": "y" * 1000}))
    assert [len(batch.jobs) for batch in store.claim(bytes_=1500)] == [1, 1]
    assert [len(batch.jobs) for batch in store.claim(bytes_=10)] == [1]


def test_a_claim_passes_a_busy_lane_and_waits_for_nothing(store: Store, connect: Connect) -> None:
    """Trap 6: claims over many lanes cannot deadlock, because none waits for a lane."""
    for queue in ("a", "b"):
        for _ in range(2):
            store.enqueue(queue=queue)
    store.ask("select pulse.discover()")
    holder, other = Store(connect()), Store(connect(options="-c lock_timeout=100ms"))
    with holder.connection.transaction():
        holder.connection.execute("select * from pulse.claim(%s, 1, '{a}', '{1}', 1)", (holder.executor,))
        assert [len(batch.jobs) for batch in other.claim(queues=("a", "b"))] == [2]


def test_busy_is_not_empty(store: Store, connect: Connect) -> None:
    """Trap 6: a lane that has work and is held is told as n = -1: ask again in a millisecond."""
    for _ in range(2):
        store.enqueue()
    store.ask("select pulse.discover()")
    holder = Store(connect())
    question = "select claim, n from pulse.claim(%s, 7, '{default}', '{1}', 1)"
    with holder.connection.transaction():
        holder.connection.execute(question.encode(), (holder.executor,))
        assert store.connection.execute(question.encode(), (store.executor,)).fetchall() == [(None, -1)]
    ((claim, count),) = store.connection.execute(question.encode(), (store.executor,)).fetchall()
    assert (isinstance(claim, int), count) == (True, 1)


def test_lanes_whose_locks_collide_are_claimed_and_cannot_deadlock(store: Store, connect: Connect) -> None:
    """Trap 6: one claim takes both, two claims exclude each other for a moment."""
    ((one, two, priority, lane),) = store.connection.execute(COLLISION.encode()).fetchall()
    for _ in range(3):
        store.connection.execute(ROW.encode(), (one, 0, 0))
        store.connection.execute(ROW.encode(), (two, priority, lane))
    assert [len(batch.jobs) for batch in store.claim(2, (one, two))] == [2]
    holder, other = Store(connect()), Store(connect(options="-c lock_timeout=100ms"))
    with holder.connection.transaction():
        holder.connection.execute("select * from pulse.claim(%s, 1, %s, '{1}', 1)", (holder.executor, [one]))
        assert [batch.claim for batch in other.claim(queues=(two,))] == [None]
    assert sum(len(batch.jobs) for batch in store.claim(10, (two, one))) == 3


def test_an_executor_cannot_claim_twice_at_once(store: Store, connect: Connect) -> None:
    """Trap 5: a request that is repeated while the first try is under way waits for it, and gets its batch."""
    store.enqueue()
    store.ask("select pulse.discover()")
    again = connect(options="-c lock_timeout=50ms")
    question = "select claim from pulse.claim(%s, 1, '{default}', '{1}', 1)"
    with store.connection.transaction():
        first = store.ask(question, store.executor)
        with pytest.raises(psycopg.errors.LockNotAvailable):
            again.execute(question.encode(), (store.executor,))
    assert again.execute(question.encode(), (store.executor,)).fetchall() == [(first,)]


def test_an_unknown_executor_may_not_claim(store: Store) -> None:
    """Trap 5: nor fetch what it has no token for."""
    store.enqueue()
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="may not claim"):
        store.ask("select pulse.claim(-1, 1, '{default}', '{1}', 1)")
    (batch,) = store.claim()
    assert store.ask("select pulse.fetch(%s, %s)", batch.claim, UUID(int=0)) is None


@pytest.mark.parametrize("ended", ["before the claim", "while it reads"])
def test_what_was_late_is_claimed_once_its_transaction_has_ended(store: Store, connect: Connect, ended: str) -> None:
    """A claim looks at its late list twice, before it reads and after; each look is enough by itself."""
    if ended == "while it reads":
        _replace(store, "claim_lane", "general := pulse.any_visible(k.late_x, pg_current_snapshot());", "null;")
    late = connect()
    with late.transaction():
        late.execute("select pulse.enqueue(kind => 'late')")
        store.enqueue()
        assert [kinds(batch) for batch in store.claim()] == [["k"]]
        store.enqueue()
        assert [kinds(batch) for batch in store.claim()] == [["k"]], "with a late list, of whom nobody has ended"
    store.enqueue()
    assert sorted(each for batch in store.claim() for each in kinds(batch)) == ["k", "late"]
    assert store.claim() == []


def kinds(batch: Batch) -> list[str]:
    return [job[1] for job in batch.jobs]


def _replace(store: Store, function: str, line: str, by: str) -> None:
    text: str = store.ask("select pg_get_functiondef(('pulse.' || %s)::regproc)", function)
    assert line in text
    store.connection.execute(text.replace(line, by).encode())


def test_a_claim_reads_no_lease_but_its_own_however_many_are_dead(store: Store, connect: Connect) -> None:
    """Met by a benchmark once the server had counted how few leases live: the plan began with all of them."""
    holder = connect()
    holder.execute("begin isolation level repeatable read")
    holder.execute("select pg_current_xact_id()")
    for _ in range(40):
        store.enqueue()
        for batch in store.claim():
            store.settle(batch)
    store.connection.execute("analyze pulse.lease, pulse.claim")
    store.enqueue()
    before = leases_read(store)
    (batch,) = store.claim()
    assert leases_read(store) - before <= 2
    holder.rollback()


def leases_read(store: Store) -> int:
    store.ask("select pg_stat_force_next_flush()::text")
    return int(
        store.ask("select sum(idx_tup_read) from pg_stat_all_indexes where schemaname = 'pulse' and relname = 'lease'")
    )
