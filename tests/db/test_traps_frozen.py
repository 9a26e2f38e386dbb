"""Trap 6 of the design: whoever does not listen to the answer of a claim holds nothing."""

import json

import pytest
from embedded_kit import eventually
from fix_cluster import Connection
from psycopg import pq
from psycopg.pq import abc
from store_kit import Store

MOST = 1000  # slots that a claimer asks for at most
FETCH = "select pulse.fetch(%s, %s)"
LANE = "select count(*) from pg_locks where locktype = 'advisory' and classid = 1886745441 and granted"


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


def ask_and_freeze(dsn: str, store: Store) -> abc.PGconn:
    """A claimer that has asked and reads no answer."""
    frozen = pq.PGconn.connect(dsn.encode())
    assert frozen.status == pq.ConnStatus.OK
    store.ask("select pulse.discover()")
    frozen.send_query_params(
        b"select claim, token, n, jobs from pulse.claim($1, 1, '{default}', '{1}', $2)",
        [str(store.executor).encode(), str(MOST).encode()],
    )
    return frozen


@pytest.mark.parametrize(
    "job",
    [
        {"args": json.dumps({"x": "y" * 100_000})},
        {"args": json.dumps({"x": "y" * 1_000})},
        {"args": json.dumps({"x": "y" * 120})},
        {"meta": json.dumps({"x": "y" * 8_000})},
        {"options": json.dumps({"x": "y" * 8_000})},
        {"trace": "t" * 512, "tenant": "n" * 200, "project": "p" * 200},
        {"args": json.dumps({"x": "\\u00e9" * 10})},
        {},
    ],
    ids=["large", "many", "almost too many", "metadata", "options", "text", "escapes", "small"],
)
def test_a_claimer_that_reads_no_answer_holds_no_lane(dsn: str, store: Store, job: dict[str, str]) -> None:
    store.connection.execute("begin")
    for _ in range(MOST):
        store.enqueue(**job)
    store.connection.execute("commit")
    frozen = ask_and_freeze(dsn, store)
    try:
        assert eventually(lambda: store.ask("select count(*) from pulse.lease") == 1, within_s=10.0)
        assert store.ask(LANE) == 0
    finally:
        frozen.finish()


def test_a_claimer_that_reads_no_answer_holds_none_of_many_lanes(dsn: str, store: Store) -> None:
    """What fits is counted over all lanes of a claim, and what does not is there to be fetched."""
    for priority in range(-10, 11):
        for _ in range(10):
            store.enqueue(priority=priority, args=json.dumps({"x": "y" * 8_000}))
    frozen = ask_and_freeze(dsn, store)
    try:
        assert eventually(lambda: store.ask("select count(*) from pulse.lease") == 21, within_s=10.0)
    finally:
        frozen.finish()
    again = Store(store.connection)
    store.ask("select pulse.reap(%s, 0)", store.executor)
    batches = again.claim(MOST)
    assert [len(batch.jobs) for batch in batches] == [10] + [0] * 20
    assert sum(len(json.loads(again.ask(FETCH, batch.claim, batch.token))) for batch in batches) == 210
