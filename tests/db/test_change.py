"""Changing a job's fate while others do the same."""

import threading
from typing import Any

import pytest
from embedded_kit import eventually
from fix_cluster import Connect, Connection
from store_kit import Store

LANE = "(1886745441, pulse.lane_lock('default'::text, 0::smallint, 0::smallint))"
WAITING = "select exists (select from pg_locks where locktype = 'advisory' and not granted)"


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


@pytest.mark.parametrize("then", ["runs", "waits", "is given back"])
def test_a_cancel_that_waited_for_a_lane_finds_the_job_where_it_went_meanwhile(
    store: Store, connect: Connect, then: str
) -> None:
    job, answers = store.enqueue(), list[Any]()
    store.ask(f"select pg_advisory_lock{LANE}")
    canceler = Store(connect())
    thread = threading.Thread(target=lambda: answers.append(canceler.ask("select pulse.cancel(%s)", job)))
    thread.start()
    assert eventually(lambda: bool(store.ask(WAITING)), within_s=10.0)
    store.ask("select pulse.move(%s, 'other')", job)
    batches = store.claim(queues=("other",)) if then != "waits" else []
    if then == "is given back":
        store.close(batches[0], "release")
    store.ask(f"select pg_advisory_unlock{LANE}")
    thread.join()
    assert answers == ["RUNNING" if then == "runs" else "CANCELED"]
    if then == "runs":
        assert store.ask("select claim from pulse.cancel_request where id = %s", job) == batches[0].claim
