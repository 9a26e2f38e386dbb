"""The one question of a poll."""

from typing import Any

import pytest
from fix_cluster import Connection
from store_kit import Store


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


def look(store: Store, *queues: str) -> dict[str, Any]:
    cursor = store.connection.execute("select * from pulse.look(%s, %s)", (list(queues), [store.executor]))
    assert cursor.description
    row = cursor.fetchone()
    assert row
    return dict(zip([column.name for column in cursor.description], row, strict=True))


def test_an_idle_system_has_nothing_to_do_and_writes_nothing(store: Store) -> None:
    for _ in range(3):
        look(store, "default")
    before = store.ask("select pg_current_wal_insert_lsn()")
    with store.connection.transaction():
        seen = look(store, "default")
        assert store.ask("select pg_current_xact_id_if_assigned()") is None
    assert store.ask("select pg_current_wal_insert_lsn()") == before
    assert (seen["ready"], seen["paused"], seen["resting"], seen["due_s"], seen["cancels"]) == (
        False,
        False,
        [],
        None,
        None,
    )


def test_a_new_lane_is_found_and_ready(store: Store) -> None:
    store.enqueue(queue="mail")
    seen = look(store, "mail")
    assert (seen["new_lanes"], seen["ready"], seen["drawn"]) == (1, True, 1)
    assert look(store, "billing")["ready"] is False
    for batch in store.claim(1, ("mail",)):
        store.settle(batch)
    assert look(store, "mail")["ready"] is False


def test_pauses_are_told_and_nothing_is_ready_meanwhile(store: Store) -> None:
    for queue in ("mail", "billing"):
        store.enqueue(queue=queue)
    store.ask("select pulse.pause('mail', 'me', 'why')")
    seen = look(store, "mail", "billing")
    assert (seen["paused"], seen["resting"], seen["ready"]) == (False, ["mail"], True)
    assert look(store, "mail")["ready"] is False
    store.ask("select pulse.pause(null, 'me', 'why')")
    seen = look(store, "mail", "billing")
    assert (seen["paused"], seen["ready"]) == (True, False)


def test_it_says_when_the_next_delayed_job_is_due(store: Store) -> None:
    store.enqueue(run_at="2100-01-01T00:00:00Z")
    assert look(store, "default")["due_s"] > 1e9
    store.connection.execute("update pulse.delayed set run_at = now() - interval '1 s'")
    assert look(store, "default")["due_s"] == 0


def test_wishes_to_cancel_are_told_to_the_runtime_that_runs_the_job_until_it_has_ended(store: Store) -> None:
    job = store.enqueue()
    (batch,) = store.claim()
    store.ask("select pulse.cancel(%s, 'me', 'not wanted')", job)
    assert look(store, "default")["cancels"] == [[batch.claim, 0, "not wanted"]]
    other = Store(store.connection)
    assert look(other, "default")["cancels"] is None
    store.close(batch, "cancel")
    assert look(store, "default")["cancels"] is None
    assert store.status(job) == "CANCELED"


def test_a_wish_that_came_too_late_is_not_told(store: Store) -> None:
    job = store.enqueue()
    (batch,) = store.claim()
    store.ask("select pulse.cancel(%s)", job)
    store.settle(batch)
    assert look(store, "default")["cancels"] is None
    assert store.status(job) == "COMPLETED"
