"""Lists and counts of jobs: a page at a time, and the same as the view says."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
import psycopg.types.datetime
import pytest
from cluster_kit import TEMPLATE, Cluster
from fix_cluster import Connection, database
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_kit import Store

from pulse_runtime import Status
from pulse_runtime.store import execute, jobs
from pulse_sql import grants

STATUSES = ["PENDING", "RUNNING", "COMPLETED", "RETRYING", "DEAD_LETTERED", "CANCELED"]
QUEUES = ["a", "b", "c"]
ENDINGS = ["fail", "crash", "dead", "cancel", "snooze", "lost", "suspect", "put_off", "release"]
LATER = ["2100-01-01", "2100-01-01", "2101-01-01", "infinity"]


def populate(store: Store, other: Connection, chance: random.Random) -> None:
    """Jobs in every state, in several queues, lanes and batches, some of them in a transaction that commits late."""
    add_jobs(store, chance, 60)
    late = Store(other)
    with other.transaction():
        add_jobs(late, chance, 15)
        opened = late.ask("select pg_current_xact_id()::text")
        add_jobs(store, chance, 20)
        work(store, chance)
        store.claim(100, ("c",))
    for _ in range(3):
        add_jobs(store, chance, 30)
        work(store, chance)
    add_jobs(store, chance, 30)
    assert store.ask("select bool_or(pulse.is_pending(l)) from pulse.log l where l.xid::text = %s", opened)
    dead = store.connection.execute("select id from pulse.outcome where status = 'DEAD_LETTERED' limit 2").fetchall()
    assert [store.ask("select pulse.retry(%s)", each[0]) for each in dead] == [True, True]
    for status in ("PENDING", "RETRYING"):
        store.connection.execute(
            f"select pulse.cancel(id) from (select id from pulse.jobs where status = '{status}' limit 5) j".encode()
        )
    store.connection.execute("select pulse.move(id, 'b', 9) from pulse.jobs where status = 'RETRYING' limit 2")


def add_jobs(store: Store, chance: random.Random, count: int) -> None:
    for _ in range(count):
        store.ask(
            "select pulse.enqueue(%s, queue => %s, priority => %s, tenant => %s, run_at => %s, id => %s)",
            chance.choice(["mail", "bill"]),
            chance.choice(QUEUES),
            chance.choice([-1, 0, 0, 3]),
            chance.choice([None, "t1", "t2"]),
            chance.choice(LATER) if chance.random() < 0.2 else None,
            uuid4() if chance.random() < 0.2 else None,
        )


def work(store: Store, chance: random.Random) -> None:
    """Claim much of it; each job of a batch succeeds, ends in one of the ways there are, or still runs."""
    for batch in store.claim(40, ("a", "b")):
        fates = [chance.choice(["ok", "ok", "ok", "run", *ENDINGS]) for _ in batch.jobs]
        for part in (0, 1):
            mask = "".join(str(int(fate == "ok" and n % 2 == part)) for n, fate in enumerate(fates))
            store.settle(batch, mask)
        for position, fate in enumerate(fates):
            if fate in ENDINGS:
                store.close(batch, fate, delay_ms=chance.choice([0, 1, 3_600_000]), position=position)
    store.connection.execute("select pg_sleep(0.002)")
    store.ask("select moved from pulse.promote(5)")


class Forever(psycopg.types.datetime.TimestamptzLoader):
    """Python has no infinite moment."""

    def load(self, data: Any) -> datetime:
        return datetime.max.replace(tzinfo=UTC) if bytes(data) == b"infinity" else super().load(data)


def keep_as_rebase_does(connection: Connection) -> None:
    """Completed jobs whose deliveries are gone, all of one moment."""
    columns = "submitted_at, priority, lane, attempt, charged, max_attempts, queue, kind, args, tenant"
    connection.execute(
        f"insert into pulse.outcome (id, status, at, {columns}) select gen_random_uuid(), 'COMPLETED', "
        f"'2020-01-01', {columns} from pulse.outcome where status = 'CANCELED'".encode()
    )


@pytest.fixture(scope="module")
def filled(server: Cluster) -> Iterator[str]:
    """Made once, in 0.7 s: those who ask here change nothing."""
    with database(server, template=TEMPLATE) as dsn:
        with psycopg.connect(dsn, autocommit=True) as connection, psycopg.connect(dsn, autocommit=True) as other:
            populate(Store(connection), other, random.Random(4))
            keep_as_rebase_does(connection)
        yield dsn


@pytest.fixture
def populated(filled: str) -> Iterator[Connection]:
    with psycopg.connect(filled, autocommit=True) as connection:
        connection.adapters.register_loader("timestamptz", Forever)
        yield connection


def pages(connection: Connection, *, most: int = 7, reads: int = 5000, **filters: Any) -> list[dict[str, Any]]:
    """All rows of a list, page by page."""
    found: list[dict[str, Any]] = []
    after = None
    for _ in range(1000):
        names = [*filters, "most", "reads", "after"]
        call = f"select * from pulse.list({', '.join(f'{name} => %s' for name in names)})"
        with connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
            page = cursor.execute(call.encode(), (*filters.values(), most, reads, after)).fetchall()
        jobs = [row for row in page if row["id"] is not None]
        assert len(jobs) <= most
        assert page[: len(jobs)] == jobs, "only the last row may be a cursor alone"
        found += jobs
        if len(page) < most and len(jobs) == len(page):
            return found
        after = page[-1]["after"]
    raise AssertionError("the list does not end")


def expected(connection: Connection, **filters: Any) -> set[UUID]:
    where = " and ".join(["true", *(f"{name} = %s" for name in filters)])
    rows = connection.execute(f"select id from pulse.jobs where {where}".encode(), [*filters.values()])
    return {row[0] for row in rows}


@pytest.mark.parametrize("most", [1, 7, 1000])
@pytest.mark.parametrize("status", [*STATUSES, None])
def test_every_job_of_a_status_is_on_exactly_one_page(populated: Connection, status: str | None, most: int) -> None:
    asked: dict[str, Any] = {} if status is None else {"status": status}
    found = [row["id"] for row in pages(populated, most=most, **asked)]
    assert len(found) == len(set(found))
    assert set(found) == expected(populated, **asked)
    assert len(found) > 3


def test_a_listed_job_is_told_as_the_view_tells_it(populated: Connection) -> None:
    rows = [row for status in STATUSES for row in pages(populated, status=status)]
    columns = ", ".join(name for name in rows[0] if name != "after")
    with populated.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        view = {row["id"]: row for row in cursor.execute(f"select {columns} from pulse.jobs".encode())}
    for row in rows:
        row.pop("after")
        assert row == view[row["id"]]


def test_filters_and_bounds_of_all_sizes_leave_nothing_out(populated: Connection) -> None:
    @settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        status=st.sampled_from([*STATUSES, None]),
        queue=st.sampled_from([None, *QUEUES, "nobody's"]),
        kind=st.sampled_from([None, "mail", "bill"]),
        tenant=st.sampled_from([None, "t1", "t2"]),
        most=st.integers(1, 60),
        reads=st.integers(1, 200),
    )
    def check(most: int, reads: int, **filters: str | None) -> None:
        said = {name: value for name, value in filters.items() if value is not None}
        found = [row["id"] for row in pages(populated, most=most, reads=reads, **said)]
        assert len(found) == len(set(found))
        assert set(found) == expected(populated, **said)

    check()


@pytest.mark.parametrize(
    ("status", "moment"),
    [("COMPLETED", "finished_at"), ("DEAD_LETTERED", "finished_at"), ("CANCELED", "finished_at"), (None, "id")],
)
def test_what_ended_last_comes_first(populated: Connection, status: str | None, moment: str) -> None:
    moments = [row[moment] for row in pages(populated, status=status)]
    assert moments == sorted(moments, reverse=True)


def test_waiting_jobs_come_newest_first_and_then_those_that_are_not_due_soonest_first(populated: Connection) -> None:
    found = pages(populated, status="PENDING")
    ready = [row for row in found if row["run_at"] is None]
    assert found[: len(ready)] == ready
    newest = """
        select l.id from pulse.log l join pulse.jobs j using (id) where j.status = 'PENDING' and run_at is null
           and not exists (select from pulse.log n where n.id = l.id and n.seq > l.seq)
         order by l.xid desc, l.seq desc"""
    assert [(row["id"],) for row in ready] == populated.execute(newest.encode()).fetchall()
    later = populated.execute("select id from pulse.delayed where charged = 0 order by run_at, id").fetchall()
    assert [(row["id"],) for row in found[len(ready) :]] == later


def test_a_list_of_another_status_cannot_go_on_from_a_cursor(populated: Connection) -> None:
    after = pages(populated, status="COMPLETED")[0]["after"]
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="not the cursor of a list of RUNNING jobs"):
        populated.execute("select pulse.list('RUNNING', after => %s)", [after])
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="there is no status DONE"):
        populated.execute("select pulse.list('DONE')")


@pytest.mark.parametrize("status", [*Status, None])
def test_pages_are_read_in_python_to_the_end(populated: Connection, status: Status | None) -> None:
    found, after = [], None
    while True:
        page = jobs.page_of(execute.ask(populated, jobs.list_jobs(status, queue="b", most=5, after=after)), most=5)
        found += [each.id for each in page.jobs]
        assert {each.queue for each in page.jobs} <= {"b"}
        if page.after is None:
            break
        after = page.after
    said = {"queue": "b"} if status is None else {"queue": "b", "status": status.value}
    assert len(found) == len(set(found))
    assert set(found) == expected(populated, **said)


def test_counts_are_read_in_python(populated: Connection) -> None:
    read = jobs.counts_of(execute.ask(populated, jobs.counts()))
    told = populated.execute("select queue, waiting, running, delayed, retrying, dead, exact from pulse.counts()")
    names = ("queue", "waiting", "running", "delayed", "retrying", "dead", "exact")
    assert [tuple(getattr(each, name) for name in names) for each in read] == told.fetchall()
    assert all(each.oldest_due is not None for each in read)


BRUTE = """
select q.queue, count(*) filter (where status in ('PENDING', 'RETRYING') and run_at is null),
       count(*) filter (where status = 'RUNNING'), count(*) filter (where status = 'PENDING' and run_at is not null),
       count(*) filter (where status = 'RETRYING' and run_at is not null),
       count(*) filter (where status = 'DEAD_LETTERED')
  from pulse.jobs q group by 1 order by 1
"""


def test_counts_are_those_of_the_view(populated: Connection) -> None:
    brute = populated.execute(BRUTE.encode()).fetchall()
    columns = "queue, waiting, running, delayed, retrying, dead"
    assert populated.execute(f"select {columns} from pulse.counts()".encode()).fetchall() == brute
    assert populated.execute("select bool_and(exact) from pulse.counts()").fetchall() == [(True,)]


def test_counts_go_no_further_than_they_are_told_and_say_so(populated: Connection) -> None:
    told = populated.execute("select queue, waiting, exact from pulse.counts(2)").fetchall()
    brute = {row[0]: row for row in populated.execute(BRUTE.encode())}
    for queue, waiting, exact in told:
        assert not exact
        assert 2 <= waiting < brute[queue][1]


def test_the_oldest_due_is_the_first_that_could_run(store: Store) -> None:
    def oldest() -> Any:
        return store.ask("select oldest_due from pulse.counts()")

    job = store.enqueue()
    store.enqueue()
    assert oldest() == store.ask("select submitted_at from pulse.get(%s)", job)
    for batch in store.claim():
        store.settle(batch)
    later = store.enqueue(run_at="2100-01-01")
    assert oldest() is None
    store.connection.execute("update pulse.delayed set run_at = pulse.now() - interval '1 min' where id = %s", [later])
    assert oldest() == store.ask("select run_at from pulse.delayed")
    foreign = store.enqueue(id=uuid4(), queue="default")
    store.connection.execute("delete from pulse.delayed")
    assert oldest() == store.ask("select submitted_at from pulse.get(%s)", foreign)
    (batch,) = store.claim()
    store.close(batch, "lost")
    assert oldest() == store.ask("select submitted_at from pulse.get(%s)", foreign)


def test_a_retry_that_came_due_has_waited_since_its_failure_and_not_since_it_was_submitted(store: Store) -> None:
    job = store.enqueue()
    store.close(store.claim()[0], "fail")
    failed_at = store.ask("select at from pulse.failure where id = %s", job)
    assert store.ask("select oldest_due from pulse.counts()") == failed_at


def test_a_queue_with_nothing_but_a_setting_is_counted(connection: Connection) -> None:
    connection.execute("select pulse.pause('quiet', 'me', 'why')")
    assert connection.execute("select queue, waiting, exact from pulse.counts()").fetchall() == [("quiet", 0, True)]


def test_a_viewer_may_list_count_and_read_histories(populated: Connection) -> None:
    populated.execute(grants().encode())
    populated.execute("set role pulse_viewer")
    for status in (*STATUSES, None):
        job = pages(populated, status=status)[0]["id"]
        populated.execute("select * from pulse.history(%s)", [job])
    assert len(populated.execute("select * from pulse.counts()").fetchall()) == 3


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)
