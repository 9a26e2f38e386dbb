"""What `pulse.due_schedules` tells of schedules, and what `pulse.fire` is told of them: rows as JSON arrays."""

from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

Verdict = Literal["fired", "late", "skipped", "missed"]


class Seen(msgspec.Struct, frozen=True, array_like=True):
    """A schedule that wants to be looked at."""

    id: UUID
    revision: int
    kind: str
    spec: str
    tz: str | None
    anchor: datetime | None
    reckon_after: datetime
    next_run_at: datetime | None
    last_due_at: datetime | None
    paused: bool
    resumed_at: datetime | None
    missed: Literal["latest", "all", "none"]
    missed_most: int
    missed_pace_s: float
    within_s: float | None
    overlap: Literal["allow", "skip", "queue_one"]
    jitter: float
    until: datetime | None
    max_fires: int | None
    fires: int
    lookahead_s: float
    zone_version: str | None
    queued_at: datetime | None
    free: bool
    """The run that `queued_at` waits for has ended."""


class Told(msgspec.Struct, frozen=True, array_like=True):
    """What is due at a moment of the database's clock."""

    moment: datetime
    schedules: list[Seen]


class Occurrence(msgspec.Struct, frozen=True, array_like=True):
    """What becomes of one. Due in the future, its job is a delayed one."""

    occurrence: datetime
    due_at: datetime
    job_id: UUID
    verdict: Verdict
    reason: str | None = None


class Decision(msgspec.Struct, frozen=True, array_like=True):
    """What becomes of a schedule. It counts if revision and cursor are still those that were seen."""

    id: UUID
    revision: int
    cursor: datetime | None
    next_run_at: datetime | None
    reckon_after: datetime
    last_due_at: datetime | None
    look_at: datetime | None
    zone_version: str | None
    ended: bool
    error: str | None
    occurrences: list[Occurrence]


def broken(seen: Seen | Decision, why: str) -> Decision:
    """Pause it, with this reason."""
    cursor = seen.cursor if isinstance(seen, Decision) else seen.next_run_at
    return Decision(
        seen.id,
        seen.revision,
        cursor,
        cursor,
        seen.reckon_after,
        seen.last_due_at,
        None,
        seen.zone_version,
        False,
        why,
        [],
    )
