"""A job as its producer describes it, and the check that stands between it and the database."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from pulse_runtime.job_values import BadJob, check_int, check_text, encode
from pulse_runtime.retry_policy import LONGEST_S, MOST_ATTEMPTS, Duration, Retry, seconds_of

ARGS_BYTES = 1 << 20
MOST_ARGS_BYTES = 4 << 20
META_BYTES = 65_536
OPTIONS_BYTES = 8_192


@dataclass(frozen=True, slots=True)
class Job:
    """What to run (`kind` and `args`) and how. An option that is None was not said, and has its default.

    Nothing is checked until it is enqueued.
    """

    kind: str
    args: Mapping[str, Any] = field(default_factory=dict)
    queue: str | None = None
    """`default` unless said."""
    priority: int | None = None
    """From -10 to 10; higher goes first; 0 unless said."""
    delay: Duration | None = None
    """Not before this long from now, by the database's clock. Either this or `at`."""
    at: datetime | None = None
    """Not before this moment, which must have a time zone."""
    key: str | None = None
    """At most one unfinished job of a tenant has this key: the others are not added."""
    key_for: Duration | None = None
    """With a key: at most one in this time, finished or not."""
    tenant: str | None = None
    project: str | None = None
    max_attempts: int | None = None
    """Goes before the `attempts` of `retry`; 25 unless either is said."""
    retry: Retry | None = None
    timeout: Duration | None = None
    keep_result: bool | None = None
    metadata: Mapping[str, Any] | None = None
    """Yours: kept and shown with the job, never read."""
    trace: str | None = None
    max_args_bytes: int = ARGS_BYTES
    """Larger arguments are refused. At most 4 MiB."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A job that the database will take, with the names and values that `pulse.enqueue` takes. None is left out."""

    kind: str
    args: str
    queue: str
    priority: int
    run_at: str | None
    delay_s: float | None
    key: str | None
    key_for_s: float | None
    tenant: str | None
    project: str | None
    max_attempts: int | None
    options: str | None
    trace: str | None
    meta: str | None


def check(job: Job) -> Checked:
    """The job as it is sent. Raises BadJob, which names the first field that is wrong."""
    _check_texts(job)
    priority = 0 if job.priority is None else job.priority
    check_int("priority", priority, least=-10, most=10)
    check_int("max_args_bytes", job.max_args_bytes, least=2, most=MOST_ARGS_BYTES)
    if job.key_for is not None and job.key is None:
        raise BadJob("key_for", "it is the period of a key, and there is no key. Give key= too")
    return Checked(
        kind=job.kind,
        args=encode("args", job.args, most=job.max_args_bytes),
        queue="default" if job.queue is None else job.queue,
        priority=priority,
        run_at=_run_at(job),
        delay_s=_seconds("delay", job.delay),
        key=job.key,
        key_for_s=_seconds("key_for", job.key_for, positive=True),
        tenant=job.tenant,
        project=job.project,
        max_attempts=_max_attempts(job),
        options=_options(job),
        trace=job.trace,
        meta=None if job.metadata is None else encode("metadata", job.metadata, most=META_BYTES),
    )


def rare_of(job: Checked) -> dict[str, Any]:
    """What most jobs lack, as `pulse.enqueue_many` takes it in `rest`; without the delay."""
    rare = {
        "run_at": job.run_at,
        "key": job.key,
        "key_for_s": job.key_for_s,
        "tenant": job.tenant,
        "project": job.project,
        "max_attempts": job.max_attempts,
        "options": _raw(job.options),
        "trace": job.trace,
        "meta": _raw(job.meta),
    }
    return {name: value for name, value in rare.items() if value is not None}


def _raw(text: str | None) -> msgspec.Raw | None:
    return None if text is None else msgspec.Raw(text)


def _check_texts(job: Job) -> None:
    """The bounds are those of the CHECKs in 0002_log.sql."""
    check_text("kind", job.kind, most=200)
    if job.queue is not None:
        check_text("queue", job.queue, most=100)
    if job.tenant is not None:
        check_text("tenant", job.tenant, most=200)
    if job.project is not None:
        check_text("project", job.project, most=200)
    if job.key is not None:
        check_text("key", job.key, most=500)
    if job.trace is not None:
        check_text("trace", job.trace, least=0, most=512)


def _run_at(job: Job) -> str | None:
    if job.at is None:
        return None
    if job.delay is not None:
        raise BadJob("delay", "both delay and at are given. Give one of them")
    if not isinstance(job.at, datetime):
        raise BadJob("at", f"it must be a datetime, not {type(job.at).__name__}")
    if job.at.utcoffset() is None:
        raise BadJob("at", "it has no time zone. Write for example datetime.now(UTC) + timedelta(hours=1)")
    try:
        moment = job.at.astimezone(UTC)
    except OverflowError:
        raise BadJob("at", "it is outside the calendar") from None
    if moment > datetime.now(UTC) + timedelta(seconds=LONGEST_S):
        raise BadJob("at", "it is more than 10 years away")
    return moment.isoformat()


def _seconds(name: str, duration: Duration | None, *, positive: bool = False) -> float | None:
    if duration is None:
        return None
    try:
        seconds = seconds_of(duration)
    except ValueError as error:
        raise BadJob(name, str(error)) from None
    if positive and seconds < 0.001:
        raise BadJob(name, "it must be a millisecond or longer")
    return seconds


def _max_attempts(job: Job) -> int | None:
    if job.retry is not None and not isinstance(job.retry, Retry):
        raise BadJob("retry", f"it must be a Retry, not {type(job.retry).__name__}")
    if job.max_attempts is None:
        return None if job.retry is None else job.retry.attempts
    check_int("max_attempts", job.max_attempts, least=1, most=MOST_ATTEMPTS)
    return job.max_attempts


def _options(job: Job) -> str | None:
    """What executors read: as 0002_log.sql says."""
    said: dict[str, Any] = {}
    if job.retry is not None and (policy := job.retry.as_json()) is not None:
        said["retry"] = policy
    if (timeout_s := _seconds("timeout", job.timeout, positive=True)) is not None:
        said["timeout_ms"] = round(timeout_s * 1000)
    if job.keep_result is not None and not isinstance(job.keep_result, bool):
        raise BadJob("keep_result", f"it must be True or False, not {type(job.keep_result).__name__}")
    if job.keep_result:
        said["keep_result"] = True
    return encode("options", said, most=OPTIONS_BYTES) if said else None
