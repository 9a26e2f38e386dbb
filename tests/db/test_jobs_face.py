"""Following and changing jobs from Python, blocking and asynchronous alike."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import uvloop
from embedded_kit import eventually
from fix_cluster import Connect, Connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_kit import Store

import pulse_runtime
from pulse_runtime import (
    BadJob,
    ChangeUnsure,
    DatabaseSilent,
    Handle,
    InvalidTransition,
    NoDatabase,
    NoSuchJob,
    NotCompleted,
    NotFinished,
    ResultNotKept,
    Status,
    aenqueue,
    aget,
    enqueue,
    jobs,
)
from pulse_runtime.store import own
from pulse_runtime.store.errors import NotMigrated

Call = Callable[..., Any]
TWINS = {"wait": "await_for"}
BLOCKED = """
select pg_terminate_backend(pid, 5000) from pg_stat_activity
 where application_name like '%pulse:producer' and wait_event_type = 'Lock' and datname = current_database()
"""


@pytest.fixture(scope="session")
def libuv() -> None:
    """The first loop of libuv makes a pipe for signals that the process keeps."""
    uvloop.new_event_loop().close()


@pytest.fixture(params=["blocking", "asyncio", "uvloop"])
def call(request: pytest.FixtureRequest, dsn: str, libuv: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Call]:
    """Calls a public function by its name, or its asynchronous twin in a loop of its own."""
    monkeypatch.setenv("PULSE_DSN", dsn)
    if request.param == "blocking":
        yield lambda name, *args, **options: getattr(pulse_runtime, name)(*args, **options)
        own.close()
        return
    factory = asyncio.new_event_loop if request.param == "asyncio" else uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        yield lambda name, *args, **options: runner.run(
            getattr(pulse_runtime, TWINS.get(name, f"a{name}"))(*args, **options)
        )


@pytest.fixture
def ours(dsn: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("PULSE_DSN", dsn)
    yield dsn
    own.close()


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


def keep(store: Store, result: str) -> None:
    """Claim one job and settle it with this result."""
    (batch,) = store.claim(1)
    values = ([batch.claim], [batch.token], ["1"], [7], f"[[{batch.claim}, 0, {result}]]")
    store.connection.execute("select pulse.settle(%s, %s, %s::bit varying[], %s, %s::json)", values)


def test_a_job_is_told_with_all_that_was_said_of_it(call: Call, store: Store) -> None:
    at = datetime.now(UTC) + timedelta(days=1)
    said: dict[str, Any] = {"queue": "q", "priority": -3, "key": "k", "tenant": "t", "project": "p", "trace": "00-1"}
    handle = call("enqueue", "mail", {"to": ["é", 1.5, None]}, at=at, max_attempts=4, metadata={"a": {}}, **said)
    record = call("get", handle)
    assert {name: getattr(record, name) for name in said} == said
    assert (record.id, record.kind, record.args, record.metadata) == (
        handle.id,
        "mail",
        {"to": ["é", 1.5, None]},
        {"a": {}},
    )
    assert (record.run_at, record.attempt, record.charged, record.max_attempts) == (at, 1, 0, 4)
    assert (record.status, record.started_at, record.finished_at, record.last_error) == (
        Status.PENDING,
        None,
        None,
        None,
    )
    assert abs(datetime.now(UTC) - record.submitted_at) < timedelta(minutes=1)


def test_a_job_is_named_by_its_handle_its_id_or_its_text(call: Call, store: Store) -> None:
    handle = call("enqueue", "a")
    same = {call("get", name).id for name in (handle, handle.id, str(handle.id), handle.id.hex)}
    assert same == {handle.id}


@pytest.mark.parametrize("name", ["get", "cancel", "retry", "move", "wait", "result", "history"])
@pytest.mark.parametrize("bad", ["not-an-id", "", 7, None, b"x", (uuid4(), True)])
def test_what_cannot_name_a_job_is_refused_before_anything_is_sent(
    name: str, bad: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULSE_DSN", "host=/nowhere")
    with pytest.raises(BadJob, match=r"^job: "):
        getattr(pulse_runtime, name)(bad)


@pytest.mark.parametrize("name", ["get", "cancel", "retry", "wait", "result"])
def test_an_unknown_job_is_said_to_be_none(call: Call, store: Store, name: str) -> None:
    unknown = uuid4()
    with pytest.raises(NoSuchJob, match=str(unknown)) as caught:
        call(name, unknown)
    assert (caught.value.id, caught.value.exit_code) == (unknown, 3)
    with pytest.raises(NoSuchJob):
        call("move", unknown, queue="q")
    assert call("history", unknown) == []


def test_a_waiting_job_is_canceled_with_a_reason_and_again_without_complaint(call: Call, store: Store) -> None:
    for handle in (call("enqueue", "a"), call("enqueue", "a", delay="1h")):
        assert call("cancel", handle, reason="no need") is Status.CANCELED
        assert call("cancel", handle, reason="again") is Status.CANCELED
        assert (call("get", handle).status, call("get", handle).last_error) == (Status.CANCELED, "no need")


def test_canceling_a_running_job_asks_its_executor(call: Call, store: Store) -> None:
    job = store.enqueue()
    store.claim()
    assert call("cancel", job) is Status.RUNNING
    assert store.ask("select executor from pulse.cancel_request where id = %s", job) == store.executor


@pytest.mark.parametrize(
    ("asked", "options", "refused"),
    [
        ("cancel", {}, {"COMPLETED", "DEAD_LETTERED"}),
        ("retry", {}, {"PENDING", "RUNNING", "COMPLETED", "RETRYING", "CANCELED"}),
        ("move", {"queue": "q"}, {"RUNNING", "COMPLETED", "DEAD_LETTERED", "CANCELED"}),
    ],
)
def test_what_cannot_follow_from_the_jobs_state_is_refused_with_both(
    call: Call, store: Store, asked: str, options: dict[str, Any], refused: set[str]
) -> None:
    jobs = jobs_in_every_state(store)
    for status in refused:
        with pytest.raises(
            InvalidTransition, match=f"^cannot {asked} job {jobs[status]}: it is {status}. Only a "
        ) as it:
            call(asked, jobs[status], **options)
        assert (it.value.asked, it.value.id, it.value.status) == (asked, jobs[status], Status(status))
        assert (it.value.exit_code, call("get", jobs[status]).status) == (4, status)
    for status in set(jobs) - refused:
        call(asked, jobs[status], **options)


def jobs_in_every_state(store: Store) -> dict[str, UUID]:
    """One job of each status."""
    found: dict[str, UUID] = {}
    for status, ending in (("DEAD_LETTERED", "dead"), ("RETRYING", "fail")):
        found[status] = store.enqueue()
        store.close(store.claim()[0], ending, delay_ms=3_600_000)
    found["COMPLETED"] = store.enqueue()
    store.settle(store.claim()[0])
    found["RUNNING"] = store.enqueue()
    store.claim()
    found["CANCELED"] = store.enqueue()
    store.ask("select pulse.cancel(%s)", found["CANCELED"])
    found["PENDING"] = store.enqueue()
    assert {status: store.status(job) for status, job in found.items()} == {status: status for status in found}
    assert set(found) == set(Status)
    return found


def test_a_dead_letter_is_retried_unless_its_key_is_anothers(call: Call, store: Store) -> None:
    job = store.enqueue(key="k", max_attempts=1)
    store.close(store.claim()[0], "fail")
    other = store.enqueue(key="k")
    with pytest.raises(InvalidTransition, match=r"it is DEAD_LETTERED. Its key is held by another job. Retry it when"):
        call("retry", job)
    call("cancel", other)
    call("retry", job)
    assert (call("get", job).status, call("get", job).attempt, call("get", job).charged) == (Status.PENDING, 2, 0)


def test_a_waiting_job_moves_to_another_queue_or_priority(call: Call, store: Store) -> None:
    job = store.enqueue(queue="a", priority=1)
    call("move", job, queue="b")
    assert (call("get", job).queue, call("get", job).priority) == ("b", 1)
    call("move", job, priority=-2)
    assert (call("get", job).queue, call("get", job).priority) == ("b", -2)
    for options, field in (({}, "queue"), ({"queue": "\0"}, "queue"), ({"priority": 11}, "priority")):
        with pytest.raises(BadJob) as caught:
            call("move", job, **options)
        assert caught.value.field == field


def test_waiting_ends_soon_after_the_job_has(call: Call, store: Store) -> None:
    for settle in (lambda batch: store.settle(batch), lambda batch: store.close(batch, "dead")):
        job = store.enqueue()
        (batch,) = store.claim()
        timer = threading.Timer(0.3, settle, [batch])
        timer.start()
        record = call("wait", job, timeout="20s")
        seen = time.time()
        timer.join()
        assert record.status.is_final
        assert seen - record.finished_at.timestamp() < 2.0
        assert record == call("get", job)


def test_waiting_gives_up_when_the_time_is_up_and_says_what_it_saw(call: Call, store: Store) -> None:
    job = store.enqueue()
    began = time.monotonic()
    with pytest.raises(NotFinished, match=rf"job {job} has not ended within 0.2 s: it is PENDING") as caught:
        call("wait", job, timeout=0.2)
    assert 0.2 <= time.monotonic() - began < 2.0
    assert (caught.value.id, caught.value.status, caught.value.timeout_s) == (job, Status.PENDING, 0.2)
    assert isinstance(caught.value, TimeoutError)
    store.claim()
    with pytest.raises(NotFinished, match="it is RUNNING"):
        call("result", job, timeout=timedelta(0))
    with pytest.raises(BadJob, match=r"^timeout: "):
        call("wait", job, timeout="soon")


@pytest.mark.parametrize("result", ["null", '"é"', "[1, 2.5, {}]", '{"a": {"b": null}}', "0", "false"])
def test_a_kept_result_is_decoded(call: Call, store: Store, result: str) -> None:
    job = store.enqueue()
    keep(store, result)
    assert call("result", job) == json.loads(result)


def test_a_job_without_a_result_says_why(call: Call, store: Store) -> None:
    jobs = jobs_in_every_state(store)
    with pytest.raises(ResultNotKept, match=r"is COMPLETED, and there is no result of it.*keep_result=True") as kept:
        call("result", jobs["COMPLETED"])
    assert kept.value.record.id == jobs["COMPLETED"]
    with pytest.raises(NotCompleted, match=r"has no result: it is DEAD_LETTERED after 1 attempts: it broke") as dead:
        call("result", jobs["DEAD_LETTERED"])
    assert dead.value.record.last_error == "it broke"
    with pytest.raises(NotCompleted, match=r"it is CANCELED after 1 attempts: no reason was given"):
        call("result", jobs["CANCELED"])


@pytest.mark.anyio
async def test_a_handle_follows_its_job(ours: str, store: Store) -> None:
    handle = await aenqueue("a", keep_result=True)
    assert (handle.get().status, (await handle.aget()).status) == (Status.PENDING, Status.PENDING)
    keep(store, "[7]")
    assert (handle.result("5s"), await handle.aresult("5s")) == ([7], [7])
    assert handle.wait(5) == await handle.await_for(5) == handle.get()
    assert (handle.id, handle.created) == tuple(handle)
    await own.aclose()


def test_a_job_that_is_due_never_can_be_read(call: Call, store: Store) -> None:
    job = store.enqueue(run_at="infinity")
    assert call("get", job).run_at.year == 9999


def test_a_database_without_the_schema_says_to_migrate(empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULSE_DSN", empty_dsn)
    for name in ("get", "cancel", "retry", "history"):
        with pytest.raises(NotMigrated, match="Run `pulse-runtime db migrate`"):
            getattr(pulse_runtime, name)(uuid4())
    own.close()


def test_without_a_server_nothing_was_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULSE_DSN", "host=/nowhere")
    with pytest.raises(NoDatabase, match="no connection to Postgres"):
        pulse_runtime.get(uuid4())


def test_a_silent_server_is_left_after_a_while(
    call: Call, store: Store, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = store.enqueue()
    monkeypatch.setattr(jobs, "_ANSWER_S", 0.3)
    blocker = connect(autocommit=False)
    blocker.execute("lock table pulse.outcome in access exclusive mode")
    with pytest.raises(DatabaseSilent, match=f"did not answer within 0.3 s when asked to look up job {job}"):
        call("get", job)
    with pytest.raises(DatabaseSilent, match=f"asked to retry job {job}"):
        call("retry", job)
    blocker.rollback()
    assert call("get", job).id == job


def test_waiting_on_a_silent_server_ends_soon_after_the_time_is_up(ours: str, store: Store, connect: Connect) -> None:
    job = store.enqueue()
    blocker = connect(autocommit=False)
    blocker.execute("lock table pulse.outcome in access exclusive mode")
    began = time.monotonic()
    with pytest.raises(DatabaseSilent):
        pulse_runtime.wait(job, timeout=0.1)
    assert time.monotonic() - began < 5.0
    blocker.rollback()


@pytest.fixture
def blocked(ours: str, connect: Connect) -> Call:
    """Runs a call in a thread and ends its connection `times` times while it waits for an answer."""
    blocker, watcher = connect(autocommit=False), connect()

    def asked(call: Callable[..., Any], *values: Any, times: int = 1) -> Any:
        blocker.execute("lock table pulse.outcome in access exclusive mode")
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(call, *values)
            for _ in range(times):
                assert eventually(lambda: watcher.execute(BLOCKED.encode()).fetchall() == [(True,)], within_s=5)
            blocker.rollback()
            return answer.result(10)

    return asked


def test_a_read_whose_answer_was_lost_is_asked_again_once(blocked: Call, store: Store) -> None:
    job = store.enqueue()
    assert blocked(pulse_runtime.get, job).id == job
    with pytest.raises(NoDatabase, match=rf"was lost twice when asked for job {job}: .*Nothing was changed"):
        blocked(pulse_runtime.get, job, times=2)


def test_a_cancel_whose_answer_was_lost_is_asked_again_once(blocked: Call, store: Store) -> None:
    job = store.enqueue()
    assert blocked(pulse_runtime.cancel, job) is Status.CANCELED
    with pytest.raises(ChangeUnsure):
        blocked(pulse_runtime.cancel, job, times=2)


def test_a_retry_or_move_whose_answer_was_lost_leaves_the_caller_unsure(blocked: Call, store: Store) -> None:
    job = store.enqueue(max_attempts=1)
    with pytest.raises(ChangeUnsure, match=rf"asked to move job {job}, so that may have been done or not") as caught:
        blocked(lambda: pulse_runtime.move(job, queue="b"))
    assert (caught.value.asked, caught.value.id, caught.value.exit_code) == ("move", job, 5)
    with pytest.raises(ChangeUnsure, match="Look at the job with get"):
        blocked(pulse_runtime.retry, job)


@pytest.mark.anyio
async def test_an_enqueue_that_waits_for_a_key_holds_up_nobody_else(ours: str, store: Store, connect: Connect) -> None:
    first = connect(autocommit=False)
    enqueue("a", on=first, key="k")
    job = store.enqueue()
    waiting = asyncio.create_task(aenqueue("a", key="k"))
    records = await asyncio.gather(*(aget(job) for _ in range(20)))
    assert {record.id for record in records} == {job}
    assert not waiting.done()
    first.rollback()
    assert (await waiting).created
    await own.aclose()


def test_a_forked_reader_has_its_own_connection(ours: str, store: Store) -> None:
    job = store.enqueue()
    pulse_runtime.get(job)
    before = own._threads.held
    before.pid += 1  # as a child sees what its parent held
    assert pulse_runtime.get(job).id == job
    assert own._threads.held is not before
    before.pid -= 1
    before.drop()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(reason=st.text(max_size=200), text=st.text(max_size=50))
def test_any_reason_is_kept_as_it_is_or_refused(ours: str, store: Store, reason: str, text: str) -> None:
    job = Handle(store.enqueue(), created=True)
    try:
        reason.encode()
        fits = bool(reason) and "\0" not in reason
    except UnicodeEncodeError:
        fits = False
    if fits:
        assert pulse_runtime.cancel(job, reason=reason) is Status.CANCELED
        assert job.get().last_error == reason
    else:
        with pytest.raises(BadJob, match=r"^reason: "):
            pulse_runtime.cancel(job, reason=reason)
    with pytest.raises(BadJob):
        pulse_runtime.get(f"{text} {job.id}")
