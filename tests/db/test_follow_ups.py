"""Follow-ups of deliveries that did not succeed, keys that someone holds, and jobs that are put off again and again."""

import json
from typing import Any

import psycopg
import pytest
from fix_cluster import Connection
from store_kit import Batch, Store


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


def close(store: Store, batch: Batch, *entries: tuple[int, str], follow_ups: Any) -> int:
    """Close these positions with these endings, and with follow-ups."""
    count = len(entries)
    values = (
        [batch.claim] * count, [batch.token, *[None] * (count - 1)], [position for position, _ in entries],
        [ending for _, ending in entries], [None] * count, ["why"] * count, [1] * count, json.dumps(follow_ups),
    )  # fmt: skip
    call = "select pulse.close_following(%s, %s, %s::int[], %s, %s::bigint[], %s, %s::bigint[], %s::json)"
    return int(store.ask(call, *values))


def kinds(store: Store) -> list[str]:
    found = "select kind from pulse.jobs where kind <> 'k' order by kind"
    return [row[0] for row in store.connection.execute(found.encode())]


def three(store: Store) -> Batch:
    for _ in range(3):
        store.enqueue()
    (batch,) = store.claim()
    return batch


def test_follow_ups_commit_with_the_ending_that_the_handler_chose(store: Store) -> None:
    batch = three(store)
    sent = [[batch.claim, 0, {"kind": "after-cancel"}], [batch.claim, 1, {"kind": "after-dead"}]]
    assert close(store, batch, (0, "cancel"), (1, "dead"), follow_ups=sent) == 2
    assert kinds(store) == ["after-cancel", "after-dead"]


def test_follow_ups_of_a_delivery_that_is_not_closed_here_are_dropped(store: Store) -> None:
    batch = three(store)
    store.settle(batch, "100")
    sent = [[batch.claim, position, {"kind": f"of-{position}"}] for position in (0, 1, 2, 99)]
    assert close(store, batch, (0, "cancel"), (1, "snooze"), (99, "cancel"), follow_ups=sent) == 1
    assert kinds(store) == ["of-1"]
    assert close(store, batch, (1, "snooze"), follow_ups=sent) == 0, "a report that comes twice"
    assert kinds(store) == ["of-1"]


def test_a_delay_of_a_follow_up_counts_from_its_commit(store: Store) -> None:
    batch = three(store)
    close(store, batch, (0, "cancel"), follow_ups=[[batch.claim, 0, {"kind": "later", "rest": {"delay_s": 60}}]])
    waits = "select extract(epoch from run_at - pulse.now()) from pulse.delayed where kind = 'later'"
    assert 55 < store.ask(waits) <= 60


def test_a_key_in_someones_open_transaction_is_not_waited_for(store: Store, connect: Any) -> None:
    batch = three(store)
    sent = [[batch.claim, 0, {"kind": "keyed", "rest": {"key": "once"}}]]
    with connect() as producer, producer.transaction(force_rollback=True):
        producer.execute("select pulse.enqueue(kind => 'theirs', key => 'once')")
        settle = "select settled from pulse.settle(%s, %s, %s::bit varying[], '{1}', null, %s::json)"
        with pytest.raises(psycopg.Error, match="waits for another transaction") as by_settle:
            store.ask(settle, [batch.claim], [batch.token], ["100"], json.dumps(sent))
        with pytest.raises(psycopg.Error, match="waits for another transaction") as by_close:
            close(store, batch, (0, "cancel"), follow_ups=sent)
    assert [each.value.sqlstate for each in (by_settle, by_close)] == ["PU503"] * 2
    assert close(store, batch, (0, "cancel"), follow_ups=sent) == 1, "asked again, once it is over"
    assert kinds(store) == ["keyed"]


def test_a_job_is_put_off_for_longer_each_time_whoever_puts_it_off(store: Store) -> None:
    job = store.enqueue(options='{"timeout_ms": 5}')
    waited = []
    for _ in range(9):
        (batch,) = store.claim()
        assert store.close(batch, "put_off", delay_ms=None) == 1
        waited.append(float(store.ask("select extract(epoch from run_at - pulse.now()) from pulse.delayed")))
        store.connection.execute("update pulse.delayed set run_at = pulse.now()")
        store.connection.execute("select pulse.promote(10)")
    for each, expected in zip(waited, [1, 2, 4, 8, 16, 32, 60, 60, 60], strict=True):
        assert 0.8 * expected < each <= 1.1 * expected
    (batch,) = store.claim()
    sent = batch.jobs[0]
    assert (sent[0], sent[3], sent[4]) == (str(job), 1, 0), "its attempt and its budget are as they were"
    assert sent[7]["options"] == {"timeout_ms": 5, "put_off": 6}


ODD = ("[]", '"x"', "7", '{"put_off": "many"}', '{"a": "' + "x" * 8180 + '"}', '{"a":"\\u0000"}')


@pytest.mark.parametrize("options", ODD)
def test_options_that_cannot_count_leave_the_job_as_it_is(store: Store, options: str) -> None:
    store.enqueue(options=options)
    (batch,) = store.claim()
    assert store.close(batch, "put_off", delay_ms=None) == 1
    assert store.ask("select extract(epoch from run_at - pulse.now()) < 1.2 from pulse.delayed")
