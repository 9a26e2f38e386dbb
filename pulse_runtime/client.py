"""Enqueueing: one job or many, in your transaction or in one of ours."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack
from uuid import UUID

from pulse_runtime.ids import uuid7, uuid7s
from pulse_runtime.job_errors import EnqueueUnsure
from pulse_runtime.job_options import Options, described
from pulse_runtime.job_spec import Checked, Job, check
from pulse_runtime.job_values import BadJob
from pulse_runtime.jobs import Handle
from pulse_runtime.producers import asynchronous, synchronous
from pulse_runtime.store import enqueue as statements
from pulse_runtime.store import own
from pulse_runtime.store.statement import Statement

_OURS = own.Manner(asked="enqueue", lost=EnqueueUnsure)


def enqueue(
    job: str | Job, args: Mapping[str, Any] | None = None, *, on: Any = None, **options: Unpack[Options]
) -> Handle:
    """Add a job: `handler.call(…)`, a `Job`, or a kind and its arguments. Options go before those of the handler.

    With `on` it is part of your transaction: nothing is committed here. Without, it is committed on return.
    Raises BadJob, which names the field, before anything is sent.
    """
    ask = _ask if on is None else _bound(synchronous(on), on)
    job_id, checked = uuid7(), check(described(job, args, options))
    return _handle(job_id, ask(statements.enqueue(job_id, checked)))


async def aenqueue(
    job: str | Job, args: Mapping[str, Any] | None = None, *, on: Any = None, **options: Unpack[Options]
) -> Handle:
    """`enqueue` for asynchronous connections."""
    ask = _aask if on is None else _bound(asynchronous(on), on)
    job_id, checked = uuid7(), check(described(job, args, options))
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
