"""What can be wrong with the connection that a producer gives, or with ours."""

from pulse_runtime.errors import PulseError


class WrongConnection(PulseError, TypeError):  # noqa: N818
    """`on=` cannot be used in this call. Nothing was sent."""

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
