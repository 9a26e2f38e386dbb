"""Statements that look jobs up and change them, one function each, and how their answers are read.

An answer is one JSON text, so that it means the same whatever the codecs of a connection.
"""

from typing import Any
from uuid import UUID

import msgspec

from pulse_runtime.records import Delivery, JobRecord, ListedJob, Page, QueueCounts, Status
from pulse_runtime.store.statement import Statement

# Python's years end with 9999, and Postgres has an infinity behind that.
_GET = """select cast(json_build_object(
  'id', g.id, 'status', g.status, 'kind', g.kind, 'args', g.args, 'queue', g.queue, 'priority', g.priority,
  'attempt', g.attempt, 'charged', g.charged, 'max_attempts', g.max_attempts, 'submitted_at', g.submitted_at,
  'run_at', case when g.run_at > '9999-12-31Z' then '9999-12-31Z' else g.run_at end,
  'started_at', g.started_at, 'finished_at', g.finished_at, 'last_error', g.last_error,
  'executor', g.executor, 'tenant', g.tenant, 'project', g.project, 'key', g.key, 'schedule_id', g.schedule_id,
  'occurrence', g.occurrence, 'trace', g.trace, 'metadata', g.meta,
  'progress', case when p.id is not null then
    json_build_object('attempt', p.attempt, 'at', p.at, 'done', p.done, 'total', p.total, 'note', p.note) end) as text)
from pulse.get(cast(cast({id} as text) as uuid)) g left join pulse.progress p on p.id = g.id"""
_LIST = """select cast(json_agg(json_build_object(
  'id', j.id, 'status', j.status, 'kind', j.kind, 'queue', j.queue, 'priority', j.priority, 'attempt', j.attempt,
  'charged', j.charged, 'max_attempts', j.max_attempts, 'submitted_at', j.submitted_at,
  'run_at', case when j.run_at > '9999-12-31Z' then '9999-12-31Z' else j.run_at end,
  'started_at', j.started_at, 'finished_at', j.finished_at, 'last_error', j.last_error, 'executor', j.executor,
  'tenant', j.tenant, 'project', j.project, 'key', j.key, 'schedule_id', j.schedule_id, 'occurrence', j.occurrence,
  'after', j.after) order by j.ord) as text)
from pulse.list(cast({status} as text), cast({queue} as text), cast({kind} as text), cast({tenant} as text),
  cast({most} as integer), cast({after} as text)) with ordinality j(id, status, queue, kind, tenant, project,
  priority, attempt, charged, max_attempts, submitted_at, run_at, started_at, finished_at, last_error, executor,
  schedule_id, occurrence, key, after, ord)"""
_STATUS = "select status from pulse.get(cast(cast({id} as text) as uuid))"
_HISTORY = """select cast(coalesce(json_agg(h), '[]') as text)
from pulse.history(cast(cast({id} as text) as uuid)) h"""
_RESULT = "select cast(r.result as text) from pulse.result r where r.id = cast(cast({id} as text) as uuid)"
_CANCEL = "select pulse.cancel(cast(cast({id} as text) as uuid), reason => cast({reason} as text))"
_RETRY = "select pulse.retry(cast(cast({id} as text) as uuid))"
_MOVE = """select pulse.move(
  cast(cast({id} as text) as uuid), cast({queue} as text), cast({priority} as integer))"""


def get(job_id: UUID) -> Statement:
    """One job; see `record_of`. No answer: there is no such job."""
    return _about(_GET, job_id)


def status(job_id: UUID) -> Statement:
    """Its status alone. No answer: there is no such job."""
    return _about(_STATUS, job_id)


def history(job_id: UUID) -> Statement:
    """Its deliveries; see `deliveries_of`."""
    return _about(_HISTORY, job_id)


def result(job_id: UUID) -> Statement:
    """What it returned, as JSON. No answer: nothing was kept."""
    return _about(_RESULT, job_id)


def cancel(job_id: UUID, reason: str | None) -> Statement:
    """The answer is CANCELED, or RUNNING when the wish was noted; none: there is no such job."""
    return _about(_CANCEL, job_id, reason=reason)


def retry(job_id: UUID) -> Statement:
    """The answer is whether there is such a job."""
    return _about(_RETRY, job_id)


def move(job_id: UUID, queue: str | None, priority: int | None) -> Statement:
    """The answer is whether there is such a job."""
    return _about(_MOVE, job_id, queue=queue, priority=priority)


def list_jobs(
    status: Status | None = None,
    *,
    queue: str | None = None,
    kind: str | None = None,
    tenant: str | None = None,
    most: int = 50,
    after: str | None = None,
) -> Statement:
    """A page of jobs, in the order that 0013_list.sql says for the status; see `page_of`."""
    names = ("status", "queue", "kind", "tenant", "most", "after")
    return Statement(_LIST, names, (status and status.value, queue, kind, tenant, most, after))


def counts() -> Statement:
    """How many jobs each queue has; see `counts_of`."""
    return Statement("select cast(coalesce(json_agg(c), '[]') as text) from pulse.counts() c", (), ())


def record_of(answer: str) -> JobRecord:
    """The answer to `get`."""
    return msgspec.json.decode(answer, type=JobRecord)


def deliveries_of(answer: str) -> list[Delivery]:
    """The answer to `history`."""
    return msgspec.json.decode(answer, type=list[Delivery])


def page_of(answer: str | None, *, most: int = 50) -> Page:
    """The answer to `list_jobs`: a page that is not full is the last one, unless it ends with a cursor alone."""
    rows: list[dict[str, Any]] = msgspec.json.decode(answer) if answer else []
    jobs = [msgspec.convert(row, ListedJob) for row in rows if row["id"] is not None]
    goes_on = len(jobs) == most or len(jobs) < len(rows)
    return Page(jobs, rows[-1]["after"] if goes_on else None)


def counts_of(answer: str) -> list[QueueCounts]:
    """The answer to `counts`."""
    return msgspec.json.decode(answer, type=list[QueueCounts])


def _about(sql: str, job_id: UUID, **values: Any) -> Statement:
    return Statement(sql, ("id", *values), (str(job_id), *values.values()))
