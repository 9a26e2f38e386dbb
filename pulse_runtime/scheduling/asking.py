"""Each thing that can be done with a schedule: what callers say as a question, and driving one on a connection."""

from typing import Any, TypeVar
from uuid import UUID

from pulse_runtime.errors import PulseError
from pulse_runtime.producers import asynchronous, synchronous
from pulse_runtime.scheduling import questions
from pulse_runtime.scheduling.errors import NoSuchSchedule, ScheduleUnsure
from pulse_runtime.scheduling.options import Changes, Named, New, Place, ScheduleId
from pulse_runtime.scheduling.spec import When, check_name, job_columns, job_of, policy_columns, routing_columns
from pulse_runtime.store import own
from pulse_runtime.store import schedules as statements
from pulse_runtime.store.schedules import Ref

T = TypeVar("T")
_ANSWER_S = 10.0


def added(name: str, when: When, job: object, options: New) -> questions.Asking[UUID]:
    check_name("name", name)
    said: dict[str, Any] = dict(options)
    described = job_of(job, said.pop("args", None), said.pop("retry_delay", None))
    columns: dict[str, Any] = {"name": name, "by": said.pop("by", None)}
    for field, of_job in (("tenant", described.tenant), ("project", described.project), ("owner", None)):
        columns[field] = said.pop(field, None) or of_job
        if columns[field] is not None:
            check_name(field, columns[field])
    return questions.add(when, described, said, columns)


def edited(ref: Ref, changes: Changes) -> questions.Asking[int]:
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


def paused(ref: Ref, reason: str | None, by: str | None) -> questions.Asking[bool]:
    if reason is not None:
        check_name("reason", reason, most=10_000)
    return questions.there(ref, statements.pause(ref, reason=reason, by=by))


def resumed(ref: Ref, by: str | None) -> questions.Asking[bool]:
    return questions.there(ref, statements.resume(ref, by=by))


def deleted(ref: Ref, by: str | None) -> questions.Asking[None]:
    if not (yield statements.delete(ref, by=by)):
        raise NoSuchSchedule(str(ref))


def all_deleted(tenant: str, project: str | None, by: str | None) -> questions.Asking[int]:
    return int((yield statements.delete_all(tenant, project, by=by)))


def ran(ref: Ref, by: str | None) -> questions.Asking[UUID]:
    return UUID((yield from questions.there(ref, statements.run(ref, by=by))))


def ref_of(schedule: ScheduleId, place: Place | None) -> Ref:
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


def run(asking: questions.Asking[T], on: Any, asked: str, *, again: bool = False) -> T:
    adapter = None if on is None else synchronous(on)
    manner = _manner(asked, again=again)
    try:
        statement = next(asking)
        while True:
            statement = asking.send(own.ask(statement, manner) if adapter is None else adapter(on, statement))
    except StopIteration as end:
        result: T = end.value
        return result


async def arun(asking: questions.Asking[T], on: Any, asked: str, *, again: bool = False) -> T:
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
