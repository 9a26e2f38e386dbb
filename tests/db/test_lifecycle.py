"""The life of a job in SQL: what each statement does to it, and what it refuses."""

import json
from uuid import UUID, uuid4

import psycopg
import pytest
from fix_cluster import Connect, Connection
from store_kit import LANE, Batch, Store

from pulse_runtime.ids import uuid7


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


def test_a_job_is_pending_then_running_then_completed(store: Store) -> None:
    job = store.enqueue(args=json.dumps({"to": "a"}), priority=3)
    assert store.status(job) == "PENDING"
    (batch,) = store.claim()
    assert batch.jobs == [[str(job), "k", {"to": "a"}, 1, 0, 25, 0]]
    assert store.status(job) == "RUNNING"
    assert store.settle(batch) == 1
    assert store.status(job) == "COMPLETED"
    assert store.settle(batch) == 0


def test_what_is_rare_reaches_the_executor(store: Store) -> None:
    store.enqueue(key="once", tenant="t", trace="00-1", meta='{"a": 1}', options='{"timeout_ms": 5}')
    (batch,) = store.claim()
    rare, meta = batch.jobs[0][7:]
    assert rare == {"key": "once", "tenant": "t", "trace": "00-1", "options": {"timeout_ms": 5}}
    assert meta == {"a": 1}


def test_priorities_go_first_but_every_tenth_request_starts_at_the_lowest(store: Store) -> None:
    for priority in (-5, 0, 7):
        for _ in range(20):
            store.enqueue(priority=priority)
    first = [store.claim(1)[0] for _ in range(9)]
    lanes = [store.ask("select priority from pulse.claim where id = %s", batch.claim) for batch in first]
    assert set(lanes[:8]) == {7}
    assert lanes[8] == -5


def test_one_claim_goes_on_to_the_next_lane_until_it_has_enough(store: Store) -> None:
    for priority in (0, 7):
        for _ in range(3):
            store.enqueue(priority=priority)
    assert [len(batch.jobs) for batch in store.claim(5)] == [3, 2]


def test_tenants_of_a_fair_queue_share_each_claim(store: Store) -> None:
    store.connection.execute("insert into pulse.queue (name, lanes) values ('fair', 8)")
    for _ in range(50):
        store.enqueue(queue="fair", tenant="loud")
    for _ in range(3):
        store.enqueue(queue="fair", tenant="quiet")
    assert store.ask("select count(distinct lane) from pulse.log") == 2, "choose other names: these share a lane"
    taken = {batch.claim: len(batch.jobs) for batch in store.claim(20, ("fair",))}
    assert 3 in taken.values()


def test_a_failure_is_retried_charged_and_at_last_a_dead_letter(store: Store) -> None:
    job = store.enqueue(max_attempts=2)
    (batch,) = store.claim()
    assert store.close(batch, "fail") == 1
    assert store.status(job) == "RETRYING"
    (batch,) = store.claim()
    assert batch.jobs[0][3:5] == [2, 1]
    assert store.close(batch, "fail") == 1
    assert store.status(job) == "DEAD_LETTERED"
    assert store.ask("select count(*) from pulse.failure where id = %s", job) == 2
    assert store.ask("select last_error from pulse.get(%s)", job) == "it broke"


def test_by_default_the_second_try_waits_about_a_second(store: Store) -> None:
    store.enqueue()
    (batch,) = store.claim()
    store.close(batch, "fail", delay_ms=None)
    wait = store.ask("select extract(epoch from run_at - pulse.now())::float8 from pulse.delayed")
    assert 0.5 < wait < 1.2


@pytest.mark.parametrize(
    ("ending", "attempt", "charged", "suspect"),
    [("release", 1, 0, 0), ("lost", 2, 0, 0), ("suspect", 2, 0, 1), ("snooze", 2, 0, 0), ("crash", 2, 1, 1)],
)
def test_each_ending_counts_as_the_table_says(
    store: Store, ending: str, attempt: int, charged: int, suspect: int
) -> None:
    store.enqueue()
    store.close(store.claim()[0], ending)
    (again,) = store.claim()
    assert again.jobs[0][3:7] == [attempt, charged, 25, suspect]


def test_the_third_crash_is_a_dead_letter_whatever_the_budget(store: Store) -> None:
    job = store.enqueue(max_attempts=100)
    for _ in range(3):
        assert store.status(job) != "DEAD_LETTERED"
        store.close(store.claim()[0], "crash")
    assert store.status(job) == "DEAD_LETTERED"


def test_a_report_with_the_wrong_token_changes_nothing(store: Store) -> None:
    store.enqueue()
    (batch,) = store.claim()
    forged = Batch(batch.claim, UUID(int=1), batch.jobs)
    assert (store.settle(forged), store.close(forged, "fail")) == (0, 0)
    assert store.settle(batch) == 1


def test_a_reaped_executor_may_not_claim_and_its_report_is_a_no_op(store: Store) -> None:
    job = store.enqueue()
    (batch,) = store.claim()
    assert store.ask("select pulse.reap(%s, 5)", store.executor) is None, "its counter is not 5"
    assert store.ask("select pulse.reap(%s, 0)", store.executor) == 1
    assert store.settle(batch) == 0
    assert store.status(job) == "PENDING"
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="has ended and may not claim"):
        store.claim()
    assert store.ask("select pulse.extend(%s)", [store.executor]) == [store.executor]


def test_a_beat_saves_an_executor_from_the_reaper(store: Store) -> None:
    assert store.ask("select pulse.extend(%s)", [store.executor]) == []
    assert store.ask("select pulse.reap(%s, 0)", store.executor) is None


def test_a_key_is_free_again_when_its_job_has_ended(store: Store) -> None:
    job = store.enqueue(key="welcome")
    assert store.enqueue(key="welcome") == job
    assert store.enqueue(key="welcome", tenant="another") != job
    (batch,) = store.claim(1)
    store.settle(batch)
    assert store.enqueue(key="welcome") != job


def test_a_call_repeated_with_the_same_id_and_key_adds_nothing(store: Store) -> None:
    job = store.enqueue(key="welcome")
    assert store.enqueue(key="welcome", id=job) == job
    assert store.ask("select count(*) from pulse.log") == 1


def test_a_key_for_a_period_outlives_its_job(store: Store) -> None:
    job = store.enqueue(key="daily", key_for="1 day")
    store.settle(store.claim()[0])
    assert store.enqueue(key="daily", key_for="1 day") == job
    store.connection.execute("update pulse.key set until = pulse.now() - interval '1 s'")
    assert store.enqueue(key="daily", key_for="1 day") != job


def test_waiting_jobs_are_canceled_wherever_they_wait(store: Store) -> None:
    ready = store.enqueue(key="a")
    later = store.enqueue(run_at="infinity")
    for job in (ready, later):
        assert store.ask("select pulse.cancel(%s, 'me', 'no need')", job) == "CANCELED"
        assert store.status(job) == "CANCELED"
    assert store.claim() == []
    assert store.enqueue(key="a") != ready
    assert store.ask("select pulse.cancel(%s)", UUID(int=7)) is None


def test_canceling_a_running_job_is_a_wish_and_a_finished_one_is_refused(store: Store) -> None:
    job = store.enqueue()
    (batch,) = store.claim()
    assert store.ask("select pulse.cancel(%s)", job) == "RUNNING"
    assert store.ask("select executor from pulse.cancel_request where id = %s", job) == store.executor
    store.settle(batch)
    with pytest.raises(psycopg.Error, match=f"cancel is not possible: job {job} is COMPLETED") as refused:
        store.ask("select pulse.cancel(%s)", job)
    assert refused.value.sqlstate == "PU409"


def test_a_dead_letter_can_be_retried_with_its_whole_budget(store: Store) -> None:
    job = store.enqueue(max_attempts=1)
    store.close(store.claim()[0], "fail")
    assert store.ask("select pulse.retry(%s)", job) is True
    (batch,) = store.claim()
    assert batch.jobs[0][3:5] == [2, 0]
    with pytest.raises(psycopg.Error, match=r"retry is not possible: job .* is RUNNING"):
        store.ask("select pulse.retry(%s)", job)


def test_a_waiting_job_can_be_moved_and_a_running_one_cannot(store: Store) -> None:
    job = store.enqueue()
    assert store.ask("select pulse.move(%s, 'other', 9)", job) is True
    assert store.claim() == []
    (batch,) = store.claim(queues=("other",))
    assert batch.jobs[0][0] == str(job)
    with pytest.raises(psycopg.Error, match=r"move is not possible: job .* is RUNNING"):
        store.ask("select pulse.move(%s, 'third')", job)


def test_a_pause_stops_claims_and_nothing_else(store: Store) -> None:
    store.enqueue()
    assert store.ask("select pulse.pause('default', 'me', 'deploy')") is True
    assert store.ask("select pulse.pause('default', 'me', 'deploy')") is False
    assert store.claim() == []
    store.ask("select pulse.pause(null, 'me', 'all')")
    store.ask("select pulse.resume('default')")
    assert store.claim() == []
    store.ask("select pulse.resume(null)")
    assert len(store.claim()) == 1


def test_a_claim_is_bounded_in_bytes_but_takes_one_job(store: Store) -> None:
    for _ in range(3):
        store.enqueue(args=json.dumps({"x": "y" * 1000}))
    assert [len(batch.jobs) for batch in store.claim(bytes_=2500)] == [2]
    assert [len(batch.jobs) for batch in store.claim(bytes_=10)] == [1]


def test_a_large_batch_comes_by_a_second_statement(store: Store) -> None:
    for _ in range(3):
        store.enqueue(args=json.dumps({"x": "y" * 100_000}))
    (batch,) = store.claim()
    assert batch.jobs == []
    assert len(json.loads(store.ask("select pulse.fetch(%s, %s)", batch.claim, batch.token))) == 3
    assert store.ask("select pulse.fetch(%s, %s)", batch.claim, UUID(int=1)) is None


def test_a_claim_after_a_write_in_its_transaction_is_refused(store: Store) -> None:
    with store.connection.transaction():
        store.enqueue()
        with pytest.raises(psycopg.errors.ActiveSqlTransaction, match="first write"):
            store.ask("select pulse.claim(%s, 1, '{default}', '{1}', 1)", store.executor)


@pytest.mark.parametrize(
    "statement",
    [
        "select pulse.claim(1, 1, '{default}', '{1}', 1)",
        "select pulse.settle('{}', '{}', '{}', '{}')",
        "select pulse.close('{}', '{}', '{}', '{}', '{}', '{}', '{}')",
        "select pulse.cancel(pulse.uuid7())",
        "select pulse.reap(1, 0)",
    ],
)
def test_other_isolation_levels_are_refused(connect: Connect, statement: str) -> None:
    connection = connect(autocommit=False)
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    with pytest.raises(psycopg.errors.ActiveSqlTransaction):
        connection.execute(statement.encode())


def test_the_log_cannot_be_updated_by_anyone(store: Store) -> None:
    store.enqueue()
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="append-only"):
        store.connection.execute("update pulse.log set priority = 1")


def test_notify_is_sent_only_while_someone_is_parked(store: Store, connect: Connect) -> None:
    listener = connect()
    listener.execute("listen pulse")
    store.enqueue()
    store.ask("select pulse.park(%s)", ["default"])
    store.enqueue()
    store.ask("select pulse.unpark(%s)", ["default"])
    store.enqueue()
    heard = list(listener.notifies(timeout=0.2))
    assert [note.payload for note in heard] == ["default"]


def test_a_producer_that_may_have_missed_the_parking_keeps_us_from_sleeping(store: Store, connect: Connect) -> None:
    producer = connect(autocommit=False)
    producer.execute("select pulse.enqueue(kind => 'k')")
    parked = store.ask("select pulse.park(%s)", ["default"])
    assert store.ask("select pulse.is_quiet(%s::text::xid8)", parked) is False
    producer.commit()
    assert store.ask("select pulse.is_quiet(%s::text::xid8)", parked) is True


def test_delayed_jobs_come_when_they_are_due(store: Store) -> None:
    job = store.enqueue(run_at="2100-01-01")
    assert store.status(job) == "PENDING"
    assert store.ask("select moved from pulse.promote(10)") == 0
    store.connection.execute("update pulse.delayed set run_at = pulse.now()")
    assert store.ask("select moved from pulse.promote(10)") == 1
    assert store.claim()[0].jobs[0][0] == str(job)


def test_a_million_uncommitted_rows_are_waded_through_once(store: Store, connect: Connect) -> None:
    writer = connect(autocommit=False)
    store.enqueue()
    store.settle(store.claim()[0])
    writer.execute(
        "insert into pulse.log (submitted_at, id, kind, lane_id) select pulse.now(), gen_random_uuid(), 'k', "
        f"{LANE} from generate_series(1, 60000)"
    )
    for _ in range(3):
        store.claim()
        store.connection.execute("select pg_current_xact_id()")
    before = store.ask("select count(*) from pulse.claim")
    assert store.claim() == []
    assert store.ask("select count(*) from pulse.claim") == before, "the late list is in place: nothing more is written"
    writer.commit()
    assert sum(len(batch.jobs) for batch in store.claim(500)) == 500


@pytest.mark.parametrize(
    ("retry", "charged", "least_s", "most_s"),
    [
        ({"kind": "fixed", "first_s": 30}, 7, 30, 30),
        ({"kind": "list", "delays_s": [1, 60]}, 2, 60, 60),
        ({"kind": "list", "delays_s": [1, 60]}, 9, 60, 60),
        ({"kind": "exponential", "first_s": 1, "factor": 2}, 4, 7.2, 8.8),
        ({"kind": "exponential", "first_s": 1, "factor": 2, "cap_s": 5}, 4, 4.5, 5),
        ({}, 3, 8.1, 9.9),
        ({"cap_s": "soon"}, 3, 9, 9),
        ({"kind": "fixed", "first_s": -5}, 1, 0, 0),
    ],
)
def test_a_delay_is_what_the_policy_says_and_never_beyond_its_cap(
    store: Store, retry: dict[str, object], charged: int, least_s: float, most_s: float
) -> None:
    """Those that were said as such are not blurred."""
    drawn = "select extract(epoch from pulse.backoff(%s::json, %s)) as s from generate_series(1, 50)"
    bounds = f"select min(s), max(s) from ({drawn}) s"
    row = store.connection.execute(bounds.encode(), (json.dumps({"retry": retry}), charged)).fetchone()
    assert row
    assert least_s <= row[0] <= row[1] <= most_s


PLAIN = "select pulse.enqueue_plain(%s, %s::json, %s, %s)"


def test_the_plain_door_takes_a_job_that_lies_beyond_it_as_enqueue_does(store: Store) -> None:
    """An id that tells no partition, no id at all, names and arguments that are large."""
    for kind, args, queue, job in (
        ("k", "{}", "default", uuid4()),
        ("k", "{}", "default", None),
        ("k" * 60, "{}", "q" * 60, uuid7()),
        ("k", json.dumps({"a": "x" * 20_000}), "default", uuid7()),
    ):
        added = store.ask(PLAIN, kind, args, queue, job)
        assert job in (None, added)
        found = store.connection.execute("select kind, args, queue, status from pulse.get(%s)", (added,)).fetchone()
        assert found == (kind, json.loads(args), queue, "PENDING")


@pytest.mark.parametrize(
    ("kind", "args", "queue"),
    [
        ("", "{}", "q"),
        ("k", "{}", ""),
        ("k" * 1000, "{}", "q"),
        ("k", "{}", "q" * 1000),
        ("k", None, "q"),
        (None, "{}", "q"),
    ],
    ids=["no kind", "no queue", "a long kind", "a long queue", "null arguments", "a null kind"],
)
def test_the_plain_door_holds_every_bound(store: Store, kind: str | None, args: str | None, queue: str) -> None:
    with pytest.raises(psycopg.errors.IntegrityError):
        store.ask(PLAIN, kind, args, queue, uuid7())
    assert store.ask("select count(*) from pulse.log") == 0
