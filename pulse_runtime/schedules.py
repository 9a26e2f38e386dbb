"""Schedules: made, changed and looked up in your transaction (`on=`, as for `enqueue`) or in one of ours.

A schedule is named by its id, by what `add` returned, or by its name in a tenant and a project. Asynchronous twins have
an `a` in front. Raised besides what each says: NoSuchSchedule, ScheduleRefused, BadSchedule, and with `on=` whatever
your driver raises.
"""

from datetime import datetime
from typing import Any, Unpack
from uuid import UUID

from pulse_runtime.declare import Policies
from pulse_runtime.handlers import Handler
from pulse_runtime.job_spec import Job
from pulse_runtime.retry_policy import Duration
from pulse_runtime.scheduling import asking, questions
from pulse_runtime.scheduling.asking import ref_of
from pulse_runtime.scheduling.errors import BadSchedule, NoSuchSchedule, ScheduleRefused, ScheduleUnsure
from pulse_runtime.scheduling.options import Changes, Named, New, Place, ScheduleId
from pulse_runtime.scheduling.records import Coverage, OccurrenceRecord, ScheduleRecord, ScheduleStatus
from pulse_runtime.scheduling.spec import FromNow, When
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


def every(period: Duration, *, anchor: datetime | None = None) -> When:
    """At `anchor` and every `period` after it. Without one it begins now, by the database's clock."""
    return FromNow(period) if anchor is None else every_of(period, anchor=anchor)


def add(name: str, when: When, job: Job | Handler[..., Any] | str, *, on: Any = None, **options: Unpack[New]) -> Named:
    """A new schedule; it commits with its first occurrence. `job`: a handler, `handler.call(…)`, or a kind with `args`.

    Raises BadSchedule or BadTiming, which name the field, before anything is added; ScheduleRefused if the name is
    taken in its tenant and project.
    """
    return Named(asking.run(asking.added(name, when, job, options), on, "add a schedule", again=True), name)


async def aadd(
    name: str, when: When, job: Job | Handler[..., Any] | str, *, on: Any = None, **options: Unpack[New]
) -> Named:
    """`add` for asynchronous connections."""
    return Named(await asking.arun(asking.added(name, when, job, options), on, "add a schedule", again=True), name)


def edit(schedule: ScheduleId, *, on: Any = None, place: Place | None = None, **changes: Unpack[Changes]) -> int:
    """Change what is said; the answer is the new revision. Another `when` counts from now: nothing fires in the past.

    With `revision`, refused if somebody has changed it since that one.
    """
    return asking.run(asking.edited(ref_of(schedule, place), changes), on, "edit a schedule")


async def aedit(schedule: ScheduleId, *, on: Any = None, place: Place | None = None, **changes: Unpack[Changes]) -> int:
    """`edit` for asynchronous connections."""
    return await asking.arun(asking.edited(ref_of(schedule, place), changes), on, "edit a schedule")


def pause(
    schedule: ScheduleId, *, reason: str | None = None, by: str | None = None, on: Any = None, **place: Unpack[Place]
) -> bool:
    """Fire no more until resumed; what falls in between is skipped. Whether it was going before."""
    return asking.run(asking.paused(ref_of(schedule, place), reason, by), on, "pause a schedule", again=True)


async def apause(
    schedule: ScheduleId, *, reason: str | None = None, by: str | None = None, on: Any = None, **place: Unpack[Place]
) -> bool:
    """`pause` for asynchronous connections."""
    return await asking.arun(asking.paused(ref_of(schedule, place), reason, by), on, "pause a schedule", again=True)


def resume(schedule: ScheduleId, *, by: str | None = None, on: Any = None, **place: Unpack[Place]) -> bool:
    """Go on with the next occurrence from now. Whether it was paused before."""
    return asking.run(asking.resumed(ref_of(schedule, place), by), on, "resume a schedule", again=True)


async def aresume(schedule: ScheduleId, *, by: str | None = None, on: Any = None, **place: Unpack[Place]) -> bool:
    """`resume` for asynchronous connections."""
    return await asking.arun(asking.resumed(ref_of(schedule, place), by), on, "resume a schedule", again=True)


def delete(schedule: ScheduleId, *, by: str | None = None, on: Any = None, **place: Unpack[Place]) -> None:
    """Take it away with all that is not due yet; jobs that were spawned stay."""
    asking.run(asking.deleted(ref_of(schedule, place), by), on, "delete a schedule")


async def adelete(schedule: ScheduleId, *, by: str | None = None, on: Any = None, **place: Unpack[Place]) -> None:
    """`delete` for asynchronous connections."""
    await asking.arun(asking.deleted(ref_of(schedule, place), by), on, "delete a schedule")


def delete_all(*, tenant: str, project: str | None = None, by: str | None = None, on: Any = None) -> int:
    """Delete all schedules of a tenant, or of one of its projects, by one statement. How many there were.

    The tenant "" is those that have none.
    """
    return asking.run(asking.all_deleted(tenant, project, by), on, "delete schedules", again=True)


async def adelete_all(*, tenant: str, project: str | None = None, by: str | None = None, on: Any = None) -> int:
    """`delete_all` for asynchronous connections."""
    return await asking.arun(asking.all_deleted(tenant, project, by), on, "delete schedules", again=True)


def run_now(schedule: ScheduleId, *, by: str | None = None, on: Any = None, **place: Unpack[Place]) -> UUID:
    """Fire once, now, beside its timing and even if it is paused. The job's id."""
    return asking.run(asking.ran(ref_of(schedule, place), by), on, "run a schedule now")


async def arun_now(schedule: ScheduleId, *, by: str | None = None, on: Any = None, **place: Unpack[Place]) -> UUID:
    """`run_now` for asynchronous connections."""
    return await asking.arun(asking.ran(ref_of(schedule, place), by), on, "run a schedule now")


def get(schedule: ScheduleId, *, on: Any = None, **place: Unpack[Place]) -> ScheduleRecord:
    """The schedule as it stands."""
    return asking.run(questions.get(ref_of(schedule, place)), on, "look up a schedule", again=True)


async def aget(schedule: ScheduleId, *, on: Any = None, **place: Unpack[Place]) -> ScheduleRecord:
    """`get` for asynchronous connections."""
    return await asking.arun(questions.get(ref_of(schedule, place)), on, "look up a schedule", again=True)


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
    return asking.run(page, on, "list schedules", again=True)


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
    return await asking.arun(page, on, "list schedules", again=True)


def history(
    schedule: ScheduleId, *, most: int = 50, before: datetime | None = None, on: Any = None, **place: Unpack[Place]
) -> list[OccurrenceRecord]:
    """What became of its occurrences, the latest first, and how late each was; the next page is `before` the last."""
    return asking.run(questions.history(ref_of(schedule, place), most, before), on, "tell a history", again=True)


async def ahistory(
    schedule: ScheduleId, *, most: int = 50, before: datetime | None = None, on: Any = None, **place: Unpack[Place]
) -> list[OccurrenceRecord]:
    """`history` for asynchronous connections."""
    return await asking.arun(questions.history(ref_of(schedule, place), most, before), on, "tell a history", again=True)


def preview(
    schedule: ScheduleId, *, count: int = 10, after: datetime | None = None, on: Any = None, **place: Unpack[Place]
) -> list[Preview]:
    """Its next fires in local time and UTC, by the scheduler's own code."""
    return asking.run(questions.previewed(ref_of(schedule, place), count, after), on, "look up a schedule", again=True)


async def apreview(
    schedule: ScheduleId, *, count: int = 10, after: datetime | None = None, on: Any = None, **place: Unpack[Place]
) -> list[Preview]:
    """`preview` for asynchronous connections."""
    return await asking.arun(
        questions.previewed(ref_of(schedule, place), count, after), on, "look up a schedule", again=True
    )


def coverage(
    schedule: ScheduleId, begin: datetime, end: datetime, *, on: Any = None, **place: Unpack[Place]
) -> Coverage:
    """How many of the occurrences in this time fired."""
    return asking.run(questions.coverage(ref_of(schedule, place), begin, end), on, "count occurrences", again=True)


async def acoverage(
    schedule: ScheduleId, begin: datetime, end: datetime, *, on: Any = None, **place: Unpack[Place]
) -> Coverage:
    """`coverage` for asynchronous connections."""
    return await asking.arun(
        questions.coverage(ref_of(schedule, place), begin, end), on, "count occurrences", again=True
    )


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
    question = questions.backfill(ref_of(schedule, place), begin, end, dry_run=dry_run, missed=missed, by=by)
    return asking.run(question, on, "backfill a schedule", again=True)


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
    question = questions.backfill(ref_of(schedule, place), begin, end, dry_run=dry_run, missed=missed, by=by)
    return await asking.arun(question, on, "backfill a schedule", again=True)
