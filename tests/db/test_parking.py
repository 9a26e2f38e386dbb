"""Issue 3, item 5: a claimer that sleeps is woken, a busy one is not, and no job falls between looking and parking."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from embedded_kit import eventually
from fix_cluster import Connect, Connection
from store_kit import Store

Act = Callable[[], object]
GATE = 4711  # an advisory lock that the test holds
WAITING = "select exists (select from pg_locks where locktype = 'advisory' and objid = 4711 and not granted)"
# As it is shipped, but behind the gate.
GATED = """
  create or replace function pulse.is_quiet(parked xid8) returns boolean language plpgsql as $$
  begin
    perform pg_advisory_xact_lock(4711);
    return not exists (select from pg_snapshot_xip(pg_current_snapshot()) i where i < parked);
  end $$
"""
WRITING = """
  create function public.wait_at_the_gate() returns trigger language plpgsql as $$
  begin
    perform pg_advisory_xact_lock(4711);
    return new;
  end $$;
  create trigger gate before insert on pulse.log for each row execute function public.wait_at_the_gate()
"""


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


@pytest.fixture
def listener(connect: Connect) -> Connection:
    listener = connect()
    listener.execute("listen pulse")
    return listener


def heard(store: Store, listener: Connection) -> list[str]:
    """The queues that were told so far."""
    store.connection.execute("notify pulse, 'the last'")
    told: list[str] = []
    for note in listener.notifies(timeout=10.0):
        if note.payload == "the last":
            break
        told.append(note.payload)
    return told


@contextmanager
def held_at_the_gate(store: Store, what: Callable[[], object]) -> Iterator[None]:
    """`what` runs beside us and stands at the gate, which opens when the block ends."""
    store.connection.execute("select pg_advisory_lock(%s)", (GATE,))
    thread = threading.Thread(target=what)
    thread.start()
    try:
        assert eventually(lambda: bool(store.ask(WAITING)), within_s=10.0)
        yield
    finally:
        store.connection.execute("select pg_advisory_unlock(%s)", (GATE,))
        thread.join()


def look(connection: Connection, parked: str) -> tuple[bool, bool]:
    """Whether it is quiet, and whether there is something to claim."""
    question = "select quiet, ready from pulse.look('{new}', '{}', %s::text::xid8)"
    row = connection.execute(question.encode(), (parked,)).fetchone()
    assert row
    return row[0], row[1]


def test_it_is_not_quiet_while_a_producer_is_open_that_looked_before_we_parked(store: Store, connect: Connect) -> None:
    producer = connect(autocommit=False)
    producer.execute("select pulse.enqueue(kind => 'k', queue => 'new')")
    parked = store.ask("select pulse.park('{new}')::text")
    assert look(store.connection, parked) == (False, False)
    producer.commit()
    assert look(store.connection, parked) == (True, True)


def test_whoever_calls_it_quiet_has_seen_what_the_last_of_them_added(store: Store, connect: Connect) -> None:
    """The producer commits in the middle of the look, into a lane that nobody knows: quiet and empty would be a nap."""
    producer, looker = connect(autocommit=False), connect()
    producer.execute("select pulse.enqueue(kind => 'k', queue => 'new')")
    parked = store.ask("select pulse.park('{new}')::text")
    store.connection.execute(GATED.encode())
    found: list[tuple[bool, bool]] = []
    with held_at_the_gate(store, lambda: found.append(look(looker, parked))):
        producer.commit()
    assert found == [(True, True)]


def test_a_producer_looks_for_the_parked_when_it_has_written_and_not_before(
    store: Store, connect: Connect, listener: Connection
) -> None:
    store.connection.execute(WRITING.encode())
    producer = connect()
    with held_at_the_gate(store, lambda: producer.execute("select pulse.enqueue(kind => 'k', queue => 'new')")):
        store.ask("select pulse.park('{new}')")
    assert heard(store, listener) == ["new"]


def retry(store: Store) -> Act:
    job = store.enqueue()
    store.close(store.claim()[0], "dead")
    return lambda: store.ask("select pulse.retry(%s)", job)


def move(store: Store) -> Act:
    job = store.enqueue(queue="other")
    return lambda: store.ask("select pulse.move(%s, 'default')", job)


def promote(store: Store) -> Act:
    store.enqueue(run_at="2100-01-01")
    store.connection.execute("update pulse.delayed set run_at = pulse.now()")
    return lambda: store.ask("select pulse.promote(10)")


def release(store: Store) -> Act:
    store.enqueue()
    (batch,) = store.claim()
    return lambda: store.close(batch, "release")


def fail(store: Store) -> Act:
    store.enqueue()
    (batch,) = store.claim()
    return lambda: store.close(batch, "fail")


def reap(store: Store) -> Act:
    store.enqueue()
    store.claim()
    return lambda: store.ask("select pulse.reap(%s, 0)", store.executor)


def follow_up(store: Store) -> Act:
    store.enqueue(queue="other")
    (batch,) = store.claim(1, ("other",))
    values: list[Any] = [[batch.claim], [batch.token], ["1"], [1], f'[[{batch.claim}, 0, {{"kind": "next"}}]]']
    return lambda: store.ask("select settled from pulse.settle(%s, %s, %s::bit varying[], %s, null, %s::json)", *values)


def enqueue(**options: Any) -> Callable[[Store], Act]:
    return lambda store: lambda: store.enqueue(**options)


def enqueue_fresh(store: Store) -> Act:
    fresh = store.ask("select pulse.uuid7()")
    return lambda: store.enqueue(id=fresh)


def enqueue_soon(store: Store) -> Act:
    """Within the longest pause between two polls, which would come too late."""
    return lambda: store.enqueue(run_at=store.ask("select pulse.now() + interval '400 ms'"))


def enqueue_many(store: Store) -> Act:
    return lambda: store.ask("select pulse.enqueue_many(array[pulse.uuid7()], '{k}', '{\"{}\"}')")


# What has to be there before, and then the act.
WAYS: dict[str, Callable[[Store], Act]] = {
    "enqueue": enqueue(),
    "enqueue with an old id": enqueue(id="00000000-0000-4000-8000-000000000001"),
    "enqueue with a key": enqueue(key="k"),
    "enqueue with a fresh id": enqueue_fresh,
    "enqueue for a moment after": enqueue_soon,
    "enqueue_many": enqueue_many,
    "retry": retry, "move": move, "promote": promote, "release": release, "fail": fail, "reap": reap,
    "follow-up": follow_up,
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_whatever_makes_a_job_wait_wakes_the_parked(store: Store, listener: Connection, way: str) -> None:
    act = WAYS[way](store)
    store.ask("select pulse.park('{default}')")
    act()
    assert heard(store, listener) == ["default"]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_said_when_nobody_is_parked_any_more(store: Store, listener: Connection, way: str) -> None:
    act = WAYS[way](store)
    store.ask("select pulse.park('{default,other}')")
    store.ask("select pulse.unpark('{default,other}')")
    act()
    assert heard(store, listener) == []
