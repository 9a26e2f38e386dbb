"""Enqueueing: one job or many, in your transaction or in one of ours."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypedDict, Unpack
from uuid import UUID

from pulse_runtime.ids import uuid7, uuid7s
from pulse_runtime.job_errors import EnqueueUnsure
from pulse_runtime.job_spec import Checked, Job, check
from pulse_runtime.job_values import BadJob
from pulse_runtime.jobs import Handle
from pulse_runtime.producers import asynchronous, synchronous
from pulse_runtime.retry_policy import Duration, Retry
from pulse_runtime.store import enqueue as statements
from pulse_runtime.store import own
from pulse_runtime.store.statement import Statement

_OURS = own.Manner(asked="enqueue", lost=EnqueueUnsure)


class Options(TypedDict, total=False):
    """What may be said of a job besides its arguments; see `Job` for what each means. None is "not said"."""

    queue: str | None
    priority: int | None
    delay: Duration | None
    at: datetime | None
    key: str | None
    key_for: Duration | None
    tenant: str | None
    project: str | None
    max_attempts: int | None
    retry: Retry | None
    timeout: Duration | None
    keep_result: bool | None
    metadata: Mapping[str, Any] | None
    trace: str | None


def enqueue(
    job: str | Job, args: Mapping[str, Any] | None = None, *, on: Any = None, **options: Unpack[Options]
) -> Handle:
    """Add a job: `handler.call(…)`, a `Job`, or a kind and its arguments. Options go before those of the handler.

    With `on` it is part of your transaction: nothing is committed here. Without, it is committed on return.
    Raises BadJob, which names the field, before anything is sent.
    """
    ask = _ask if on is None else _bound(synchronous(on), on)
    job_id, checked = uuid7(), check(_described(job, args, options))
    return _handle(job_id, ask(statements.enqueue(job_id, checked)))


async def aenqueue(
    job: str | Job, args: Mapping[str, Any] | None = None, *, on: Any = None, **options: Unpack[Options]
) -> Handle:
    """`enqueue` for asynchronous connections."""
    ask = _aask if on is None else _bound(asynchronous(on), on)
    job_id, checked = uuid7(), check(_described(job, args, options))
    return _handle(job_id, await ask(statements.enqueue(job_id, checked)))


def enqueue_many(jobs: Iterable[Job], *, on: Any = None) -> list[Handle]:
    """Add many jobs by one statement: all or none. Handles come in the order of the jobs.

    Raises BadJob with the `index` of the first job that is wrong, before anything is sent.
    """
    ask = _ask if on is None else _bound(synchronous(on), on)
    checked = _all_checked(jobs)
    ids = uuid7s(len(checked))
    return _handles(ids, ask(statements.enqueue_many(ids, checked))) if checked else []


async def aenqueue_many(jobs: Iterable[Job], *, on: Any = None) -> list[Handle]:
    """`enqueue_many` for asynchronous connections."""
    ask = _aask if on is None else _bound(asynchronous(on), on)
    checked = _all_checked(jobs)
    ids = uuid7s(len(checked))
    return _handles(ids, await ask(statements.enqueue_many(ids, checked))) if checked else []


def _ask(statement: Statement) -> Any:
    return own.ask(statement, _OURS)


async def _aask(statement: Statement) -> Any:
    return await own.aask(statement, _OURS)


def _bound(adapter: Any, on: Any) -> Any:
    return lambda statement: adapter(on, statement)


def _described(job: str | Job, args: Mapping[str, Any] | None, options: Options) -> Job:
    said: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    unknown = said.keys() - Options.__annotations__.keys()
    if unknown:
        raise BadJob(min(unknown), "there is no such option. Arguments of the job go into its args")
    if isinstance(job, str):
        job = Job(job, {} if args is None else args)
    elif not isinstance(job, Job):
        raise BadJob("job", f"it must be a kind, a Job or what .call(…) returns, not {type(job).__name__}")
    elif args is not None:
        raise BadJob("args", "the job has arguments already. Give a kind and args, or a Job alone")
    if "at" in said or "delay" in said:
        job = replace(job, at=None, delay=None)  # a later word on when to run replaces an earlier one
    return replace(job, **said) if said else job


def _all_checked(jobs: Iterable[Job]) -> list[Checked]:
    checked = []
    for index, job in enumerate(jobs):
        try:
            if not isinstance(job, Job):
                raise BadJob("job", f"it must be a Job or what .call(…) returns, not {type(job).__name__}")
            checked.append(check(job))
        except BadJob as error:
            raise BadJob(error.field, error.problem, index=index) from error.__cause__
    return checked


def _handle(ours: UUID, answer: str) -> Handle:
    return Handle(ours, created=True) if answer == str(ours) else Handle(UUID(answer), created=False)


def _handles(ours: Sequence[UUID], answer: str) -> list[Handle]:
    taken = statements.ids_of(answer)
    if not taken:  # no job had a key
        return [Handle(each, True) for each in ours]
    return [_handle(each, theirs) for each, theirs in zip(ours, taken, strict=True)]
