"""The history of a job: one entry per delivery that was claimed."""

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from fix_cluster import Connect, Connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_kit import Batch, Store


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


def history(store: Store, job: UUID) -> list[dict[str, Any]]:
    with store.connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        return cursor.execute("select * from pulse.history(%s)", [job]).fetchall()


def settle(store: Store, batch: Batch, mask: str, took_us: list[int]) -> None:
    values = ([batch.claim], [batch.token], [mask], took_us)
    store.connection.execute("select pulse.settle(%s, %s, %s::bit varying[], %s)", values)


@pytest.mark.parametrize("id_", [None, uuid4()], ids=["server's id", "foreign id"])
def test_a_job_that_met_everything_has_one_entry_per_delivery(store: Store, id_: UUID | None) -> None:
    job = store.enqueue(id=id_)
    assert history(store, job) == []
    claims = []
    for ending in ("fail", "snooze", "lost", "release", "put_off", "suspect", "crash"):
        (batch,) = store.claim()
        claims.append(batch.claim)
        assert [each["ending"] for each in history(store, job)][-1] == "running"
        store.close(batch, ending)
        store.ask("select pulse.promote(10)")
    store.ask("select pulse.move(%s, 'other', 5)", job)
    (batch,) = store.claim(queues=("other",))
    settle(store, batch, "1", [1234])
    told = history(store, job)
    assert [(each["attempt"], each["ending"]) for each in told] == [
        (1, "fail"), (2, "snooze"), (3, "lost"), (4, "release"), (4, "release"), (4, "suspect"), (5, "crash"),
        (6, "completed"),
    ]  # fmt: skip
    assert [each["claim"] for each in told] == [*claims, batch.claim]
    assert {(each["executor"], each["runtime"], each["host"]) for each in told} == {(store.executor, "test", "here")}
    assert [each["took_us"] for each in told] == [3, 3, 3, None, None, 3, 3, 1234]
    assert [each["error"] for each in told] == ["it broke"] * 3 + [None] * 2 + ["it broke"] * 2 + [None]
    moments = [moment for each in told for moment in (each["claimed_at"], each["ended_at"]) if moment is not None]
    assert moments == sorted(moments)
    assert len(moments) == 2 * len(told) - 2, "only of what was given back is the end not known"


def test_a_reaped_job_was_lost_and_the_next_executor_is_another(store: Store, connect: Connect) -> None:
    job = store.enqueue()
    store.claim()
    store.ask("select pulse.reap(%s, 0)", store.executor)
    other = Store(connect())
    other.claim()
    told = [(each["ending"], each["executor"], each["error"]) for each in history(store, job)]
    assert told == [("lost", store.executor, "the executor's lease lapsed"), ("running", other.executor, None)]


def test_a_late_delivery_is_found_in_the_claim_that_took_it(store: Store, connect: Connect) -> None:
    late = connect(autocommit=False)
    row = late.execute("select pulse.enqueue(kind => 'late')").fetchone()
    assert row
    store.enqueue()
    store.settle(store.claim()[0])
    late.commit()
    (batch,) = store.claim()
    assert [(each["claim"], each["ending"]) for each in history(store, row[0])] == [(batch.claim, "running")]


def test_a_dead_letter_that_was_retried_tells_of_both_lives(store: Store) -> None:
    job = store.enqueue(max_attempts=1)
    store.close(store.claim()[0], "fail")
    store.ask("select pulse.retry(%s)", job)
    store.settle(store.claim()[0])
    assert [(each["attempt"], each["ending"]) for each in history(store, job)] == [(1, "fail"), (2, "completed")]


def test_failures_are_told_even_when_their_claim_and_log_are_gone(store: Store) -> None:
    job = store.enqueue(max_attempts=1)
    store.close(store.claim()[0], "fail")
    store.connection.execute("delete from pulse.log")
    store.connection.execute("delete from pulse.claim")
    (told,) = history(store, job)
    assert (told["ending"], told["claimed_at"], told["error"]) == ("fail", None, "it broke")


def test_deliveries_are_found_in_whatever_partition_they_are(store: Store) -> None:
    job = store.enqueue()
    store.close(store.claim()[0], "fail")
    store.ask("select added from pulse.keep_ahead(least_width => 1000)")
    store.ask("select pulse.cut(5000)")
    store.claim()
    other = store.enqueue()
    store.settle(store.claim()[0])
    assert [each["ending"] for each in history(store, job)] == ["fail", "running"]
    assert [each["ending"] for each in history(store, other)] == ["completed"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_the_time_of_each_job_is_its_own_however_a_batch_was_settled(store: Store, parts: list[int]) -> None:
    """`parts` says in which of three reports each job of the batch is settled; those of part 3 still run."""
    ids = [store.enqueue() for _ in parts]
    (batch,) = store.claim()
    for part in range(3):
        mask = "".join(str(int(each == part)) for each in parts)
        settle(store, batch, mask, [1000 + position for position, each in enumerate(parts) if each == part])
    for position, (job, part) in enumerate(zip(ids, parts, strict=True)):
        (told,) = history(store, job)
        expected = ("running", None) if part == 3 else ("completed", 1000 + position)
        assert (told["ending"], told["took_us"]) == expected
