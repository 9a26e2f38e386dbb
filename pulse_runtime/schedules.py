"""Schedules: made, changed and looked up in your transaction (`on=`, as for `enqueue`) or in one of ours.

A schedule is named by its id, by what `add` returned, or by its name in a tenant and a project. Asynchronous twins have
an `a` in front. Raised besides what each says: NoSuchSchedule, ScheduleRefused, BadSchedule, and with `on=` whatever
your driver raises.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypedDict, TypeVar, Unpack
from uuid import UUID

from pulse_runtime.declare import Policies
from pulse_runtime.errors import PulseError
from pulse_runtime.handlers import Handler
from pulse_runtime.job_spec import Job
from pulse_runtime.producers import asynchronous, synchronous
from pulse_runtime.retry_policy import Duration
from pulse_runtime.scheduling import questions
from pulse_runtime.scheduling.errors import BadSchedule, NoSuchSchedule, ScheduleRefused, ScheduleUnsure
from pulse_runtime.scheduling.records import Coverage, OccurrenceRecord, ScheduleRecord, ScheduleStatus
from pulse_runtime.scheduling.spec import (
    FromNow,
    When,
    check_name,
    job_columns,
    job_of,
    policy_columns,
    routing_columns,
)
from pulse_runtime.store import own
from pulse_runtime.store import schedules as statements
from pulse_runtime.store.schedules import Ref
from pulse_runtime.timing.previewing import Preview
from pulse_runtime.timing.timings import Cron, Every, Once, cron, once
from pulse_runtime.timing.timings import every as every_of

__all__ = [
    "BadSchedule", "Coverage", "Cron", "Every", "Named", "NoSuchSchedule", "OccurrenceRecord", "Once", "Place",
    "Policies", "ScheduleId", "ScheduleRecord", "ScheduleRefused", "ScheduleStatus", "ScheduleUnsure", "aadd",
    "abackfill",
    "acoverage", "add", "adelete", "adelete_all", "aedit", "aget", "ahistory", "alist_schedules", "apause",
    "apreview", "aresume", "arun_now", "backfill", "coverage", "cron", "delete", "delete_all", "edit", "every", "get",
    "history", "list_schedules", "once", "pause", "preview", "resume", "run_now",
]  # fmt: skip

T = TypeVar("T")
_ANSWER_S = 10.0


class Named(NamedTuple):
    """What `add` returns."""

    id: UUID
    name: str


class Place(TypedDict, total=False):
    """Where a name is looked up. Not needed with an id; if it is said, the schedule of that id must be there."""

    tenant: str | None
    project: str | None


class New(Policies, total=False):
    """What else a new schedule can be told."""

    args: Mapping[str, Any] | None
    retry_delay: Duration | None
    tenant: str | None
    project: str | None
    owner: str | None
    by: str | None


class Changes(Policies, total=False):
    """What can be changed: what is not said stays."""

    when: When
    job: Job | Handler[..., Any] | str
    args: Mapping[str, Any] | None
    retry_delay: Duration | None
    queue: str
    priority: int
    max_attempts: int
    rename: str
    owner: str | None
    by: str | None
    revision: int


ScheduleId = UUID | str | Named


def every(period: Duration, *, anchor: datetime | None = None) -> When:
    """At `anchor` and every `period` after it. Without one it begins now, by the database's clock."""
    return FromNow(period) if anchor is None else every_of(period, anchor=anchor)


def add(name: str, when: When, job: Job | Handler[..., Any] | str, *, on: Any = None, **options: Unpack[New]) -> Named:
    """A new schedule; it commits with its first occurrence. `job`: a handler, `handler.call(…)`, or a kind with `args`.

    Raises BadSchedule or BadTiming, which name the field, before anything is added; ScheduleRefused if the name is
    taken in its tenant and project.
    """
    return Named(_run(_added(name, when, job, options), on, "add a schedule", again=True), name)


async def aadd(
    name: str, when: When, job: Job | Handler[..., Any] | str, *, on: Any = None, **options: Unpack[New]
) -> Named:
    """`add` for asynchronous connections."""
    return Named(await _arun(_added(name, when, job, options), on, "add a schedule", again=True), name)


def edit(schedule: ScheduleId, *, on: Any = None, place: Place | None = None, **changes: Unpack[Changes]) -> int:
    """Change what is said; the answer is the new revision. Another `when` counts from now: nothing fires in the past.

    With `revision`, refused if somebody has changed it since that one.
    """
    return _run(_edited(_ref(schedule, place), changes), on, "edit a schedule")


async def aedit(schedule: ScheduleId, *, on: Any = None, place: Place | None = None, **changes: Unpack[Changes]) -> int:
    """`edit` for asynchronous connections."""
    return await _arun(_edited(_ref(schedule, place), changes), on, "edit a schedule")


def pause(
    schedule: ScheduleId, *, reason: str | None = None, by: str | None = None, on: Any = None, **place: Unpack[Place]
) -> bool:
    """Fire no more until resumed; what falls in between is skipped. Whether it was going before."""
    return _run(_paused(_ref(schedule, place), reason, by), on, "pause a schedule", again=True)


async def apause(
    schedule: ScheduleId, *, reason: str | None = None, by: str | None = None, on: Any = None, **place: Unpack[Place]
) -> bool:
    """`pause` for asynchronous connections."""
    return await _arun(_paused(_ref(schedule, place), reason, by), on, "pause a schedule", again=True)


def resume(schedule: ScheduleId, *, by: str | None = None, on: Any = None, **place: Unpack[Place]) -> bool:
    """Go on with the next occurrence from now. Whether it was paused before."""
    return _run(_resumed(_ref(schedule, place), by), on, "resume a schedule", again=True)


async def aresume(schedule: ScheduleId, *, by: str | None = None, on: Any = None, **place: Unpack[Place]) -> bool:
    """`resume` for asynchronous connections."""
    return await _arun(_resumed(_ref(schedule, place), by), on, "resume a schedule", again=True)


def delete(schedule: ScheduleId, *, by: str | None = None, on: Any = None, **place: Unpack[Place]) -> None:
    """Take it away with all that is not due yet; jobs that were spawned stay."""
    _run(_deleted(_ref(schedule, place), by), on, "delete a schedule")


async def adelete(schedule: ScheduleId, *, by: str | None = None, on: Any = None, **place: Unpack[Place]) -> None:
    """`delete` for asynchronous connections."""
    await _arun(_deleted(_ref(schedule, place), by), on, "delete a schedule")


def delete_all(*, tenant: str, project: str | None = None, by: str | None = None, on: Any = None) -> int:
    """Delete all schedules of a tenant, or of one of its projects, by one statement. How many there were.

    The tenant "" is those that have none.
    """
    return _run(_all_deleted(tenant, project, by), on, "delete schedules", again=True)


async def adelete_all(*, tenant: str, project: str | None = None, by: str | None = None, on: Any = None) -> int:
    """`delete_all` for asynchronous connections."""
    return await _arun(_all_deleted(tenant, project, by), on, "delete schedules", again=True)


def run_now(schedule: ScheduleId, *, by: str | None = None, on: Any = None, **place: Unpack[Place]) -> UUID:
    """Fire once, now, beside its timing and even if it is paused. The job's id."""
    return _run(_ran(_ref(schedule, place), by), on, "run a schedule now")


async def arun_now(schedule: ScheduleId, *, by: str | None = None, on: Any = None, **place: Unpack[Place]) -> UUID:
    """`run_now` for asynchronous connections."""
    return await _arun(_ran(_ref(schedule, place), by), on, "run a schedule now")


def get(schedule: ScheduleId, *, on: Any = None, **place: Unpack[Place]) -> ScheduleRecord:
    """The schedule as it stands."""
    return _run(questions.get(_ref(schedule, place)), on, "look up a schedule", again=True)


async def aget(schedule: ScheduleId, *, on: Any = None, **place: Unpack[Place]) -> ScheduleRecord:
    """`get` for asynchronous connections."""
    return await _arun(questions.get(_ref(schedule, place)), on, "look up a schedule", again=True)


def list_schedules(
    *,
    tenant: str | None = None,
    project: str | None = None,
    status: ScheduleStatus | str | None = None,
    most: int = 50,
    after: UUID | None = None,
    on: Any = None,
) -> list[ScheduleRecord]:
    """A page of schedules in the order in which they were made; `after` is the last id of the page before."""
    page = questions.list_schedules(tenant, project, None, status and str(status), most, after)
    return _run(page, on, "list schedules", again=True)


async def alist_schedules(
    *,
    tenant: str | None = None,
    project: str | None = None,
    status: ScheduleStatus | str | None = None,
    most: int = 50,
    after: UUID | None = None,
    on: Any = None,
) -> list[ScheduleRecord]:
    """`list_schedules` for asynchronous connections."""
    page = questions.list_schedules(tenant, project, None, status and str(status), most, after)
    return await _arun(page, on, "list schedules", again=True)


def history(
    schedule: ScheduleId, *, most: int = 50, before: datetime | None = None, on: Any = None, **place: Unpack[Place]
) -> list[OccurrenceRecord]:
    """What became of its occurrences, the latest first, and how late each was; the next page is `before` the last."""
    return _run(questions.history(_ref(schedule, place), most, before), on, "tell a history", again=True)


async def ahistory(
    schedule: ScheduleId, *, most: int = 50, before: datetime | None = None, on: Any = None, **place: Unpack[Place]
) -> list[OccurrenceRecord]:
    """`history` for asynchronous connections."""
    return await _arun(questions.history(_ref(schedule, place), most, before), on, "tell a history", again=True)


def preview(
    schedule: ScheduleId, *, count: int = 10, after: datetime | None = None, on: Any = None, **place: Unpack[Place]
) -> list[Preview]:
    """Its next fires in local time and UTC, by the scheduler's own code."""
    return _run(questions.previewed(_ref(schedule, place), count, after), on, "look up a schedule", again=True)


async def apreview(
    schedule: ScheduleId, *, count: int = 10, after: datetime | None = None, on: Any = None, **place: Unpack[Place]
) -> list[Preview]:
    """`preview` for asynchronous connections."""
    return await _arun(questions.previewed(_ref(schedule, place), count, after), on, "look up a schedule", again=True)


def coverage(
    schedule: ScheduleId, begin: datetime, end: datetime, *, on: Any = None, **place: Unpack[Place]
) -> Coverage:
    """How many of the occurrences in this time fired."""
    return _run(questions.coverage(_ref(schedule, place), begin, end), on, "count occurrences", again=True)


async def acoverage(
    schedule: ScheduleId, begin: datetime, end: datetime, *, on: Any = None, **place: Unpack[Place]
) -> Coverage:
    """`coverage` for asynchronous connections."""
    return await _arun(questions.coverage(_ref(schedule, place), begin, end), on, "count occurrences", again=True)


def backfill(
    schedule: ScheduleId,
    begin: datetime,
    end: datetime,
    *,
    dry_run: bool = False,
    missed: bool = False,
    by: str | None = None,
    on: Any = None,
    **place: Unpack[Place],
) -> list[datetime]:
    """Fire the occurrences of a past time that the ledger lacks; with `missed` also those that were written off.

    The answer are those that were fired, or would be. Asked again, nothing fires twice.
    """
    asking = questions.backfill(_ref(schedule, place), begin, end, dry_run=dry_run, missed=missed, by=by)
    return _run(asking, on, "backfill a schedule", again=True)


async def abackfill(
    schedule: ScheduleId,
    begin: datetime,
    end: datetime,
    *,
    dry_run: bool = False,
    missed: bool = False,
    by: str | None = None,
    on: Any = None,
    **place: Unpack[Place],
) -> list[datetime]:
    """`backfill` for asynchronous connections."""
    asking = questions.backfill(_ref(schedule, place), begin, end, dry_run=dry_run, missed=missed, by=by)
    return await _arun(asking, on, "backfill a schedule", again=True)


def _added(name: str, when: When, job: object, options: New) -> questions.Asking[UUID]:
    check_name("name", name)
    said: dict[str, Any] = dict(options)
    described = job_of(job, said.pop("args", None), said.pop("retry_delay", None))
    columns: dict[str, Any] = {"name": name, "by": said.pop("by", None)}
    for field, of_job in (("tenant", described.tenant), ("project", described.project), ("owner", None)):
        columns[field] = said.pop(field, None) or of_job
        if columns[field] is not None:
            check_name(field, columns[field])
    return questions.add(when, described, said, columns)


def _edited(ref: Ref, changes: Changes) -> questions.Asking[int]:
    said: dict[str, Any] = dict(changes)
    when, by, revision = said.pop("when", None), said.pop("by", None), said.pop("revision", None)
    job, args, delay = said.pop("job", None), said.pop("args", None), said.pop("retry_delay", None)
    columns: dict[str, Any] = {}
    if "rename" in said:
        columns["name"] = said.pop("rename")
        check_name("rename", columns["name"])
    if "owner" in said:
        columns["owner"] = said.pop("owner")
    if job is not None:
        columns |= job_columns(job_of(job, args, delay))
    columns |= routing_columns({name: said.pop(name) for name in ("queue", "priority", "max_attempts") if name in said})
    columns |= policy_columns(said)
    if job is not None or (args is None and delay is None):
        return questions.edit(ref, when, columns, by, revision)
    return questions.edit_job(ref, when, columns, args, delay, by, revision)


def _paused(ref: Ref, reason: str | None, by: str | None) -> questions.Asking[bool]:
    if reason is not None:
        check_name("reason", reason, most=10_000)
    return questions.there(ref, statements.pause(ref, reason=reason, by=by))


def _resumed(ref: Ref, by: str | None) -> questions.Asking[bool]:
    return questions.there(ref, statements.resume(ref, by=by))


def _deleted(ref: Ref, by: str | None) -> questions.Asking[None]:
    if not (yield statements.delete(ref, by=by)):
        raise NoSuchSchedule(str(ref))


def _all_deleted(tenant: str, project: str | None, by: str | None) -> questions.Asking[int]:
    return int((yield statements.delete_all(tenant, project, by=by)))


def _ran(ref: Ref, by: str | None) -> questions.Asking[UUID]:
    return UUID((yield from questions.there(ref, statements.run(ref, by=by))))


def _ref(schedule: ScheduleId, place: Place | None) -> Ref:
    where = place or Place()
    if isinstance(schedule, Named):
        return Ref(id=schedule.id, **where)
    if isinstance(schedule, UUID):
        return Ref(id=schedule, **where)
    check_name("schedule", schedule)
    try:
        return Ref(id=UUID(schedule), **where)
    except ValueError:
        return Ref(name=schedule, **where)


def _run(asking: questions.Asking[T], on: Any, asked: str, *, again: bool = False) -> T:
    adapter = None if on is None else synchronous(on)
    manner = _manner(asked, again=again)
    try:
        statement = next(asking)
        while True:
            statement = asking.send(own.ask(statement, manner) if adapter is None else adapter(on, statement))
    except StopIteration as end:
        result: T = end.value
        return result


async def _arun(asking: questions.Asking[T], on: Any, asked: str, *, again: bool = False) -> T:
    adapter = None if on is None else asynchronous(on)
    manner = _manner(asked, again=again)
    try:
        statement = next(asking)
        while True:
            answer = await (own.aask(statement, manner) if adapter is None else adapter(on, statement))
            statement = asking.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


def _manner(asked: str, *, again: bool) -> own.Manner:
    def lost(why: str) -> PulseError:
        return ScheduleUnsure(asked, why)

    return own.Manner(asked=asked, lost=lost, again=again, within_s=_ANSWER_S)
