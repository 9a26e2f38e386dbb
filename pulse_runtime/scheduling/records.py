"""Schedules as the database tells them: how one stands, and what became of its occurrences."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import msgspec

from pulse_runtime.timing.describing import describe
from pulse_runtime.timing.errors import BadTiming
from pulse_runtime.timing.timings import Timing, parse_timing


class ScheduleStatus(StrEnum):
    """Whether a schedule fires."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    ENDED = "ENDED"
    """`until` or `max_fires` is reached."""


class ScheduleRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule as it stood when it was looked up."""

    id: UUID
    name: str
    status: ScheduleStatus
    tenant: str | None = None
    project: str | None = None
    owner: str | None = None
    declared_by: str | None = None
    """The application whose code declares it; None: it was made through the API."""
    kind: str
    spec: str
    tz: str | None = None
    anchor: datetime | None = None
    job_kind: str
    args: dict[str, Any]
    queue: str
    priority: int
    max_attempts: int
    options: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = msgspec.field(default=None, name="meta")
    missed: str
    missed_most: int
    missed_pace_s: float
    within_s: float | None = None
    overlap: str
    jitter: float
    delivery: str
    pause_after: int
    until: datetime | None = None
    max_fires: int | None = None
    lookahead_s: float
    next_run_at: datetime | None = None
    """The first occurrence that was not fired, ahead of time or not. None: there is none, or it is being reckoned."""
    fires: int
    revision: int
    created_at: datetime
    created_by: str
    updated_at: datetime | None = None
    updated_by: str | None = None
    paused_at: datetime | None = None
    paused_by: str | None = None
    pause_reason: str | None = None
    resumed_at: datetime | None = None
    resumed_by: str | None = None
    ended_at: datetime | None = None
    last_attempt_at: datetime | None = None
    last_success_at: datetime | None = None
    last_failure_at: datetime | None = None
    last_error: str | None = None
    failures: int
    """Final ones, in a row."""
    succeeded: int
    failed: int
    retry_at: datetime | None = None
    """When the next retry of one of its jobs is due."""

    @property
    def timing(self) -> Timing:
        return parse_timing(self.kind, self.spec, self.tz, self.anchor)

    @property
    def description(self) -> str:
        """When it fires, in plain English; or why that cannot be read, as SQL takes any text for an expression."""
        if self.kind == "cron":
            try:
                return describe(self.spec, self.tz)
            except BadTiming as error:
                return str(error)
        return f"every {self.spec}" if self.kind == "every" else f"once, at {self.spec}"


class OccurrenceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one occurrence."""

    occurrence: datetime
    due_at: datetime
    decided_at: datetime
    verdict: str
    """fired, late, skipped, missed, lost, withdrawn, or queued: it waits for the last run to end."""
    reason: str | None = None
    job_id: UUID | None = None
    status: str | None = None
    """That of the job, as long as it is kept."""
    lateness_s: float
    """From when it was due to when its job started, or to when it was decided if it has not started."""


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """How many occurrences there should have been by the timing as it is now, and how many fired."""

    expected: int
    fired: int
    verdicts: dict[str, int]
    """How many of each verdict the ledger has."""

    @property
    def ratio(self) -> float:
        return self.fired / self.expected if self.expected else 1.0
