"""Following jobs and changing their fate, each by one short statement on a connection of Pulse's own.

Asynchronous twins have an `a` in front; that of `wait` is `await_for`, as `await` is taken. They have the same timeout
(ruff's ASYNC109 would rather have none), so that NotFinished can say what was seen last.
"""

import asyncio
import time
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from pulse_runtime.errors import NoDatabase
from pulse_runtime.job_errors import ChangeUnsure, NoSuchJob, NotCompleted, NotFinished, ResultNotKept
from pulse_runtime.job_values import BadJob, check_int, check_text
from pulse_runtime.patience import Patience
from pulse_runtime.records import Delivery, JobRecord, Status
from pulse_runtime.retry_policy import Duration
from pulse_runtime.store import jobs as statements
from pulse_runtime.store.own import Manner, aask, ask

_ANSWER_S = 10.0
_REASON_BYTES = 10_000


class Handle(NamedTuple):
    """A job's id. `created` is False when the key was taken: then the id is that of the job that has it."""

    id: UUID
    created: bool

    def get(self) -> JobRecord:
        """See `pulse_runtime.get`."""
        return get(self)

    def wait(self, timeout: Duration | None = None) -> JobRecord:
        """See `pulse_runtime.wait`."""
        return wait(self, timeout)

    def result(self, timeout: Duration | None = None) -> Any:
        """See `pulse_runtime.result`."""
        return result(self, timeout)

    async def aget(self) -> JobRecord:
        """See `pulse_runtime.aget`."""
        return await aget(self)

    async def await_for(self, timeout: Duration | None = None) -> JobRecord:  # noqa: ASYNC109
        """See `pulse_runtime.await_for`."""
        return await await_for(self, timeout)

    async def aresult(self, timeout: Duration | None = None) -> Any:  # noqa: ASYNC109
        """See `pulse_runtime.aresult`."""
        return await aresult(self, timeout)


JobId = UUID | str | Handle
"""What names a job: its id, or what `enqueue` returned."""


def get(job: JobId) -> JobRecord:
    """The job as it stands. Raises NoSuchJob, also while the transaction that enqueued it is open."""
    job_id = _id_of(job)
    return _record(job_id, ask(statements.get(job_id), _reading(job_id)))


async def aget(job: JobId) -> JobRecord:
    """`get` for asyncio."""
    job_id = _id_of(job)
    return _record(job_id, await aask(statements.get(job_id), _reading(job_id)))


def history(job: JobId) -> list[Delivery]:
    """What became of each delivery of the job, oldest first; empty for one that was never claimed, or is unknown."""
    job_id = _id_of(job)
    return statements.deliveries_of(ask(statements.history(job_id), _reading(job_id)))


async def ahistory(job: JobId) -> list[Delivery]:
    """`history` for asyncio."""
    job_id = _id_of(job)
    return statements.deliveries_of(await aask(statements.history(job_id), _reading(job_id)))


def cancel(job: JobId, *, reason: str | None = None) -> Status:
    """End a job that waits, or ask the executor that runs it to end it. Asking again changes nothing.

    Returns CANCELED, or RUNNING when the executor was asked. Raises NoSuchJob, and InvalidTransition when it has ended.
    """
    job_id = _id_of(job)
    return _seen(job_id, ask(statements.cancel(job_id, _checked(reason)), _changing("cancel", job_id)))


async def acancel(job: JobId, *, reason: str | None = None) -> Status:
    """`cancel` for asyncio."""
    job_id = _id_of(job)
    return _seen(job_id, await aask(statements.cancel(job_id, _checked(reason)), _changing("cancel", job_id)))


def retry(job: JobId) -> None:
    """Run a dead letter again, with its whole budget of attempts. Raises NoSuchJob, InvalidTransition, ChangeUnsure."""
    job_id = _id_of(job)
    _there(job_id, ask(statements.retry(job_id), _changing("retry", job_id)))


async def aretry(job: JobId) -> None:
    """`retry` for asyncio."""
    job_id = _id_of(job)
    _there(job_id, await aask(statements.retry(job_id), _changing("retry", job_id)))


def move(job: JobId, *, queue: str | None = None, priority: int | None = None) -> None:
    """Give a job that waits another queue or priority; it goes behind those that are there.

    Raises NoSuchJob, InvalidTransition when it runs or has ended, and ChangeUnsure.
    """
    job_id = _id_of(job)
    _check_target(queue, priority)
    _there(job_id, ask(statements.move(job_id, queue, priority), _changing("move", job_id)))


async def amove(job: JobId, *, queue: str | None = None, priority: int | None = None) -> None:
    """`move` for asyncio."""
    job_id = _id_of(job)
    _check_target(queue, priority)
    _there(job_id, await aask(statements.move(job_id, queue, priority), _changing("move", job_id)))


def wait(job: JobId, timeout: Duration | None = None) -> JobRecord:
    """The job once it has ended, however it did. Without a timeout, waits for as long as that takes.

    It asks every 5 ms at first and every 500 ms in the end. Raises NotFinished when the time is up, and NoSuchJob.
    """
    job_id, patience = _id_of(job), Patience(timeout)
    while True:
        seen = _seen(job_id, ask(statements.status(job_id), _reading(job_id, patience)))
        if seen.is_final and (record := get(job_id)).status.is_final:
            return record
        time.sleep(_pause(job_id, seen, patience))


async def await_for(job: JobId, timeout: Duration | None = None) -> JobRecord:  # noqa: ASYNC109
    """`wait` for asyncio."""
    job_id, patience = _id_of(job), Patience(timeout)
    while True:
        seen = _seen(job_id, await aask(statements.status(job_id), _reading(job_id, patience)))
        if seen.is_final and (record := await aget(job_id)).status.is_final:
            return record
        await asyncio.sleep(_pause(job_id, seen, patience))


def result(job: JobId, timeout: Duration | None = None) -> Any:
    """What the job returned, once it has succeeded, as JSON has it; it must have been enqueued with `keep_result`.

    Raises NotFinished when the time is up, NotCompleted when it ended otherwise, ResultNotKept, and NoSuchJob.
    """
    record = wait(job, timeout)
    _check_completed(record)
    return _decoded(record, ask(statements.result(record.id), _reading(record.id)))


async def aresult(job: JobId, timeout: Duration | None = None) -> Any:  # noqa: ASYNC109
    """`result` for asyncio."""
    record = await await_for(job, timeout)
    _check_completed(record)
    return _decoded(record, await aask(statements.result(record.id), _reading(record.id)))


def _id_of(job: JobId) -> UUID:
    if isinstance(job, Handle):
        return job.id
    if isinstance(job, UUID):
        return job
    if not isinstance(job, str):
        raise BadJob("job", f"it must be an id or what enqueue returned, not {type(job).__name__}")
    try:
        return UUID(job)
    except ValueError:
        raise BadJob("job", f"{job!r} is not the id of a job: ids are UUIDs") from None


def _reading(job_id: UUID, patience: Patience | None = None) -> Manner:
    def lost(why: str) -> NoDatabase:
        return NoDatabase(
            f"the connection to Postgres was lost twice when asked for job {job_id}: {why}. "
            "Nothing was changed. Check that the server runs"
        )

    most_s = _ANSWER_S if patience is None else min(_ANSWER_S, patience.left_s() + 1.0)
    return Manner(asked=f"look up job {job_id}", lost=lost, again=True, within_s=most_s)


def _changing(asked: str, job_id: UUID) -> Manner:
    """A cancel that is repeated says the same again. A repeated retry or move would be a second one, or be refused."""
    return Manner(
        asked=f"{asked} job {job_id}",
        lost=lambda why: ChangeUnsure(asked, job_id, why),
        again=asked == "cancel",
        within_s=_ANSWER_S,
    )


def _checked(reason: str | None) -> str | None:
    if reason is not None:
        check_text("reason", reason, most=_REASON_BYTES)
    return reason


def _check_target(queue: str | None, priority: int | None) -> None:
    if queue is None and priority is None:
        raise BadJob("queue", "there is nowhere to move to. Give queue=, priority= or both")
    if queue is not None:
        check_text("queue", queue, most=100)
    if priority is not None:
        check_int("priority", priority, least=-10, most=10)


def _record(job_id: UUID, answer: str | None) -> JobRecord:
    if answer is None:
        raise NoSuchJob(job_id)
    return statements.record_of(answer)


def _seen(job_id: UUID, answer: str | None) -> Status:
    if answer is None:
        raise NoSuchJob(job_id)
    return Status(answer)


def _there(job_id: UUID, answer: bool) -> None:
    if not answer:
        raise NoSuchJob(job_id)


def _pause(job_id: UUID, seen: Status, patience: Patience) -> float:
    pause_s = patience.next_s()
    if pause_s is None:
        raise NotFinished(job_id, seen, timeout_s=patience.timeout_s)
    return pause_s


def _check_completed(record: JobRecord) -> None:
    if record.status is not Status.COMPLETED:
        raise NotCompleted(record)


def _decoded(record: JobRecord, answer: str | None) -> Any:
    if answer is None:
        raise ResultNotKept(record)
    return msgspec.json.decode(answer)
