"""Results and follow-ups of settle, and giving back many leases: with the report or not at all."""

import json
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from fix_cluster import Connection
from store_kit import Batch, Store


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


def settle(store: Store, *entries: tuple[Batch, str], **more: Any) -> tuple[int, list[int]]:
    """Settle these masks; `results` and `follow_ups` are sent as JSON. How many were settled, and which are stale."""
    claims = [batch.claim for batch, _ in entries]
    tokens = [batch.token for batch, _ in entries]
    masks = [mask for _, mask in entries]
    took = [7] * "".join(masks).count("1")
    extra = "".join(f", {name} => %s::json" for name in more)
    sent = [value if isinstance(value, str) else json.dumps(value) for value in more.values()]
    call = f"select settled, stale from pulse.settle(%s, %s, %s::bit varying[], %s{extra})"
    row = store.connection.execute(call.encode(), [claims, tokens, masks, took, *sent]).fetchone()
    assert row
    return row[0], row[1]


def results(store: Store) -> dict[UUID, Any]:
    return dict(store.connection.execute("select id, result from pulse.result").fetchall())


def kinds(store: Store) -> list[str]:
    """Of what waits, as far as it was added by a follow-up."""
    found = "select kind from pulse.jobs where status = 'PENDING' and kind <> 'k' order by kind"
    return [row[0] for row in store.connection.execute(found.encode())]


def two_batches(store: Store) -> tuple[Batch, Batch]:
    for _ in range(5):
        store.enqueue()
    (one,) = store.claim(3)
    (two,) = store.claim(3)
    return one, two


def test_results_are_kept_for_the_jobs_that_they_are_of(store: Store) -> None:
    one, two = two_batches(store)
    sent = [[one.claim, 0, {"a": 1}], [two.claim, 1, None], [one.claim, 2, "x"]]
    assert settle(store, (one, "111"), (two, "11"), results=sent) == (5, [])
    assert results(store) == {UUID(one.jobs[0][0]): {"a": 1}, UUID(two.jobs[1][0]): None, UUID(one.jobs[2][0]): "x"}


def test_results_of_jobs_that_are_not_settled_here_are_dropped(store: Store) -> None:
    one, two = two_batches(store)
    store.close(one, "lost", position=1)
    stale = Batch(two.claim, uuid4(), two.jobs)
    sent = [[one.claim, 0, 0], [one.claim, 1, 1], [one.claim, 2, 2], [two.claim, 0, 3], [one.claim, 99, 4], [999, 0, 5]]
    assert settle(store, (one, "110"), (stale, "11"), results=sent) == (1, [one.claim, two.claim])
    assert results(store) == {UUID(one.jobs[0][0]): 0}


def test_a_later_result_of_the_same_job_replaces_the_earlier(store: Store) -> None:
    one, _ = two_batches(store)
    store.connection.execute("insert into pulse.result values (%s, pulse.now(), '\"old\"')", [one.jobs[0][0]])
    settle(store, (one, "100"), results=[[one.claim, 0, "new"]])
    assert results(store) == {UUID(one.jobs[0][0]): "new"}


def test_follow_ups_are_enqueued_with_all_that_was_said_of_them(store: Store) -> None:
    one, two = two_batches(store)
    mine = uuid4()
    rest = {"tenant": "t", "max_attempts": 3, "run_at": "2100-01-01", "key": "once", "meta": {"a": 1}}
    sent = [
        [one.claim, 0, {"kind": "plain"}],
        [two.claim, 1, {"kind": "said", "id": str(mine), "args": {"n": 1}, "queue": "q", "priority": 5, "rest": rest}],
    ]
    assert settle(store, (one, "111"), (two, "11"), follow_ups=sent) == (5, [])
    assert kinds(store) == ["plain", "said"]
    columns = "queue, priority, args, tenant, max_attempts, key, meta"
    told = store.connection.execute(f"select {columns} from pulse.get(%s)".encode(), [mine]).fetchall()
    assert told == [("q", 5, {"n": 1}, "t", 3, "once", {"a": 1})]


def test_follow_ups_of_jobs_that_are_not_settled_here_are_dropped(store: Store) -> None:
    one, two = two_batches(store)
    store.close(one, "lost", position=1)
    stale = Batch(two.claim, uuid4(), two.jobs)
    sent = [[one.claim, 0, {"kind": "good"}], [one.claim, 1, {"kind": "bad"}], [two.claim, 0, {"kind": "stale"}]]
    sent += [[one.claim, 99, {"kind": "beyond"}], [999, 0, {"kind": "unknown"}]]
    assert settle(store, (one, "110"), (stale, "11"), follow_ups=sent) == (1, [one.claim, two.claim])
    assert kinds(store) == ["good"]


def test_a_report_that_comes_twice_adds_its_follow_ups_once(store: Store) -> None:
    one, _ = two_batches(store)
    sent = [[one.claim, 0, {"kind": "next"}]]
    assert settle(store, (one, "100"), follow_ups=sent) == (1, [])
    assert settle(store, (one, "100"), follow_ups=sent) == (0, [one.claim])
    assert kinds(store) == ["next"]


def test_a_rolled_back_report_leaves_neither_result_nor_follow_up(store: Store) -> None:
    one, _ = two_batches(store)
    with store.connection.transaction(force_rollback=True):
        settle(store, (one, "111"), results=[[one.claim, 0, 1]], follow_ups=[[one.claim, 0, {"kind": "next"}]])
        assert kinds(store) == ["next"]
    assert (results(store), kinds(store)) == ({}, [])
    assert settle(store, (one, "111")) == (3, [])


@pytest.mark.parametrize(
    "more",
    [
        {"results": [[1, "zero", "x"]]},
        {"results": [["one", 0, "x"]]},
        {"results": {"a": 1}},
        {"follow_ups": [[1, 0, {"kind": ""}]]},
        {"follow_ups": [[1, 0, {"kind": "k", "rest": {"max_attempts": 5000}}]]},
    ],
)
def test_a_malformed_entry_fails_the_whole_call_and_nothing_of_it_is_settled(store: Store, more: Any) -> None:
    """The reporter then sends the entries one by one: half a report would be worse than none."""
    one, _ = two_batches(store)
    text = json.dumps(more).replace("[[1,", f"[[{one.claim},")
    with pytest.raises(psycopg.Error):
        settle(store, (one, "111"), **json.loads(text))
    assert (results(store), kinds(store)) == ({}, [])
    assert settle(store, (one, "111")) == (3, [])


def test_everything_an_executor_holds_is_given_back_and_what_it_settled_is_not(store: Store) -> None:
    for _ in range(60):
        store.enqueue()
    batches = [store.claim(7)[0] for _ in range(8)]
    for batch in batches[:4]:
        settle(store, (batch, "1010000"))
    settle(store, (batches[7], "1111111"))
    given = 4 * 5 + 3 * 7
    assert store.ask("select pulse.give_back(%s, 'release', null)", store.executor) == given
    assert store.ask("select count(*) from pulse.lease") == 0
    assert store.ask("select count(*) from pulse.jobs where status = 'COMPLETED'") == 4 * 2 + 7
    again = [job for batch in store.claim(100) for job in batch.jobs]
    assert len(again) == given + 4
    assert {tuple(job[3:5]) for job in again} == {(1, 0)}, "unstarted: neither attempt nor charge has risen"
    assert store.ask("select pulse.give_back(%s, 'lost', 'gone')", store.executor) == len(again)
    assert {tuple(job[3:5]) for batch in store.claim(100) for job in batch.jobs} == {(2, 0)}
