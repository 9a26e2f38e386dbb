"""What can be wrong with following or changing a job, and with the connection that it is done on."""

from typing import TYPE_CHECKING
from uuid import UUID

from pulse_runtime.errors import PulseError, Refused

if TYPE_CHECKING:
    from pulse_runtime.records import JobRecord, Status


class NoSuchJob(PulseError):  # noqa: N818
    """There is no job with this id. It may have been rolled back, or dropped by retention after it had ended."""

    exit_code = 3

    def __init__(self, id: UUID) -> None:  # noqa: A002
        super().__init__(
            f"there is no job {id}. Its transaction may be open or rolled back, or retention dropped it after its end"
        )
        self.id = id


class InvalidTransition(Refused):
    """What was asked cannot follow from the state that the job is in. Nothing was changed.

    `asked` is cancel, retry or move; `status` is the job's.
    """

    def __init__(self, asked: str, id: UUID, status: "Status", hint: str) -> None:  # noqa: A002
        super().__init__(f"cannot {asked} job {id}: it is {status}. {hint}")
        self.asked = asked
        self.id = id
        self.status = status


class NotFinished(PulseError, TimeoutError):  # noqa: N818
    """The time was up before the job had ended. `status` is what was seen last; the job goes on."""

    def __init__(self, id: UUID, status: "Status", *, timeout_s: float) -> None:  # noqa: A002
        super().__init__(f"job {id} has not ended within {timeout_s:g} s: it is {status}. Wait again, or for longer")
        self.id = id
        self.status = status
        self.timeout_s = timeout_s


class NotCompleted(PulseError):  # noqa: N818
    """The job has no result because it ended otherwise: `record.status` says how, `record.last_error` why."""

    def __init__(self, record: "JobRecord") -> None:
        why = record.last_error or "no reason was given"
        super().__init__(f"job {record.id} has no result: it is {record.status} after {record.attempt} attempts: {why}")
        self.record = record


class ResultNotKept(PulseError):  # noqa: N818
    """The job succeeded, and what it returned was not kept, or is kept no longer."""

    def __init__(self, record: "JobRecord") -> None:
        super().__init__(
            f"job {record.id} is COMPLETED, and there is no result of it. Results are kept when asked for: "
            f"@job(keep_result=True), or keep_result=True when it is enqueued; and not for ever"
        )
        self.record = record


class WrongConnection(PulseError, TypeError):  # noqa: N818
    """The connection, or the event loop, cannot be used in this call. Nothing was sent."""

    exit_code = 2


class EnqueueUnsure(PulseError):  # noqa: N818
    """Our connection was lost after the job was sent: whether it was added is not known.

    Raised only without `on=`; with it, your transaction decides and your driver raises.
    """

    exit_code = 5

    def __init__(self, why: str) -> None:
        super().__init__(
            f"the connection to Postgres was lost before it answered, so the job may have been added or not: {why}. "
            "Enqueue it again with the same key, or look for it first if it had none"
        )
        self.why = why


class ChangeUnsure(PulseError):  # noqa: N818
    """Our connection was lost after a change was sent: whether it was made is not known."""

    exit_code = 5

    def __init__(self, asked: str, id: UUID, why: str) -> None:  # noqa: A002
        super().__init__(
            f"the connection to Postgres was lost before it answered when asked to {asked} job {id}, so that may have "
            f"been done or not: {why}. Look at the job with get(), and ask again if it was not"
        )
        self.asked = asked
        self.id = id
        self.why = why
