"""What a handler may know of the delivery that it runs, and do with it."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Unpack
from uuid import UUID

from pulse_runtime.execution.follow_ups import FollowUps
from pulse_runtime.execution.telling import clean
from pulse_runtime.job_options import Options, described
from pulse_runtime.job_spec import Job

PROGRESS_S = 1.0
MOST_NOTE = 500


class Context:
    """The delivery that a handler is running. A handler that wants it has it as its first parameter.

    Make one yourself to call a handler in a test: `handler(Context(uuid4(), "kind"), …)`.
    """

    __slots__ = (
        "_began",
        "_canceled",
        "_follow_ups",
        "_said_at",
        "_say",
        "_timeout_s",
        "attempt",
        "charged",
        "id",
        "key",
        "kind",
        "max_attempts",
        "metadata",
        "occurrence",
        "project",
        "queue",
        "schedule_id",
        "tenant",
        "trace",
    )  # fmt: skip

    def __init__(
        self,
        id: UUID,  # noqa: A002
        kind: str,
        attempt: int = 1,
        *,
        queue: str = "default",
        charged: int = 0,
        max_attempts: int = 25,
        tenant: str | None = None,
        project: str | None = None,
        key: str | None = None,
        schedule_id: UUID | None = None,
        occurrence: datetime | None = None,
        trace: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
        follow_ups: FollowUps | None = None,
        say: Callable[[float, float | None, str | None], None] | None = None,
    ) -> None:
        self.id = id
        self.kind = kind
        self.attempt = attempt
        """Rises with every delivery that may have started: with the id, what to be idempotent by."""
        self.queue = queue
        self.charged = charged
        """How many attempts before this one count against `max_attempts`."""
        self.max_attempts = max_attempts
        self.tenant = tenant
        self.project = project
        self.key = key
        self.schedule_id = schedule_id
        self.occurrence = occurrence
        """The instant for which its schedule made it."""
        self.trace = trace
        self.metadata = metadata
        self._timeout_s = timeout_s
        self._began = time.time(), time.monotonic()
        self._follow_ups = follow_ups or FollowUps()
        self._say = say
        self._said_at = -PROGRESS_S
        self._canceled: str | None = None

    @property
    def deadline(self) -> datetime | None:
        """When it is cancelled because it takes too long; None: never."""
        return None if self._timeout_s is None else datetime.fromtimestamp(self._began[0] + self._timeout_s, UTC)

    @property
    def left_s(self) -> float | None:
        """Seconds until then, by a clock that does not jump; negative once it has passed."""
        return None if self._timeout_s is None else self._began[1] + self._timeout_s - time.monotonic()

    @property
    def canceled(self) -> str | None:
        """Why someone wants it to end, a timeout included. A handler that blocks a thread has to ask."""
        if (
            self._canceled is None
            and self._timeout_s is not None
            and self._began[1] + self._timeout_s < time.monotonic()
        ):
            return "its time is up"
        return self._canceled

    def asked_to_end(self, reason: str) -> None:
        """For executors and tests: from now on `canceled` says so."""
        self._canceled = reason

    def enqueue(self, job: str | Job, args: Mapping[str, Any] | None = None, **options: Unpack[Options]) -> UUID:
        """Add a job that is there when this delivery has ended as its handler decided, and not otherwise.

        It commits with the outcome when the handler returns or raises Snooze, Cancel or Fail. It is dropped when the
        handler fails, times out, or dies: the next attempt adds it again. Takes what `pulse_runtime.enqueue` takes.
        Raises BadJob. The answer is the job's id; where its key is taken, no job will have that id.
        """
        return self._follow_ups.add(described(job, args, options))

    def progress(self, done: float, total: float | None = None, note: str | None = None) -> None:
        """Say how far it is: `get(job).progress` shows it. Call it as often as you like: it is told once a second.

        Raises ValueError for numbers that are none.
        """
        if not math.isfinite(done) or not math.isfinite(total or 0.0):
            raise ValueError(f"progress is told in numbers, not {done!r} of {total!r}")
        now = time.monotonic()
        if self._say is not None and now - self._said_at >= PROGRESS_S:
            self._said_at = now
            said = None if note is None else clean(note)[:MOST_NOTE]
            self._say(float(done), None if total is None else float(total), said)

    @property
    def enqueued(self) -> Sequence[Job]:
        """What it has added so far."""
        return tuple(self._follow_ups.jobs)

    def __repr__(self) -> str:
        return f"<Context {self.kind} {self.id} attempt {self.attempt}>"
