"""What happens after a failure, as data: it travels with the job, so retrying needs no code of yours.

Two things need it all the same, and are asked of the executor (retrying.py): a function that computes the delay, which
stays with its handler, and exceptions that are never retried, which travel by name.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from pulse_runtime.durations import parse_s
from pulse_runtime.errors import PulseError

MOST_ATTEMPTS = 1000
MOST_DELAYS = 100
MOST_NEVER = 20
DAY_S = 86_400.0
LONGEST_S = 10 * 365 * 86_400.0

Duration = str | float | timedelta
"""A length of time: `"1h30m"`, seconds as a number, or a timedelta."""


class BadRetry(PulseError, ValueError):  # noqa: N818
    """A policy that cannot be followed. `field` is the argument to change."""

    exit_code = 2

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"Retry: {field}: {problem}")
        self.field = field
        self.problem = problem


Compute = Callable[[int, BaseException], Duration]
"""Given the failures so far and the newest of them: how long to wait."""
Never = type[BaseException] | Sequence[type[BaseException]]


@dataclass(frozen=True, slots=True)
class Retry:
    """Up to `attempts` deliveries in all; by default the next comes after failures² seconds, at most a day, ± 10 %.

    `Retry(attempts=8)`, `Retry.exponential("1s", cap="1h")`, `Retry.fixed("30s")`, `Retry.listed("1s", "1m", "1h")`,
    `Retry.computed(lambda failures, error: 60 * failures)`. With `never=(ValueError,)` those are not retried at all.
    """

    attempts: int = 25
    cap: Duration | None = None
    kind: Literal["exponential", "fixed", "list", "computed"] | None = None
    delays: Sequence[Duration] = ()
    factor: float = 2.0
    never: Never = ()
    """A failure of one of these classes, or of one derived from it, makes a dead letter at once."""
    compute: Compute | None = None

    def __post_init__(self) -> None:
        if type(self.attempts) is not int or not 1 <= self.attempts <= MOST_ATTEMPTS:
            raise BadRetry("attempts", f"it must be a whole number from 1 to {MOST_ATTEMPTS}, not {self.attempts!r}")
        if self.kind not in (None, "exponential", "fixed", "list", "computed"):
            raise BadRetry("kind", f"it must be exponential, fixed, list or computed, not {self.kind!r}")
        if self.kind not in (None, "computed") and not 1 <= len(self.delays) <= MOST_DELAYS:
            raise BadRetry("delays", f"give from 1 to {MOST_DELAYS} of them")
        if type(self.factor) not in (int, float) or not 1 <= self.factor <= 1000:
            raise BadRetry("factor", f"it must be a number from 1 to 1000, not {self.factor!r}")
        if (self.kind == "computed") != callable(self.compute):
            raise BadRetry("compute", "give a function of the failures so far and the error: Retry.computed(function)")
        self._check_never()
        self.as_json()

    @classmethod
    def exponential(
        cls,
        first: Duration = 1,
        *,
        factor: float = 2.0,
        cap: Duration | None = None,
        attempts: int = 25,
        never: Never = (),
    ) -> "Retry":
        """Wait `first`, then `factor` times as long after each failure, at most `cap` (a day unless you say)."""
        return cls(attempts, cap, "exponential", (first,), factor, never)

    @classmethod
    def fixed(cls, delay: Duration, *, attempts: int = 25, never: Never = ()) -> "Retry":
        """Wait the same time after each failure."""
        return cls(attempts, delay, "fixed", (delay,), never=never)

    @classmethod
    def listed(cls, *delays: Duration, attempts: int | None = None, never: Never = ()) -> "Retry":
        """Wait these times in turn, and the last one again if `attempts` allows more."""
        cap = max((_seconds("delays", delay) for delay in delays), default=None)
        return cls(len(delays) + 1 if attempts is None else attempts, cap, "list", tuple(delays), never=never)

    @classmethod
    def computed(
        cls, compute: Compute, *, cap: Duration | None = None, attempts: int = 25, never: Never = ()
    ) -> "Retry":
        """Wait as long as `compute(failures, error)` says, at most `cap` (a day unless you say).

        For `@job(retry=…)`: code does not travel with a job. If it raises, the default policy holds.
        """
        return cls(attempts, cap, "computed", never=never, compute=compute)

    @property
    def names_of_never(self) -> tuple[str, ...]:
        """The exceptions that are never retried, as `module.Name`."""
        return tuple(map(name_of, (self.never,) if isinstance(self.never, type) else self.never))

    def delay_s(self, failures: int, error: BaseException) -> float:
        """Before chance is added to it. Raises what `compute` raises, and BadRetry for what is no duration."""
        if self.compute is not None:
            delay = _seconds("compute", self.compute(failures, error))
        elif self.kind == "list":
            delay = _seconds("delays", self.delays[min(failures, len(self.delays)) - 1])
        elif self.kind == "exponential":
            growth = math.exp(min(math.log(self.factor) * (failures - 1), 20.0))
            delay = _seconds("delays", self.delays[0]) * growth
        elif self.kind == "fixed":
            delay = _seconds("delays", self.delays[0])
        else:
            delay = float(failures) * failures
        return min(delay, DAY_S if self.cap is None else _seconds("cap", self.cap))

    def _check_never(self) -> None:
        given: tuple[object, ...] = (self.never,) if isinstance(self.never, type) else tuple(self.never)
        if len(given) > MOST_NEVER or not all(
            isinstance(each, type) and issubclass(each, BaseException) for each in given
        ):
            raise BadRetry("never", f"give at most {MOST_NEVER} classes of exceptions")

    def as_json(self) -> dict[str, Any] | None:
        """The policy as `pulse.backoff` reads it; None is the default one."""
        policy: dict[str, Any] = {}
        if self.kind == "list":
            policy = {"kind": "list", "delays_s": [_seconds("delays", delay) for delay in self.delays]}
        elif self.kind == "computed":
            policy = {"kind": "computed"}
        elif self.kind:
            policy = {"kind": self.kind, "first_s": _seconds("delays", self.delays[0])}
        if self.kind == "exponential":
            policy["factor"] = self.factor
        if self.cap is not None:
            policy["cap_s"] = _seconds("cap", self.cap)
        if never := self.names_of_never:
            policy["never"] = list(never)
        return policy or None


def name_of(error: type[BaseException]) -> str:
    """How a class of exceptions is called in a policy that travels."""
    return f"{error.__module__}.{error.__qualname__}"


def seconds_of(duration: object) -> float:
    """The seconds that `duration` means. Raises ValueError, which says why, unless it is from 0 to 10 years."""
    if isinstance(duration, str):
        seconds = parse_s(duration)
    elif isinstance(duration, timedelta):
        seconds = duration.total_seconds()
    elif isinstance(duration, int | float) and not isinstance(duration, bool):
        # Compared before it becomes a float, which an integer of a thousand digits cannot.
        seconds = float(min(max(duration, -1), LONGEST_S + 1)) if duration == duration else math.nan
    else:
        raise ValueError(f'it must be text such as "5m", seconds or a timedelta, not {type(duration).__name__}')
    if math.isnan(seconds):
        raise ValueError("it is not a number")
    if seconds < 0:
        raise ValueError("it is negative")
    if seconds > LONGEST_S:
        raise ValueError("it is longer than 10 years")
    return seconds


def _seconds(field: str, duration: Duration) -> float:
    try:
        return seconds_of(duration)
    except ValueError as error:
        raise BadRetry(field, str(error)) from None
