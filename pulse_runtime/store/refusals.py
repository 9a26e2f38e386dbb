"""What the database refuses, as the errors that Pulse raises: SQLSTATE PU409 is about a job, PU410 about a schedule."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import psycopg

from pulse_runtime.errors import PulseError
from pulse_runtime.job_errors import InvalidTransition
from pulse_runtime.records import Status
from pulse_runtime.scheduling.errors import ScheduleRefused


@contextmanager
def explained() -> Iterator[None]:
    """Raise what the driver's error means, if it means one of ours."""
    try:
        yield
    except psycopg.DatabaseError as error:
        ours = _meaning(error)
        if ours is None:
            raise
        raise ours from None


def _meaning(error: psycopg.DatabaseError) -> PulseError | None:
    said = error.diag
    if error.sqlstate == "PU409":
        asked, job_id, status = (said.message_detail or "").split()
        return InvalidTransition(asked, UUID(job_id), Status(status), said.message_hint or "")
    if error.sqlstate == "PU410":
        asked, _, name = (said.message_detail or "").partition(" ")
        return ScheduleRefused(asked, name, said.message_primary or "", said.message_hint or "")
    return None
