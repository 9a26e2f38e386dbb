"""`pulse_runtime.schedules`: what applications call."""

import inspect
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg  # type: ignore[import-untyped]
import psycopg
import pytest
import sqlalchemy as sa
from psycopg.conninfo import conninfo_to_dict
from schedule_kit import Clock, Firing, minute
from schedule_kit import Schedules as Asker
from store_kit import Store

from pulse_runtime import Job, Retry, job, schedules
from pulse_runtime.handlers import Registry
from pulse_runtime.ids import occurrence_id
from pulse_runtime.scheduling.errors import BadSchedule, NoSuchSchedule, ScheduleRefused
from pulse_runtime.scheduling.records import ScheduleStatus
from pulse_runtime.store import own
from pulse_runtime.timing.errors import BadCron, NeverFires, TooFrequent, UnknownZone


@pytest.fixture(autouse=True)
def ours(dsn: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A DSN for connections of our own, and no handlers of other tests."""
    monkeypatch.setenv("PULSE_DSN", dsn)
    registry = Registry()
    for place in ("handlers", "scheduling.spec"):
        monkeypatch.setattr(f"pulse_runtime.{place}.registry", registry)
    yield
    own.close()


@pytest.fixture
def store(connection: Any) -> Store:
    return Store(connection)


def test_a_schedule_is_added_looked_up_changed_and_deleted() -> None:
    added = schedules.add(
        "nightly", schedules.cron("0 2 * * *", "Europe/Berlin"), "report", args={"day": 1}, owner="ann", overlap="skip",
        retry_delay="5s", tenant="a",
    )  # fmt: skip
    record = schedules.get(added)
    assert record == schedules.get("nightly", tenant="a") == schedules.get(str(added.id))
    assert (record.args, record.owner, record.overlap, record.status) == ({"day": 1}, "ann", "skip", "ACTIVE")
    assert record.next_run_at == datetime(2026, 11, 19, 1, tzinfo=UTC)
    assert "02:00" in record.description
    assert record.options == {"retry": {"kind": "fixed", "first_s": 5, "cap_s": 5}}
    assert schedules.edit(added, when=schedules.every("90s"), args={"day": 2}, by="bob", jitter=0.1) == 2
    record = schedules.get(added)
    assert (record.kind, record.spec, record.tz, record.args, record.updated_by) == (
        "every",
        "1m30s",
        None,
        {"day": 2},
        "bob",
    )
    assert record.next_run_at == minute(0.5) + timedelta(seconds=90)
    assert schedules.pause("nightly", reason="deploy", by="bob", tenant="a") is True
    assert schedules.pause(added) is False
    assert schedules.get(added).pause_reason == "deploy"
    assert schedules.resume(added) is True
    schedules.delete(added)
    with pytest.raises(NoSuchSchedule, match="schedules list"):
        schedules.get(added)


def test_a_schedule_commits_with_the_transaction_that_made_it(dsn: str) -> None:
    with psycopg.connect(dsn) as mine:
        schedules.add("mine", schedules.every("5m"), "k", on=mine)
        with pytest.raises(NoSuchSchedule):
            schedules.get("mine")
        mine.rollback()
        schedules.add("mine", schedules.every("5m"), "k", on=mine)
        schedules.pause("mine", on=mine)
    assert schedules.get("mine").status is ScheduleStatus.PAUSED


def test_sqlalchemy_takes_part_in_every_question(dsn: str) -> None:
    parts = conninfo_to_dict(dsn)
    url = sa.URL.create("postgresql+psycopg", username=str(parts["user"]), database=str(parts["dbname"]),
                        query={name: str(parts[name]) for name in ("host", "port") if name in parts})  # fmt: skip
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as mine:
        everything_sync(mine)


def test_psycopg_takes_part_in_every_question(dsn: str) -> None:
    with psycopg.connect(dsn) as mine:
        everything_sync(mine)


def everything_sync(on: Any) -> None:
    """Each function once, so that each statement is one that the driver can send."""
    job = Job("k", metadata={"a": 1})
    added = schedules.add("s", schedules.cron("* * * * *"), job, on=on, until=minute(9999))
    schedules.edit("s", when=schedules.once(minute(60)), missed="all", on=on)
    schedules.pause(added, on=on)
    schedules.resume(added, on=on)
    run = schedules.run_now(added, on=on)
    assert [each.job_id for each in schedules.history(added, on=on, before=minute(99))] == [run]
    assert schedules.get("s", on=on).metadata == {"a": 1}
    assert [each.name for each in schedules.list_schedules(on=on, status="ACTIVE")] == ["s"]
    assert [each.utc for each in schedules.preview(added, on=on)] == [minute(60)]
    assert schedules.coverage(added, minute(0), minute(10), on=on).expected == 0
    assert schedules.backfill(added, minute(-10), minute(0), dry_run=True, on=on) == []
    schedules.delete(added, on=on)
    assert schedules.delete_all(tenant="", on=on) == 0


@pytest.mark.anyio
async def test_asyncpg_takes_part_in_every_question(dsn: str) -> None:
    parts = conninfo_to_dict(dsn)
    on = await asyncpg.connect(host=parts["host"], port=parts.get("port"), user=parts["user"], database=parts["dbname"])
    try:
        added = await schedules.aadd("s", schedules.cron("* * * * *"), "k", on=on, until=minute(9999))
        await schedules.aedit("s", when=schedules.once(minute(60)), missed="all", on=on)
        await schedules.apause(added, on=on)
        await schedules.aresume(added, on=on)
        run = await schedules.arun_now(added, on=on)
        assert [each.job_id for each in await schedules.ahistory(added, on=on, before=minute(99))] == [run]
        assert (await schedules.aget("s", on=on)).missed == "all"
        assert [each.name for each in await schedules.alist_schedules(on=on, after=UUID(int=0))] == ["s"]
        assert [each.utc for each in await schedules.apreview(added, on=on)] == [minute(60)]
        assert (await schedules.acoverage(added, minute(0), minute(10), on=on)).expected == 0
        assert await schedules.abackfill(added, minute(-10), minute(0), on=on) == []
        await schedules.adelete(added, on=on)
        assert await schedules.adelete_all(tenant="", on=on) == 0
    finally:
        await on.close()


@pytest.mark.anyio
async def test_twins_work_on_connections_of_our_own() -> None:
    added = await schedules.aadd("s", schedules.every("1h"), "k")
    assert (await schedules.aget(added)).next_run_at == minute(60.5)
    await own.aclose()


def test_each_function_has_a_twin_that_takes_the_same() -> None:
    functions = {
        name for name, each in vars(schedules).items() if inspect.isfunction(each) and name in schedules.__all__
    }
    asynchronous = {name for name in functions if inspect.iscoroutinefunction(getattr(schedules, name))}
    makers = {"every", "cron", "once"}
    assert {f"a{name}" for name in functions - asynchronous - makers} == asynchronous
    for name in asynchronous:
        one, other = (inspect.signature(getattr(schedules, each)) for each in (name, name[1:]))
        assert one == other


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"name": ""}, "name"), ({"name": "x\0"}, "name"), ({"when": "daily"}, "when"), ({"job": ""}, "job.kind"),
        ({"job": Job("k", delay="5m")}, "job.delay"), ({"job": Job("k", key="x")}, "job.key"), ({"job": None}, "job"),
        ({"overlap": "never"}, "overlap"), ({"missed_most": 0}, "missed_most"), ({"jitter": 1}, "jitter"),
        ({"jitter": float("nan")}, "jitter"), ({"pause_after": 2}, "pause_after"), ({"tenant": "t" * 201}, "tenant"),
        ({"until": minute(1).replace(tzinfo=None)}, "until"), ({"max_fires": 0}, "max_fires"), ({"late": 3}, "late"),
        ({"lookahead_s": "1m"}, "lookahead_s"), ({"args": {"x": float("inf")}}, "job.args.x"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_refused_with_the_field(options: dict[str, Any], field: str, connection: Any) -> None:
    said: dict[str, Any] = {"name": "s", "when": schedules.cron("@daily"), "job": "k", **options}
    with pytest.raises(BadSchedule) as refused:
        schedules.add(said.pop("name"), said.pop("when"), said.pop("job"), **said)
    assert refused.value.field == field
    assert schedules.list_schedules() == []


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: schedules.cron("0 0 31 2 *"), NeverFires), (lambda: schedules.cron("bad"), BadCron),
        (lambda: schedules.cron("@daily", "Europe/Berln"), UnknownZone), (lambda: schedules.every("10ms"), TooFrequent),
        (lambda: schedules.once(minute(-1)), NeverFires),
    ],
)  # fmt: skip
def test_a_timing_that_cannot_be_kept_is_refused_at_creation(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        schedules.add("s", make(), "k")


def test_arguments_are_checked_against_the_handler() -> None:
    @job(retry=Retry(attempts=3), queue="mail")
    def report(day: int) -> None: ...

    with pytest.raises(BadSchedule, match=r"job\.args"):
        schedules.add("s", schedules.cron("@daily"), "report", args={"dya": 1})
    record = schedules.get(schedules.add("s", schedules.cron("@daily"), report.call(day=1)))
    assert (record.job_kind, record.args, record.queue, record.max_attempts) == ("report", {"day": 1}, "mail", 3)
    with pytest.raises(BadSchedule, match=r"job\.args"):
        schedules.edit("s", args={"day": "one"})


def test_a_name_that_is_taken_is_refused_with_what_to_do() -> None:
    schedules.add("s", schedules.every("1m"), "k")
    with pytest.raises(ScheduleRefused, match=r"name is taken.*choose another name") as refused:
        schedules.add("s", schedules.every("1m"), "k")
    assert (refused.value.asked, refused.value.name) == ("add", "s")


def test_an_edit_of_what_somebody_else_has_changed_is_refused() -> None:
    added = schedules.add("s", schedules.every("1m"), "k")
    seen = schedules.get(added).revision
    schedules.edit(added, owner="ann", by="ann")
    with pytest.raises(ScheduleRefused, match="changed meanwhile, by ann"):
        schedules.edit(added, owner="bob", revision=seen)


def test_history_coverage_and_backfill(clock: Clock, firing: Firing, connection: Any) -> None:
    added = schedules.add("s", schedules.cron("* * * * *"), "k", lookahead_s=0, missed="none")
    firing.each_minute(clock, 1, 2)
    clock.set(minute(5.5))
    firing.turn()
    told = schedules.history(added)
    assert [(each.occurrence, each.verdict) for each in told] == [
        (minute(n), "fired" if n < 3 else "missed") for n in (5, 4, 3, 2, 1)
    ]
    assert told[-1].status == "PENDING"
    assert schedules.history(added, most=2, before=told[1].occurrence) == told[2:4]
    seen = schedules.coverage(added, minute(0.5), minute(5.5))
    assert (seen.expected, seen.fired, seen.ratio) == (5, 2, 0.4)
    window = minute(-1), minute(5)
    assert schedules.backfill(added, *window, dry_run=True) == [minute(-1), minute(0)]
    assert schedules.backfill(added, *window) == [minute(-1), minute(0)]
    assert schedules.backfill(added, *window, missed=True) == [minute(n) for n in (3, 4, 5)]
    assert schedules.backfill(added, *window, missed=True) == []
    ids = {job for job, _ in Asker(connection).jobs(added.id)}
    assert ids == {occurrence_id(added.id, minute(n)) for n in range(-1, 6)}
    with pytest.raises(ScheduleRefused, match="future"):
        schedules.backfill(added, minute(0), minute(99))


def test_a_window_has_both_its_ends(clock: Clock, firing: Firing) -> None:
    added = schedules.add("s", schedules.cron("* * * * *"), "k", lookahead_s=0)
    firing.each_minute(clock, 1, 4)
    seen = schedules.coverage(added, minute(1), minute(4))
    assert (seen.expected, seen.fired) == (4, 4)
    assert schedules.backfill(added, minute(1), minute(4), dry_run=True) == []
    assert schedules.backfill(added, minute(1), minute(4)) == []


def test_lateness_is_until_the_first_start(clock: Clock, firing: Firing, store: Store) -> None:
    added = schedules.add("s", schedules.cron("* * * * *"), "k", lookahead_s=0)
    firing.each_minute(clock, 1, 1)
    clock.advance(seconds=3)
    store.close(store.claim()[0], "fail", delay_ms=3_600_000)
    clock.advance(hours=1)
    store.ask("select moved from pulse.promote(10)")
    store.settle(store.claim()[0])
    (told,) = schedules.history(added, before=minute(1.5))
    assert told.status == "COMPLETED"
    assert 2.9 < told.lateness_s <= 3


def test_an_id_is_of_the_tenant_and_project_that_are_said_with_it() -> None:
    mine = schedules.add("s", schedules.every("1h"), "k", tenant="a", project="p")
    assert schedules.get(mine) == schedules.get(mine, tenant="a") == schedules.get(str(mine.id), project="p")
    elsewhere: list[schedules.Place] = [
        {"tenant": "b"}, {"project": "q"}, {"tenant": "a", "project": "q"}, {"tenant": ""},
    ]  # fmt: skip
    for place in elsewhere:
        with pytest.raises(NoSuchSchedule):
            schedules.get(mine, **place)
        with pytest.raises(NoSuchSchedule):
            schedules.delete(mine.id, **place)
        with pytest.raises(NoSuchSchedule):
            schedules.edit(mine, place=place, owner="eve")
        with pytest.raises(NoSuchSchedule):
            schedules.history(mine, **place)
    assert schedules.get(mine).revision == 1


def test_a_preview_ends_where_the_schedule_ends(clock: Clock, firing: Firing) -> None:
    each_minute = schedules.cron("* * * * *")
    three = schedules.add("three", each_minute, "k", max_fires=3, lookahead_s=60)
    until = schedules.add("until", each_minute, "k", until=minute(4))
    firing.each_minute(clock, 1, 1)
    clock.advance(seconds=1)
    assert schedules.get(three).fires == 2, "one of them ahead"
    assert [each.utc for each in schedules.preview(three)] == [minute(2), minute(3)]
    assert [each.utc for each in schedules.preview(until)] == [minute(2), minute(3), minute(4)]
    firing.each_minute(clock, 2, 4)
    assert schedules.preview(three) == []


def test_a_preview_tells_of_jitter_and_of_a_pause(clock: Clock, firing: Firing, connection: Any) -> None:
    added = schedules.add("s", schedules.cron("* * * * *"), "k", jitter=0.3, lookahead_s=0)
    (told, *_) = schedules.preview(added)
    clock.set(minute(2))
    firing.turn()
    due = connection.execute("select due_at from pulse.occurrence where occurrence = %s", (told.utc,)).fetchone()[0]
    assert told.note == f"jitter: due at {due.astimezone(UTC).isoformat(' ', 'seconds')}"
    schedules.pause(added)
    assert schedules.preview(added)[0].note.endswith("; paused: skipped unless it is resumed before")


def test_where_the_jobs_go_can_be_changed_alone() -> None:
    added = schedules.add("s", schedules.every("1h"), Job("k", args={"a": 1}, timeout="5s"), retry_delay="5s")
    schedules.edit(added, queue="slow", priority=-3, max_attempts=4)
    record = schedules.get(added)
    assert (record.queue, record.priority, record.max_attempts, record.args) == ("slow", -3, 4, {"a": 1})
    assert set(record.options or {}) == {"retry", "timeout_ms"}
    with pytest.raises(BadSchedule) as refused:
        schedules.edit(added, queue="q" * 300)
    assert refused.value.field == "job.queue"


def test_pages_of_schedules_follow_each_other() -> None:
    for number in range(5):
        schedules.add(f"s{number}", schedules.every("1h"), "k", tenant="ab"[number % 2])
    first = schedules.list_schedules(most=2)
    rest = schedules.list_schedules(after=first[-1].id)
    assert [each.name for each in (*first, *rest)] == [f"s{number}" for number in range(5)]
    assert [each.name for each in schedules.list_schedules(tenant="b")] == ["s1", "s3"]
