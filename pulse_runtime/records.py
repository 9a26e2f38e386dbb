"""Jobs as the database tells them: how one stands at a moment, and what became of each of its deliveries."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import msgspec


class Status(StrEnum):
    """Where a job is in its life."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    RETRYING = "RETRYING"
    """It failed, and will be tried again."""
    COMPLETED = "COMPLETED"
    DEAD_LETTERED = "DEAD_LETTERED"
    """It is out of attempts, and a person decides."""
    CANCELED = "CANCELED"

    @property
    def is_final(self) -> bool:
        """Nothing more happens to the job by itself: a dead letter can still be retried."""
        return self in {Status.COMPLETED, Status.DEAD_LETTERED, Status.CANCELED}


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a handler said it was."""

    attempt: int
    at: datetime
    done: float
    total: float | None = None
    note: str | None = None


class JobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A job as it stood when it was looked up. It does not change: look again to see more."""

    id: UUID
    status: Status
    kind: str
    args: dict[str, Any]
    queue: str
    priority: int
    attempt: int
    """Of its newest delivery; rises with every one that may have started."""
    charged: int
    """How many attempts count against `max_attempts`."""
    max_attempts: int
    submitted_at: datetime
    run_at: datetime | None = None
    """Not before then; None once it is due. The year 9999 is never."""
    started_at: datetime | None = None
    """When it was claimed, while it runs and after it succeeded."""
    finished_at: datetime | None = None
    last_error: str | None = None
    """Of its newest failure; the reason, if it was canceled."""
    executor: int | None = None
    tenant: str | None = None
    project: str | None = None
    key: str | None = None
    schedule_id: UUID | None = None
    occurrence: datetime | None = None
    trace: str | None = None
    metadata: dict[str, Any] | None = None
    progress: Progress | None = None
    """What its handler said last with `ctx.progress`."""


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """One time that a job was given to an executor."""

    attempt: int
    ending: str
    """completed, running, fail, crash, dead, cancel, snooze, lost, suspect, or release: given back unstarted."""
    claim: int
    claimed_at: datetime | None = None
    """None once retention has dropped it."""
    executor: int
    runtime: str | None = None
    host: str | None = None
    ended_at: datetime | None = None
    took_us: int | None = None
    error: str | None = None


class ListedJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job in a list: a `JobRecord` without what can be large."""

    id: UUID
    status: Status
    kind: str
    queue: str
    priority: int
    attempt: int
    charged: int
    max_attempts: int
    submitted_at: datetime
    run_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    last_error: str | None = None
    executor: int | None = None
    tenant: str | None = None
    project: str | None = None
    key: str | None = None
    schedule_id: UUID | None = None
    occurrence: datetime | None = None


class Page(msgspec.Struct, frozen=True):
    """Some jobs of a list, and the cursor of the page after it: None at the end. A page may be empty before that."""

    jobs: list[ListedJob]
    after: str | None


class QueueCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs of a queue there are. If not `exact`, the numbers are "at least"."""

    queue: str
    waiting: int
    """Could run now."""
    running: int
    delayed: int
    retrying: int
    """Failed, and not yet due again."""
    dead: int
    oldest_due: datetime | None = None
    exact: bool
