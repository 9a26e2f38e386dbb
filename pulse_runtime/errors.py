"""What Pulse raises, and the exit code that each means at the command line.

Exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 refused, 5 no database, 6 problems found, 78 configuration,
130 interrupted.
"""

from typing import ClassVar


class PulseError(Exception):
    """Every error of Pulse is one of these, so that one `except` can tell ours from yours."""

    exit_code: ClassVar[int] = 1


class Refused(PulseError):  # noqa: N818
    """What was asked would do harm in the state that things are in. The message says what to do first."""

    exit_code = 4


class NoDatabase(PulseError):  # noqa: N818
    """No connection to Postgres. Nothing was sent, so nothing was changed."""

    exit_code = 5


class DatabaseSilent(PulseError):  # noqa: N818
    """The database took a question and gave no answer in time. Whether it did what was asked is not known.

    The connection is closed by the time this is raised.
    """

    exit_code = 5

    def __init__(self, *, actor: str, asked: str, seconds: float) -> None:
        super().__init__(
            f"{actor}: Postgres did not answer within {seconds:g} s when asked to {asked}. "
            "It may still do it. Look for a stopped or overloaded server, a lock, or a broken network"
        )
        self.actor = actor
        self.asked = asked
        self.seconds = seconds


class ConfigError(PulseError):
    """A setting cannot be used. `source` says where it was made: a flag, a variable, or a file and its line."""

    exit_code = 78

    def __init__(self, problem: str, *, source: str) -> None:
        super().__init__(f"{source}: {problem}")
        self.problem = problem
        self.source = source
