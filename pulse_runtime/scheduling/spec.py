"""What a schedule may be told, checked before it is sent: each error names the field."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pulse_runtime.declare import DEFAULTS
from pulse_runtime.handlers import Handler, registry
from pulse_runtime.job_spec import Job, check
from pulse_runtime.job_values import BadJob, check_int, check_text
from pulse_runtime.retry_policy import Duration, Retry
from pulse_runtime.scheduling.errors import BadSchedule
from pulse_runtime.timing.timings import Every, Timing
from pulse_runtime.timing.timings import every as every_of

_CHOICES = {
    "missed": ("latest", "all", "none"),
    "overlap": ("allow", "skip", "queue_one"),
    "delivery": ("at_least_once", "at_most_once"),
}
_NUMBERS = {"missed_pace_s": (0, 3600), "jitter": (0, 0.5), "lookahead_s": (0, 3600), "within_s": (0.001, 31_536_000)}
_NULLABLE = ("within_s", "until", "max_fires")
# What a job can be told and a schedule decides.
_NOT_OF_A_SCHEDULE = ("delay", "at", "key", "key_for", "trace")


@dataclass(frozen=True)
class FromNow:
    """Every period, beginning now by the database's clock."""

    period: Duration

    def __post_init__(self) -> None:
        self.since(datetime.fromisoformat("2000-01-01T00:00:00Z"))

    def since(self, moment: datetime) -> Every:
        return every_of(self.period, anchor=moment)


When = Timing | FromNow


def timing_of(when: object, moment: datetime) -> Timing:
    """The timing that `when` means at `moment`. Raises BadSchedule."""
    if isinstance(when, FromNow):
        return when.since(moment)
    if not isinstance(when, Timing):
        problem = f"it must be once(…), every(…) or cron(…), not {type(when).__name__}"
        raise BadSchedule("when", problem)
    return when


def timing_columns(timing: Timing) -> dict[str, Any]:
    return {"kind": timing.kind, "spec": timing.spec, "tz": timing.tz, "anchor": timing.anchor}


def job_of(job: object, args: Mapping[str, Any] | None = None, retry_delay: Duration | None = None) -> Job:
    """The job of a schedule, from a handler, a Job or a kind. Raises BadSchedule."""
    match job:
        case Handler():
            job = job.call(**(args or {}))
        case Job() if args is None:
            pass
        case Job():
            raise BadSchedule("args", "the job has arguments already. Give a kind and args, or a Job alone")
        case str():
            job = Job(job, args or {})
        case _:
            raise BadSchedule("job", "it has none. Give a handler, handler.call(…) or a kind")
    for name in _NOT_OF_A_SCHEDULE:
        if getattr(job, name) is not None:
            raise BadSchedule(f"job.{name}", "the job of a schedule cannot have it: when it runs is the schedule's")
    if retry_delay is None:
        return job
    attempts = job.max_attempts or (job.retry.attempts if job.retry else 25)
    return replace(job, retry=Retry.fixed(retry_delay, attempts=attempts))


def job_columns(job: Job) -> dict[str, Any]:
    """Checked, against the handler's signature too when the handler is here. Raises BadSchedule."""
    try:
        checked = check(job)
    except BadJob as error:
        raise BadSchedule(f"job.{error.field}", error.problem) from error
    if (handler := registry.get(job.kind)) is not None:
        try:
            handler.decode(json.loads(checked.args))
        except (TypeError, ValueError) as error:
            raise BadSchedule("job.args", f"{job.kind} does not take them: {error}") from error
    return {
        "job_kind": checked.kind, "args": json.loads(checked.args), "queue": checked.queue,
        "priority": checked.priority, "max_attempts": checked.max_attempts or 25,
        "options": json.loads(checked.options) if checked.options else None,
        "meta": json.loads(checked.meta) if checked.meta else None,
    }  # fmt: skip


def routing_columns(said: Mapping[str, Any]) -> dict[str, Any]:
    """Queue, priority and attempts by themselves, checked. Raises BadSchedule."""
    try:
        checked = check(Job("any", **said))
    except BadJob as error:
        raise BadSchedule(f"job.{error.field}", error.problem) from error
    return {name: getattr(checked, name) for name in said}


def policy_columns(policies: Mapping[str, Any]) -> dict[str, Any]:
    """Raises BadSchedule, which names the first policy that is wrong."""
    for name, value in policies.items():
        if name not in DEFAULTS:
            raise BadSchedule(name, f"there is no such policy; there are {', '.join(DEFAULTS)}")
        if value is not None or name not in _NULLABLE:
            _check_policy(name, value)
    return dict(policies)


def check_name(field: str, value: object, *, most: int = 200) -> None:
    """Text that the database will take. Raises BadSchedule."""
    try:
        check_text(field, value, most=most)
    except BadJob as error:
        raise BadSchedule(field, error.problem) from None


def _check_policy(name: str, value: Any) -> None:
    if name in _CHOICES and value not in _CHOICES[name]:
        raise BadSchedule(name, f"it must be {' or '.join(_CHOICES[name])}, not {value!r}")
    if name in _NUMBERS:
        least, most = _NUMBERS[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise BadSchedule(name, f"it must be a number, not {value!r}")
        if not least <= value <= most:
            raise BadSchedule(name, f"it must be from {least:g} to {most:g}, not {value:g}")
    if name == "until" and (not isinstance(value, datetime) or value.utcoffset() is None):
        raise BadSchedule(name, "it must be a datetime with a time zone")
    bounds = {"missed_most": (1, 1000), "max_fires": (1, 2**62), "pause_after": (0, 100)}
    if name in bounds:
        try:
            check_int(name, value, least=bounds[name][0], most=bounds[name][1])
        except BadJob as error:
            raise BadSchedule(name, error.problem) from None
    if name == "pause_after" and value in (1, 2):
        raise BadSchedule(name, "it must be 0, which is never, or from 3 to 100")
