"""Enqueueing on a connection of one's own and on Pulse's: what arrives, and what cannot."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
import trio
from embedded_kit import eventually
from fix_cluster import Connect, Connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pulse_runtime import (
    BadJob,
    EnqueueUnsure,
    Job,
    NoDatabase,
    Retry,
    WrongConnection,
    aenqueue,
    aenqueue_many,
    enqueue,
    enqueue_many,
)
from pulse_runtime.store import own
from pulse_runtime.store.errors import NotMigrated
from pulse_sql import grants

KILL = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name like '%pulse:producer'"

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=25)
leaves = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
trees = st.recursive(leaves | texts, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=10)
objects = st.dictionaries(texts, trees, max_size=4)
durations = st.floats(0.001, 10 * 365 * 86_400) | st.sampled_from(["1h30m", timedelta(days=1)])
moments = st.datetimes(datetime(1, 1, 2), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
policies = st.builds(Retry.exponential, durations, factor=st.floats(1, 1000)) | st.builds(Retry.listed, durations)
jobs = st.builds(
    Job,
    kind=texts,
    args=objects,
    queue=st.none() | texts,
    priority=st.none() | st.integers(-10, 10),
    delay=st.none() | durations,
    key=st.none() | texts,
    tenant=st.none() | texts,
    project=st.none() | texts,
    max_attempts=st.none() | st.integers(1, 1000),
    retry=st.none() | policies | st.builds(Retry, attempts=st.integers(1, 1000)),
    timeout=st.none() | durations,
    keep_result=st.none() | st.booleans(),
    metadata=st.none() | objects,
    trace=st.none() | texts,
)


@pytest.fixture
def ours(dsn: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PULSE_DSN", dsn)
    yield dsn
    own.close()


def rows(connection: Connection, columns: str = "id", table: str = "log") -> list[Any]:
    return connection.execute(f"select {columns} from pulse.{table}".encode()).fetchall()


def test_a_job_arrives_with_all_that_was_said_of_it(connection: Connection) -> None:
    handle = enqueue(
        "mail", {"to": "é"}, on=connection, queue="q", priority=3, key="k", tenant="t", project="p", trace="00-1",
        retry=Retry.fixed("5s", attempts=4), timeout="30s", keep_result=True, metadata={"a": [1]},
    )  # fmt: skip
    columns = "id, kind, args, queue, priority, key, tenant, project, trace, max_attempts, options, meta"
    options = {"retry": {"kind": "fixed", "first_s": 5.0, "cap_s": 5.0}, "timeout_ms": 30_000, "keep_result": True}
    expected = (handle.id, "mail", {"to": "é"}, "q", 3, "k", "t", "p", "00-1", 4, options, {"a": [1]})
    assert rows(connection, columns) == [expected]
    assert handle.created


def test_many_jobs_arrive_with_all_that_was_said_of_them(connection: Connection) -> None:
    at = datetime(2030, 1, 1, tzinfo=UTC)
    said = Job("c", {"n": 3}, at=at, key="k", key_for="1h", tenant="t", retry=Retry(attempts=4), metadata={"a": 1})
    handles = enqueue_many([Job("a"), Job("b", {"n": 2}, priority=-1), said], on=connection)
    assert rows(connection, "id, kind, args, priority") == [
        (handles[0].id, "a", {}, 0),
        (handles[1].id, "b", {"n": 2}, -1),
    ]
    columns = "id, args, run_at, key, tenant, max_attempts, meta"
    assert rows(connection, columns, "delayed") == [(handles[2].id, {"n": 3}, at, "k", "t", 4, {"a": 1})]


@pytest.mark.parametrize("more", [{}, {"tenant": "t", "metadata": {"run_at": "no"}}])
def test_a_delay_is_counted_by_the_clock_of_the_database(connection: Connection, more: dict[str, Any]) -> None:
    one = enqueue("a", on=connection, delay="1h", **more)
    two = enqueue_many([Job("b"), Job("b", delay=3600, **more)], on=connection)[1]
    near = "id, run_at - pulse.now() between interval '59 min' and interval '1 hour', tenant"
    assert sorted(rows(connection, near, "delayed")) == sorted(
        (each.id, True, more.get("tenant")) for each in (one, two)
    )


def test_the_role_of_producers_is_enough(connection: Connection) -> None:
    with connection.transaction(force_rollback=True):  # roles belong to the whole cluster
        connection.execute(grants().encode())
        connection.execute("set local role pulse_producer")
        assert enqueue("a", on=connection, delay="1h", key="k", tenant="t").created
        assert all(each.created for each in enqueue_many([Job("b"), Job("b", delay=1, key="j")], on=connection))


def test_a_taken_key_gives_the_holder_and_adds_nothing(connection: Connection) -> None:
    first = enqueue("a", on=connection, key="k")
    assert enqueue("a", on=connection, key="k") == (first.id, False)
    again = enqueue_many([Job("a", key="k"), Job("a", key="new"), Job("a", key="new")], on=connection)
    assert again[0] == (first.id, False)
    assert again[1].created
    assert again[2] == (again[1].id, False)
    assert len(rows(connection)) == 2


def test_one_bad_job_of_many_is_named_and_nothing_is_written(connection: Connection) -> None:
    with pytest.raises(BadJob) as caught:
        enqueue_many([Job("a"), Job("b", {"x": [0, float("nan")]})], on=connection)
    assert (caught.value.index, caught.value.field) == (1, "args.x[1]")
    assert rows(connection) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(job=jobs)
def test_what_passes_the_check_is_taken_by_postgres_and_read_back_the_same(connection: Connection, job: Job) -> None:
    with connection.transaction(force_rollback=True):
        one = enqueue(job, on=connection)
        table = "delayed" if rows(connection, table="delayed") else "log"
        assert rows(connection, "id, args, meta, kind", table) == [(one.id, job.args, job.metadata, job.kind)]
    with connection.transaction(force_rollback=True):
        first, second = enqueue_many([job, Job("plain", job.args)], on=connection)
        read = rows(connection, "id, args, meta, kind, key", table)
        assert (first.id, job.args, job.metadata, job.kind, job.key) in read
        assert (second.id, job.args, "plain") in rows(connection, "id, args, kind")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=moments)
def test_every_moment_that_is_not_absurd_is_taken(connection: Connection, at: datetime) -> None:
    with connection.transaction(force_rollback=True):
        enqueue("a", on=connection, at=at)
        assert rows(connection, "run_at", "delayed") == ([(at,)] if at > datetime.now(UTC) else [])


def test_the_largest_arguments_that_may_be_asked_for_are_taken(connection: Connection) -> None:
    room = (4 << 20) - len('{"x":""}')
    enqueue(Job("a", {"x": "y" * room}, max_args_bytes=4 << 20, metadata={"x": "y" * 65_000}), on=connection)
    assert rows(connection, "octet_length(args::text)") == [(4 << 20,)]


def test_without_a_connection_the_job_is_committed_on_return(ours: str, connection: Connection) -> None:
    handles = [enqueue("a"), *enqueue_many([Job("b")])]
    assert rows(connection) == [(each.id,) for each in handles]


def test_without_a_dsn_enqueue_says_to_set_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PULSE_DSN", raising=False)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    with pytest.raises(NoDatabase, match="Set PULSE_DSN"):
        enqueue("a")


def test_a_database_without_the_schema_says_to_migrate(empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULSE_DSN", empty_dsn)
    with pytest.raises(NotMigrated, match=r"lacks the schema of Pulse\. Run `pulse-runtime db migrate`"):
        enqueue("a")
    own.close()


def test_a_connection_that_died_while_idle_is_replaced(ours: str, connection: Connection) -> None:
    enqueue("a")
    assert connection.execute(KILL.encode()).fetchall() == [(True,)]
    enqueue("b")
    assert rows(connection, "kind") == [("a",), ("b",)]


def test_a_connection_that_dies_while_it_is_asked_leaves_the_producer_unsure(ours: str, connect: Connect) -> None:
    first, watcher = connect(autocommit=False), connect()
    enqueue("a", on=first, key="k")

    def end_it() -> bool:
        blocked = watcher.execute(f"{KILL} and wait_event_type = 'Lock'".encode()).fetchall()
        return blocked == [(True,)]

    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(enqueue, "a", key="k")
        assert eventually(end_it, within_s=5)
        with pytest.raises(EnqueueUnsure, match="may have been added or not"):
            second.result(5)
    first.rollback()


@pytest.mark.anyio
async def test_an_asynchronous_connection_that_died_while_idle_is_replaced(ours: str, connection: Connection) -> None:
    await aenqueue("a")
    assert connection.execute(KILL.encode()).fetchall() == [(True,)]
    await aenqueue("b")
    assert rows(connection, "kind") == [("a",), ("b",)]
    await own.aclose()


def test_under_trio_the_producer_is_told_to_use_a_thread(ours: str) -> None:
    with pytest.raises(WrongConnection, match="in a thread instead: enqueue for aenqueue"):
        trio.run(aenqueue, "a")


def test_each_thread_has_a_connection_that_ends_with_it(ours: str, connection: Connection) -> None:
    thread = threading.Thread(target=enqueue, args=("a",))
    thread.start()
    thread.join()
    assert rows(connection, "kind") == [("a",)]


def test_a_forked_child_opens_its_own_and_leaves_its_parents_alone(ours: str, connection: Connection) -> None:
    enqueue("a")
    child = os.fork()
    if child == 0:
        try:
            enqueue("b")
            own.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    before = own._threads.held
    enqueue("c")
    assert own._threads.held is before
    assert rows(connection, "kind") == [("a",), ("b",), ("c",)]


def test_many_tasks_of_a_loop_share_one_connection_that_ends_with_the_loop(ours: str, connection: Connection) -> None:
    async def produce() -> int:
        await asyncio.gather(*(aenqueue("a", {"n": n}) for n in range(20)), aenqueue_many([Job("b")]))
        counted = "select count(*) from pg_stat_activity where application_name like '%pulse:producer'"
        return int(connection.execute(counted.encode()).fetchall()[0][0])

    assert asyncio.run(produce()) == 1
    assert len(rows(connection)) == 21


def test_the_callers_factories_and_rows_are_left_alone(connect: Connect) -> None:
    connection = connect(row_factory=psycopg.rows.dict_row, cursor_factory=psycopg.RawCursor)
    cursor = connection.execute("select 1 as one")
    enqueue("a", on=cursor)
    assert cursor.fetchall() == [{"one": 1}]
