"""What can be wrong with saying when. Each message gives the reason and, where there is one, what to write instead."""

from pulse_runtime.errors import PulseError


class BadTiming(PulseError, ValueError):  # noqa: N818
    """A timing that cannot be kept. `problem` is the reason, `hint` what to write instead, if there is such a thing."""

    exit_code = 2

    def __init__(self, what: str, problem: str, hint: str = "") -> None:
        super().__init__(f"{what}: {problem}" + (f". {hint}" if hint else ""))
        self.what = what
        self.problem = problem
        self.hint = hint


class BadCron(BadTiming):
    """Text that is not a cron expression. `field` names the field that is wrong, if it is one."""

    def __init__(self, expr: str, problem: str, hint: str = "", *, field: str | None = None) -> None:
        shown = expr if len(expr) <= 200 else f"{expr[:200]}…"
        super().__init__(f"cron {shown!r}", problem if field is None else f"{field}: {problem}", hint)
        self.expr = expr
        self.field = field


class NeverFires(BadTiming):
    """A cron expression without a single occurrence."""


class TooFrequent(BadTiming):
    """A timing that fires more often than the scheduler looks."""


class UnknownZone(BadTiming):
    """A zone that the zone database does not have. `hint` may name one that is spelled alike."""
