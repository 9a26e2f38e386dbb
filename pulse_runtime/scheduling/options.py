"""How a schedule is named and what it can be told, as types that checkers of applications read."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypedDict
from uuid import UUID

from pulse_runtime.declare import Policies
from pulse_runtime.handlers import Handler
from pulse_runtime.job_spec import Job
from pulse_runtime.retry_policy import Duration
from pulse_runtime.scheduling.spec import When


class Named(NamedTuple):
    """What `add` returns."""

    id: UUID
    name: str


class Place(TypedDict, total=False):
    """Where a name is looked up. Not needed with an id; if it is said, the schedule of that id must be there."""

    tenant: str | None
    project: str | None


class New(Policies, total=False):
    """What else a new schedule can be told."""

    args: Mapping[str, Any] | None
    retry_delay: Duration | None
    tenant: str | None
    project: str | None
    owner: str | None
    by: str | None


class Changes(Policies, total=False):
    """What can be changed: what is not said stays."""

    when: When
    job: Job | Handler[..., Any] | str
    args: Mapping[str, Any] | None
    retry_delay: Duration | None
    queue: str
    priority: int
    max_attempts: int
    rename: str
    owner: str | None
    by: str | None
    revision: int


ScheduleId = UUID | str | Named
