"""Traps 10, 11 and 13 of the design: what a poll costs, counted in pages and rows, and who is woken."""

import time
from typing import Any

import pytest
from fix_cluster import Connect, Connection
from plan_kit import buffers_of, watched
from store_kit import LANE, Store

EMPTY = "select * from pulse.claim(%s, 0, '{default}', '{1}', 500)"
CHEAP = 60  # pages: about 0.1 ms
# Each in a transaction of its own, as producers do.
BURST = """
  do $$ begin
    for i in 1 .. 10000 loop
      perform pulse.enqueue(kind => 'k');
      commit;
    end loop;
  end $$
"""
CLAIMS = """
  do $$
  declare c record;
  begin
    for i in 1 .. 10000 loop
      perform pulse.enqueue(kind => 'k');
      commit;
      select * into c from pulse.claim(%(executor)s, i + 1000, '{default}', '{1}', 10);
      commit;
      perform pulse.settle(array[c.claim], array[c.token], array['1'::bit varying], array[1]);
      commit;
    end loop;
  end $$
"""


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


def work_through(store: Store, count: int) -> None:
    for _ in range(count):
        store.enqueue()
        store.settle(store.claim()[0])


def late(store: Store) -> int:
    """How long the late list is."""
    return int(store.ask("select cardinality(late_x) from pulse.claim order by n desc limit 1"))


def test_an_empty_poll_writes_nothing_and_looks_at_a_few_pages(store: Store) -> None:
    """Trap 10."""
    work_through(store, 20)
    assert buffers_of(store.connection, EMPTY, store.executor) <= CHEAP
    before = store.ask("select count(*) from pulse.claim")
    assert store.claim() == []
    assert store.ask("select count(*) from pulse.claim") == before


def test_ten_thousand_enqueues_to_a_busy_system_send_no_notify(store: Store, connect: Connect) -> None:
    """Trap 10: whoever was parked is awake."""
    listener = connect()
    listener.execute("listen pulse")
    store.ask("select pulse.park('{default}')")
    store.ask("select pulse.unpark('{default}')")
    store.connection.execute(BURST.encode())
    store.connection.execute("notify pulse, 'the last'")
    heard = next(iter(listener.notifies(timeout=10.0)))
    assert heard.payload == "the last"


def test_a_notify_names_the_queue_and_no_id_and_no_argument(store: Store, connect: Connect) -> None:
    """Issue 3, item 5: any role can listen."""
    listener = connect()
    listener.execute("listen pulse")
    store.ask("select pulse.park('{mail}')")
    store.enqueue(queue="mail", args='{"secret": 1}', tenant="acme", key="k")
    store.enqueue(queue="billing")
    store.connection.execute("select pulse.enqueue_many(array[pulse.uuid7()], '{k}', array['{}'], '{mail}')")
    store.connection.execute("notify pulse, 'the last'")
    heard = [note.payload for note in listener.notifies(timeout=10.0, stop_after=3)]
    assert heard == ["mail", "mail", "the last"]


def test_a_producer_that_comes_after_we_parked_does_not_keep_us_awake_and_wakes_us(
    store: Store, connect: Connect
) -> None:
    """Issue 3, item 5: only those who may have looked before we parked are waited for."""
    parked = store.ask("select pulse.park('{default}')::text")
    producer, listener = connect(autocommit=False), connect()
    listener.execute("listen pulse")
    producer.execute("select pulse.enqueue(kind => 'k')")
    assert store.ask("select pulse.is_quiet(%s::text::xid8)", parked) is True
    producer.commit()
    assert next(iter(listener.notifies(timeout=10.0))).payload == "default"


def test_whoever_wakes_leaves_the_other_queues_parked(store: Store) -> None:
    """Issue 3, item 5."""
    assert store.ask("select pulse.queue_bit('mail') <> pulse.queue_bit('billing')")
    store.ask("select pulse.park('{mail,billing}')")
    store.ask("select pulse.unpark('{mail}')")
    assert store.ask("select pg_sequence_last_value('pulse.parked') = pulse.queue_bit('billing')")


def test_a_lane_is_found_however_long_its_first_transaction_stays_open(store: Store, connect: Connect) -> None:
    """Trap 7: discovery looks only above a floor, which waits for whoever may yet commit below it."""
    writer = connect(autocommit=False)
    writer.execute("select pulse.enqueue(kind => 'k', queue => 'new')")
    work_through(store, 5)  # discovers each time
    assert store.claim(1, ("new",)) == []
    writer.commit()
    assert len(store.claim(1, ("new",))) == 1


@pytest.mark.parametrize("ending", ["commit", "rollback"])
def test_two_hundred_thousand_uncommitted_jobs_are_waded_through_once(
    store: Store, connect: Connect, ending: str
) -> None:
    """Trap 11."""
    work_through(store, 3)
    writer = connect(autocommit=False)
    writer.execute(
        "insert into pulse.log (submitted_at, id, kind, lane_id)"
        f" select now(), gen_random_uuid(), 'k', {LANE} from generate_series(1, 200000)"
    )
    assert _settles_to(lambda: buffers_of(store.connection, EMPTY, store.executor), CHEAP)
    getattr(writer, ending)()
    assert sum(len(batch.jobs) for batch in store.claim(500)) == (500 if ending == "commit" else 0)


def test_four_hundred_writers_in_progress_cost_an_empty_poll_little_and_nothing_once_they_ended(
    store: Store, connect: Connect
) -> None:
    """Trap 11: they wrote something else, and a claim has overtaken them all."""
    writers = connect()
    for number in range(400):
        writers.execute(f"begin; select pg_current_xact_id(); prepare transaction 'writer {number}'".encode())
    try:
        work_through(store, 2)
        assert late(store) == 400
        assert buffers_of(store.connection, EMPTY, store.executor) <= CHEAP
    finally:
        for number in range(400):
            writers.execute(f"rollback prepared 'writer {number}'".encode())
    assert store.claim() == []
    assert late(store) == 0, "the list is trimmed although nothing was claimed"


def test_plans_made_for_an_empty_ledger_serve_ten_thousand_claims(store: Store) -> None:
    """Trap 13: in one session, which keeps them."""
    store.claim()
    work_through(store, 3)
    before = buffers_of(store.connection, EMPTY, store.executor)
    store.connection.execute(CLAIMS.replace("%(executor)s", str(store.executor)).encode())
    assert store.ask("select count(*) from pulse.done") == 10_003
    assert buffers_of(store.connection, EMPTY, store.executor) <= before + 20
    for _ in range(20):
        store.enqueue()
    store.request = 20_000
    with watched(store.connection) as work:
        store.settle(store.claim()[0])
    assert not work.sequential & {"claim", "lease", "done", *work.partitions}
    assert (work.log_rows <= 60, work.rows["claim"] <= 10, work.rows["lease"] <= 10) == (True, True, True)


def _settles_to(value: Any, most: int) -> bool:
    """Does a poll become cheap? The first ones may be slow, which is what makes them step over it."""
    end = time.monotonic() + 10.0
    while value() > most:
        if time.monotonic() > end:
            return False
    return True
