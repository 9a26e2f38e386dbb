"""What is asked of the database for each thing that can be done with a schedule: generators that yield statements.

Whoever drives one sends back each answer, blocking or awaiting; so each is written once.
"""

from collections.abc import Generator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from pulse_runtime.ids import occurrence_id, uuid7
from pulse_runtime.job_spec import Job
from pulse_runtime.retry_policy import Duration, Retry
from pulse_runtime.scheduling.errors import BadSchedule, NoSuchSchedule, ScheduleRefused
from pulse_runtime.scheduling.records import Coverage, OccurrenceRecord, ScheduleRecord, ScheduleStatus
from pulse_runtime.scheduling.spec import When, job_columns, job_of, policy_columns, timing_columns, timing_of
from pulse_runtime.store import schedule_views as views
from pulse_runtime.store import schedules as statements
from pulse_runtime.store.schedules import Ref
from pulse_runtime.store.statement import Statement
from pulse_runtime.timing.jitter import fire_at
from pulse_runtime.timing.previewing import Preview, preview
from pulse_runtime.timing.timings import check, occurrences
from pulse_runtime.timing.zones import zone_version

T = TypeVar("T")
Asking = Generator[Statement, Any, T]

MOST_OCCURRENCES = 100_000
BATCH = 1000


def add(when: When, job: Job, policies: Mapping[str, Any], columns: Mapping[str, Any]) -> Asking[UUID]:
    """The new schedule's id. Asked twice, the second statement adds nothing."""
    given = {**columns, **job_columns(job), **policy_columns(policies)}
    moment = statements.moment_of((yield statements.now()))
    timing = timing_of(when, moment)
    check(timing, moment=moment)
    first_at, until = timing.next_after(moment), policies.get("until")
    if until is not None and first_at is not None and first_at > until:
        raise BadSchedule("until", f"it never fires: its first occurrence would be at {first_at.isoformat()}")
    first = {"first_at": first_at, "zone_version": zone_version(), "id": uuid7()}
    return UUID((yield statements.add({**timing_columns(timing), **given, **first})))


def edit(ref: Ref, when: When | None, changes: Mapping[str, Any], by: str | None, revision: int | None) -> Asking[int]:
    """The new revision."""
    first_at, version = None, None
    if when is not None:
        moment = statements.moment_of((yield statements.now()))
        timing = timing_of(when, moment)
        check(timing, moment=moment)
        changes = {**changes, **timing_columns(timing)}
        first_at, version = timing.next_after(moment), zone_version()
    if not changes:
        raise BadSchedule("changes", "there is nothing to change")
    statement = statements.edit(ref, changes, first_at=first_at, zone_version=version, by=by, revision=revision)
    return int(_there(ref, (yield statement)))


def edit_job(
    ref: Ref,
    when: When | None,
    changes: Mapping[str, Any],
    args: Mapping[str, Any] | None,
    retry_delay: Duration | None,
    by: str | None,
    revision: int | None,
) -> Asking[int]:
    """Change arguments or the retry delay of the job that it has. Refused if somebody else changes it in between."""
    record = yield from get(ref)
    columns: dict[str, Any] = {}
    if args is not None:
        columns["args"] = job_columns(job_of(record.job_kind, args))["args"]
    if retry_delay is not None:
        policy = Retry.fixed(retry_delay, attempts=changes.get("max_attempts", record.max_attempts)).as_json()
        columns["options"] = {**(record.options or {}), "retry": policy}
    return (yield from edit(ref, when, {**changes, **columns}, by, record.revision if revision is None else revision))


def get(ref: Ref) -> Asking[ScheduleRecord]:
    return views.record_of(_there(ref, (yield views.get(ref))))


def there(ref: Ref, statement: Statement) -> Asking[Any]:
    """The answer to a statement that has none if there is no such schedule."""
    return _there(ref, (yield statement))


def list_schedules(
    tenant: str | None, project: str | None, declared_by: str | None, status: str | None, most: int, after: UUID | None
) -> Asking[list[ScheduleRecord]]:
    last = None if after is None else str(after)
    page = views.list_schedules(
        tenant=tenant, project=project, declared_by=declared_by, status=status, most=most, after=last
    )
    return views.records_of((yield page))


def history(ref: Ref, most: int, before: datetime | None) -> Asking[list[OccurrenceRecord]]:
    return views.occurrences_of(_there(ref, (yield views.history(ref, most=most, before=before))))


def previewed(ref: Ref, count: int, after: datetime | None) -> Asking[list[Preview]]:
    """What will fire, as far as that is known: ends, jitter and a pause are the schedule's own."""
    record = yield from get(ref)
    if record.status is ScheduleStatus.ENDED:
        return []
    moment = after or statements.moment_of((yield statements.now()))
    found = preview(record.timing, after=moment, count=count)
    found = [each for each in found if record.until is None or each.utc <= record.until]
    if record.max_fires is not None and found:
        # Of those that are to come, some were fired ahead and are counted already.
        ahead = set(views.moments_of((yield views.decided(record, moment, found[-1].utc, missed=True))))
        left = record.max_fires - record.fires
        yet = [each.utc for each in found if each.utc not in ahead][:left]
        found = [each for each in found if each.utc in ahead or each.utc in yet]
    return [noted(each, record) for each in found]


def noted(fire: Preview, record: ScheduleRecord) -> Preview:
    """With what a preview of the timing alone cannot know."""
    notes = [fire.note] if fire.note else []
    if record.jitter:
        due = fire_at(record.timing, record.id, fire.utc, record.jitter).astimezone(fire.local.tzinfo)
        notes.append(f"jitter: due at {due.isoformat(' ', 'seconds')}")
    if record.status is ScheduleStatus.PAUSED:
        notes.append("paused: skipped unless it is resumed before")
    return replace(fire, note="; ".join(notes))


def coverage(ref: Ref, begin: datetime, end: datetime) -> Asking[Coverage]:
    record = yield from get(ref)
    window = _window(record, begin, end)
    counted = views.verdicts_of((yield views.verdicts(record.id, begin, end)))
    return Coverage(expected=len(window), fired=counted.get("fired", 0) + counted.get("late", 0), verdicts=counted)


def backfill(
    ref: Ref, begin: datetime, end: datetime, *, dry_run: bool, missed: bool, by: str | None
) -> Asking[list[datetime]]:
    """The occurrences that were fired, or would be. In batches: what was interrupted can be asked again."""
    record = yield from get(ref)
    moment = statements.moment_of((yield statements.now()))
    if end > moment:
        raise ScheduleRefused(
            "backfill", record.name, f"cannot backfill schedule {record.name}: the window ends in the future",
            "What is to come fires by itself",
        )  # fmt: skip
    known = set(views.moments_of((yield views.decided(record, begin, end, missed=missed))))
    lacking = [each for each in _window(record, begin, end) if each not in known]
    if dry_run:
        return lacking
    done: list[datetime] = []
    for start in range(0, len(lacking), BATCH):
        batch = lacking[start : start + BATCH]
        jobs = [occurrence_id(record.id, each) for each in batch]
        answer = yield statements.backfill(record.id, batch, jobs, missed=missed, by=by)
        done += views.moments_of(_there(ref, answer))
    return done


def _window(record: ScheduleRecord, begin: datetime, end: datetime) -> list[datetime]:
    """The occurrences in [begin, end]."""
    for name, moment in (("begin", begin), ("end", end)):
        if moment.utcoffset() is None:
            raise BadSchedule(name, "it has no time zone")
    if end < begin:
        raise BadSchedule("end", "it is before the begin of the window")
    last = end if record.until is None else min(end, record.until)
    found = list(occurrences(record.timing, begin - timedelta(microseconds=1), last, MOST_OCCURRENCES + 1))
    if len(found) > MOST_OCCURRENCES:
        raise BadSchedule("end", f"the window has more than {MOST_OCCURRENCES} occurrences. Ask for less at a time")
    return found


def _there(ref: Ref, answer: Any) -> Any:
    if answer is None:
        raise NoSuchSchedule(str(ref))
    return answer
