"""Jobs that a handler adds with its outcome: kept until it has ended, then sent with the report, or dropped."""

from uuid import UUID

import msgspec

from pulse_runtime.ids import uuid7
from pulse_runtime.job_spec import Checked, Job, check, rare_of
from pulse_runtime.job_values import BadJob

MOST = 1000
MOST_BYTES = 4 << 20
"""Of all follow-ups of one job. They travel in one report, and commit in one transaction with many others."""


class FollowUps:
    """What one delivery has enqueued so far."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self._written: list[str] = []
        self._bytes = 0
        self._ended = False

    def add(self, job: Job) -> UUID:
        """Keep it. Raises BadJob when it cannot be enqueued, so that the handler hears of it and not its report."""
        if self._ended:
            raise BadJob("job", "the handler has ended, and its follow-ups with it. Enqueue before it returns")
        job_id, checked = uuid7(), check(job)
        written = _written(job_id, checked)
        if len(self.jobs) >= MOST or self._bytes + len(written) > MOST_BYTES:
            raise BadJob(
                "job",
                f"a job has at most {MOST} follow-ups with {MOST_BYTES} bytes in all. Let a follow-up enqueue the rest",
            )
        self.jobs.append(job)
        self._written.append(written)
        self._bytes += len(written)
        return job_id

    def end(self) -> list[str]:
        """Nothing can be added any more; each as `pulse.settle` takes it."""
        self._ended = True
        return self._written


def _written(job_id: UUID, job: Checked) -> str:
    rest = rare_of(job)
    if job.delay_s is not None:
        rest["delay_s"] = job.delay_s  # from when the outcome commits, by the database's clock
    said = {
        "id": job_id,
        "kind": job.kind,
        "args": msgspec.Raw(job.args),
        "queue": job.queue,
        "priority": job.priority,
        "rest": rest or None,
    }
    return msgspec.json.encode(said).decode()
