"""A job from a kind or from `.call(…)`, and options: what every `enqueue` takes."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypedDict

from pulse_runtime.job_spec import Job
from pulse_runtime.job_values import BadJob
from pulse_runtime.retry_policy import Duration, Retry


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


def described(job: str | Job, args: Mapping[str, Any] | None, options: Options) -> Job:
    """The job that is meant. Raises BadJob for options that are none."""
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
