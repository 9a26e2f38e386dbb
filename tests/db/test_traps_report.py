"""Traps 8 and 12 of the design: one bad entry among reports changes nothing for the others."""

import json
from uuid import UUID, uuid4

import psycopg
import pytest
from fix_cluster import Connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_kit import LANE, Batch, Store

CLOSE = "select pulse.close(%s, %s, %s::int[], %s, %s::bigint[], %s, %s::bigint[])"
SETTLE = "select settled, stale from pulse.settle(%s, %s, %s::bit varying[], %s)"
LEFT = "select claim, open::text from pulse.lease order by claim"
# Nobody knows why.
POISON = """
  create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
  create trigger poison before insert on pulse.failure
    for each row when (new.id = 'ID') execute function public.refuse()
"""
MOST_ATTEMPTS = 32_767  # what the column holds


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


def close(store: Store, *entries: tuple[Batch, int, str]) -> int:
    claims, tokens = [batch.claim for batch, _, _ in entries], [batch.token for batch, _, _ in entries]
    endings, size = [ending for _, _, ending in entries], len(entries)
    positions = [position for _, position, _ in entries]
    return int(store.ask(CLOSE, claims, tokens, positions, endings, [0] * size, ["x"] * size, [1] * size))


def settle(store: Store, *entries: tuple[int, UUID | None, str | None]) -> tuple[int, list[int]]:
    claims, tokens, masks = zip(*entries, strict=True)
    bits = "".join(mask or "" for mask in masks).count("1")
    row = store.connection.execute(SETTLE, (list(claims), list(tokens), list(masks), list(range(bits)))).fetchone()
    assert row
    return row[0], row[1]


def claim_each(store: Store, count: int, **options: object) -> list[Batch]:
    """So many batches of one job."""
    for _ in range(count):
        store.enqueue(**options)
    return [store.claim(1)[0] for _ in range(count)]


def test_a_job_that_is_named_twice_is_closed_once_as_the_first_entry_says(store: Store) -> None:
    """Trap 8."""
    (batch,) = claim_each(store, 1)
    assert close(store, (batch, 0, "dead"), (batch, 0, "release"), (batch, 0, "dead")) == 1
    assert store.status(UUID(batch.jobs[0][0])) == "DEAD_LETTERED"
    assert store.claim() == []


def test_a_token_is_named_once_for_all_entries_of_its_claim_and_a_stale_one_for_none(store: Store) -> None:
    """As the reporter sends them: null is the token of another entry of the claim."""
    for _ in range(6):
        store.enqueue()
    (good,), (bad,) = store.claim(3), store.claim(3)
    tokens = [good.token, None, uuid4(), None, None]
    claims = [good.claim, good.claim, bad.claim, bad.claim, bad.claim]
    values = [claims, tokens, [0, 2, 0, 1, 2], ["dead"] * 5, [None] * 5, ["x"] * 5, [1] * 5]
    assert store.ask(CLOSE, *values) == 2
    assert store.connection.execute(LEFT.encode()).fetchall() == [(good.claim, "010"), (bad.claim, "111")]
    assert store.ask(CLOSE, [bad.claim], [None], [0], ["dead"], [None], ["x"], [1]) == 0, "no token is no token"


def test_entries_that_are_not_ours_do_not_sink_the_others(store: Store) -> None:
    """Trap 8: a wrong token, a position that no job has, a claim that never was."""
    one, two = claim_each(store, 2)
    forged, never = Batch(one.claim, UUID(int=1), []), Batch(10**9, UUID(int=2), [])
    assert (
        close(store, (forged, 0, "fail"), (one, 7, "fail"), (one, -1, "fail"), (never, 0, "fail"), (two, 0, "fail"))
        == 1
    )
    assert store.settle(one) == 1


def test_a_dead_letter_that_exists_already_does_not_sink_the_others(store: Store) -> None:
    """Trap 8."""
    one, two = claim_each(store, 2)
    store.connection.execute(
        "insert into pulse.outcome select id, 'DEAD_LETTERED', now(), 'before', submitted_at, priority, lane, attempt,"
        " charged, max_attempts, queue, kind, args from pulse.log where id = %s",
        (one.jobs[0][0],),
    )
    assert close(store, (one, 0, "dead"), (two, 0, "dead")) == 2
    assert store.ask("select reason from pulse.outcome where id = %s", one.jobs[0][0]) == "before"
    assert store.status(UUID(two.jobs[0][0])) == "DEAD_LETTERED"


@pytest.mark.parametrize("at_once", [True, False])
def test_an_id_that_was_enqueued_twice_fails_twice_and_waits_once(store: Store, at_once: bool) -> None:
    """Trap 8: the second one is refused by the table of delayed jobs; neither it nor the others are sunk by that."""
    job = store.enqueue()
    store.enqueue(id=job)
    other = store.enqueue()
    (batch,) = store.claim()
    for positions in [[0, 1, 2]] if at_once else [[0], [1, 2]]:
        size = len(positions)
        values = [batch.claim] * size, [batch.token] * size, positions, ["fail"] * size
        assert store.ask(CLOSE, *values, [60_000] * size, ["x"] * size, [1] * size) == size
    waits = store.connection.execute("select id, attempt from pulse.delayed order by id").fetchall()
    assert waits == sorted([(job, 2), (other, 2)])
    assert store.ask("select count(*) from pulse.failure") == 3
    assert store.ask("select count(*) from pulse.lease") == 0
    assert store.status(other) == "RETRYING"


def test_a_job_that_was_delivered_most_often_does_not_sink_the_others(store: Store) -> None:
    """Trap 8: a job that snoozes every second gets there in nine hours."""
    store.connection.execute(
        "insert into pulse.log (submitted_at, id, kind, attempt, lane_id)"
        f" values (now(), pulse.uuid7(), 'k', %s, {LANE})",
        (MOST_ATTEMPTS,),
    )
    (tired,) = store.claim()
    (other,) = claim_each(store, 1)
    assert close(store, (tired, 0, "fail"), (other, 0, "fail")) == 2
    assert sorted(job[3] for batch in store.claim() for job in batch.jobs) == [2, MOST_ATTEMPTS]


def test_a_dead_letter_that_was_delivered_most_often_can_be_retried(store: Store) -> None:
    """Trap 8."""
    store.connection.execute(
        "insert into pulse.log (submitted_at, id, kind, attempt, lane_id)"
        f" values (now(), pulse.uuid7(), 'k', %s, {LANE})",
        (MOST_ATTEMPTS,),
    )
    (tired,) = store.claim()
    close(store, (tired, 0, "dead"))
    assert store.ask("select pulse.retry(%s)", tired.jobs[0][0]) is True
    assert len(store.claim()) == 1


@pytest.mark.parametrize(
    "policy",
    [
        {"kind": "fixed", "first_s": -5},
        {"kind": "exponential", "first_s": 1, "factor": -3, "cap_s": -1},
        {"kind": "list", "delays_s": []},
        {"kind": "list", "delays_s": "x"},
        {"kind": "fixed"},
        {"kind": 7, "cap_s": "often"},
        {"kind": "fixed", "first_s": 1e300, "cap_s": 1e300},
        "soon",
    ],
    ids=str,
)
def test_a_policy_that_makes_no_sense_neither_loses_its_job_nor_sinks_the_others(store: Store, policy: object) -> None:
    """Trap 8: any language may write options."""
    batches = [*claim_each(store, 1, options=json.dumps({"retry": policy})), *claim_each(store, 1)]
    values = [batch.claim for batch in batches], [batch.token for batch in batches], [0, 0], ["x", "x"]
    assert store.ask("select pulse.fail(%s, %s, %s::int[], %s)", *values) == 2
    assert [store.status(UUID(batch.jobs[0][0])) for batch in batches] == ["RETRYING", "RETRYING"]


def test_a_lease_whose_job_is_gone_does_not_keep_its_executor_from_being_reaped(store: Store) -> None:
    """Trap 8: one poisoned lease never blocks the others."""
    one, two, three = claim_each(store, 3)
    store.connection.execute("delete from pulse.log where id = %s", (one.jobs[0][0],))
    store.connection.execute("delete from pulse.claim where id = %s", (two.claim,))
    assert store.ask("select pulse.reap(%s, 0)", store.executor) == 1
    assert store.status(UUID(three.jobs[0][0])) == "PENDING"


def test_a_lease_that_cannot_be_given_back_does_not_hold_up_the_others(store: Store) -> None:
    """Trap 8: whatever it is that fails. It stays as it is and is seen, until it can."""
    one, two, three = claim_each(store, 3)
    store.connection.execute(POISON.replace("ID", two.jobs[0][0]).encode())
    assert store.ask("select pulse.reap(%s, 0)", store.executor) == 2
    assert [store.status(UUID(batch.jobs[0][0])) for batch in (one, two, three)] == ["PENDING", "RUNNING", "PENDING"]
    assert store.ask("select id from pulse.executors_standing() where ended") == store.executor
    store.connection.execute("drop function public.refuse cascade")
    assert store.ask("select pulse.give_back(%s, 'lost', 'gone')", store.executor) == 1
    assert store.status(UUID(two.jobs[0][0])) == "PENDING"
    assert store.ask("select id from pulse.executors_standing() where ended") is None


def took(store: Store) -> list[tuple[str, list[int]]]:
    """Of each row of successes: which jobs of its claim, and how long each ran."""
    return store.connection.execute("select mask::text, took_us from pulse.done order by claim, mask").fetchall()


def test_masks_of_one_claim_are_merged_and_each_job_keeps_its_own_time(store: Store) -> None:
    """Trap 12: each job is settled once, with the time of the first entry that names it."""
    for _ in range(5):
        store.enqueue()
    (batch,), (other,) = store.claim(4), store.claim(4)
    one, two = (batch.claim, batch.token, "1010"), (batch.claim, batch.token, "0110")
    assert settle(store, one, (other.claim, other.token, "1"), two) == (4, [])
    assert took(store) == [("1110", [0, 3, 1]), ("1", [2])]
    assert store.settle(batch, "0001") == 1, "what no entry named is ours still"
    assert store.ask("select count(*) from pulse.lease") == 0


def test_of_the_entries_of_one_claim_the_bad_ones_sink_neither_the_good_one_nor_the_others(store: Store) -> None:
    """Trap 12: another token, none, and other lengths; the times that belong to them are passed over."""
    one, two = claim_each(store, 2)
    good, other = (one.claim, one.token, "1"), (two.claim, two.token, "1")
    bad: list[tuple[int, UUID | None, str | None]] = [
        (one.claim, UUID(int=1), "1"), (one.claim, None, "1"),
        (one.claim, one.token, "11"), (one.claim, one.token, None),
    ]  # fmt: skip
    settled, stale = settle(store, *bad, good, other)
    assert (settled, set(stale)) == (2, {one.claim})
    assert took(store) == [("1", [4]), ("1", [5])]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_merged_report_settles_what_its_entries_settle_one_after_the_other(dsn: str, data: st.DataObject) -> None:
    """Trap 12: whatever is repeated, forged or of another length. Both ways start from the same leases."""
    size = st.integers(1, 4)
    with psycopg.connect(dsn, autocommit=True) as connection:
        store = Store(connection)
        batches = [_claim_of(store, data.draw(size)) for _ in range(3)]
        token = st.sampled_from([None, UUID(int=1)])
        mask = st.text("01", max_size=5)
        entries = [
            (
                batch.claim,
                data.draw(token | st.just(batch.token)),
                data.draw(mask | st.text("01", min_size=n, max_size=n)),
            )
            for batch in data.draw(st.lists(st.sampled_from(batches), min_size=1, max_size=6))
            for n in [len(batch.jobs)]
        ]
        with connection.transaction(force_rollback=True):
            apart = sum(settle(store, each)[0] for each in entries)
            left = connection.execute(LEFT).fetchall()
        assert settle(store, *entries)[0] == apart
        assert connection.execute(LEFT).fetchall() == left
        connection.execute("delete from pulse.lease")


def _claim_of(store: Store, size: int) -> Batch:
    for _ in range(size):
        store.enqueue()
    (batch,) = store.claim(size)
    return batch


@pytest.mark.parametrize("mask", ["11", "", "0000001", None], ids=repr)
def test_a_mask_of_another_length_settles_nothing_and_does_not_sink_the_others(store: Store, mask: str | None) -> None:
    """Trap 12."""
    one, two = claim_each(store, 2)
    bad, good = (one.claim, one.token, mask), (two.claim, two.token, "1")
    assert settle(store, bad, good) == (1, [one.claim])
    assert store.settle(one) == 1


def test_what_is_no_longer_ours_is_told_and_the_rest_is_settled_with_its_own_times(store: Store) -> None:
    """Trap 12."""
    for _ in range(3):
        store.enqueue()
    (batch,) = store.claim()
    assert store.close(batch, "release", position=1) == 1
    assert settle(store, (batch.claim, batch.token, "111")) == (2, [batch.claim])
    assert store.ask("select took_us from pulse.done") == [0, 2]


def test_a_result_for_a_position_that_no_job_has_does_not_sink_the_others(store: Store) -> None:
    """Trap 12."""
    one, two = claim_each(store, 2)
    results = json.dumps([[one.claim, 9, "?"], [one.claim, -1, "?"], [10**9, 0, "?"], [two.claim, 0, "kept"]])
    values = [one.claim, two.claim], [one.token, two.token], ["1", "1"], [1, 1], results
    assert store.ask("select settled from pulse.settle(%s, %s, %s::bit varying[], %s, %s::json)", *values) == 2
    assert store.connection.execute("select id::text, result from pulse.result").fetchall() == [
        (two.jobs[0][0], "kept")
    ]
