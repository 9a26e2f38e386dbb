"""What can be wrong with making or changing a schedule. What is wrong with a timing is in `timing.errors`."""

from pulse_runtime.errors import PulseError, Refused


class BadSchedule(PulseError, ValueError):  # noqa: N818
    """A schedule that cannot be kept. Nothing was sent. `field` is the argument to change."""

    exit_code = 2

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class NoSuchSchedule(PulseError):  # noqa: N818
    """There is no schedule of this id or name, or it was deleted. Names belong to a tenant and a project."""

    exit_code = 3

    def __init__(self, said: str) -> None:
        super().__init__(
            f"there is no schedule {said}. It may be deleted, have fired (once), or belong to another tenant or "
            "project: `pulse-runtime schedules list` shows what there is"
        )
        self.said = said


class ScheduleRefused(Refused):
    """What was asked is not possible in the state that the schedule is in. Nothing was changed.

    `asked` is add, edit, run or backfill; `name` is the schedule's.
    """

    def __init__(self, asked: str, name: str, message: str, hint: str) -> None:
        super().__init__(f"{message}. {hint}")
        self.asked = asked
        self.name = name


class ScheduleUnsure(PulseError):  # noqa: N818
    """Our connection was lost after a change was sent: whether it was made is not known."""

    exit_code = 5

    def __init__(self, asked: str, why: str) -> None:
        super().__init__(
            f"the connection to Postgres was lost before it answered when asked to {asked}, so that may have been done "
            f"or not: {why}. Look at the schedule, and ask again if it was not"
        )
        self.asked = asked
        self.why = why
