"""How fast an executor works, as it was measured: how much more it should have at hand than it runs."""

PREFETCH_S = 0.05
"""Of work: what covers the way to the claimer and back. More would only keep jobs from others who are free."""
_LEAST_S = 0.02
_NEWEST = 0.5


class Pace:
    """Counts while jobs run, and not while there are none: a pause says nothing about speed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rate = 0.0
        self._mean_s = 0.0
        self._ended = 0
        self._took_us = 0
        self._busy_s = 0.0
        self._since: float | None = None

    def began(self, now: float) -> None:
        """Somebody runs, after nobody did."""
        self._since = now

    def rested(self, now: float) -> None:
        """Nobody runs any more."""
        if self._since is not None:
            self._busy_s += now - self._since
            self._since = None

    def ended(self, took_us: int) -> None:
        self._ended += 1
        self._took_us += took_us

    def prefetch(self, now: float) -> int:
        """How many jobs are about 50 ms of work; none, if one of them takes as long."""
        busy_s = self._busy_s + (0.0 if self._since is None else now - self._since)
        if self._ended and busy_s >= _LEAST_S:
            self._measured(busy_s)
            if self._since is not None:
                self._since = now
        return 0 if self._mean_s >= PREFETCH_S else min(self._most, int(self._rate * PREFETCH_S))

    def _measured(self, busy_s: float) -> None:
        rate, mean_s = self._ended / busy_s, self._took_us / self._ended / 1e6
        first = not self._rate
        self._rate = rate if first else self._rate + _NEWEST * (rate - self._rate)
        self._mean_s = mean_s if first else self._mean_s + _NEWEST * (mean_s - self._mean_s)
        self._ended, self._took_us, self._busy_s = 0, 0, 0.0
