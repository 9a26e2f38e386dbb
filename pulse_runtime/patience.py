"""How often to look for something that may take a moment or an hour, and when to give up."""

import math
import time
from collections.abc import Callable

from pulse_runtime.job_values import BadJob
from pulse_runtime.retry_policy import Duration, seconds_of

_FIRST_S = 0.005
_GROWTH = 1.5
_LONGEST_S = 0.5


class Patience:
    """Pauses that grow, until the time is up on this process's own clock. Raises BadJob for a senseless timeout."""

    def __init__(self, timeout: Duration | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.timeout_s = _seconds(timeout)
        self._clock = clock
        self._end = clock() + self.timeout_s
        self._pause_s = _FIRST_S

    def left_s(self) -> float:
        """Never negative."""
        return max(self._end - self._clock(), 0.0)

    def next_s(self) -> float | None:
        """How long to pause before looking again; None: the time is up. The last pause ends with the time."""
        left_s = self.left_s()
        if left_s <= 0:
            return None
        pause_s = min(self._pause_s, left_s)
        self._pause_s = min(self._pause_s * _GROWTH, _LONGEST_S)
        return pause_s


def _seconds(timeout: Duration | None) -> float:
    if timeout is None:
        return math.inf
    try:
        return seconds_of(timeout)
    except ValueError as error:
        raise BadJob("timeout", str(error)) from None
