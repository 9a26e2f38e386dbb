"""How long something took, many times over, in little memory: counts by size, each bucket 9 % wide."""

import math

_PER_DOUBLING = 8
_LEAST_S = 1e-6


class Histogram:
    """`add` seconds; percentiles come out as the upper bound of their bucket, at most 9 % too large."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self.count = 0
        self.max_s = 0.0

    def add(self, seconds: float) -> None:
        bucket = math.ceil(math.log2(max(seconds, _LEAST_S) / _LEAST_S) * _PER_DOUBLING)
        self._counts[bucket] = self._counts.get(bucket, 0) + 1
        self.count += 1
        self.max_s = max(self.max_s, seconds)

    def percentile(self, percent: float) -> float:
        """Seconds that so many percent did not exceed; 0 if there was nothing."""
        rank, seen = math.ceil(self.count * percent / 100), 0
        for bucket in sorted(self._counts):
            seen += self._counts[bucket]
            if seen >= rank:
                return float(min(_LEAST_S * 2 ** (bucket / _PER_DOUBLING), self.max_s))
        return 0.0

    def told_ms(self) -> dict[str, float]:
        """For the log."""
        found = {f"p{percent}_ms": self.percentile(percent) for percent in (50, 90, 99)}
        return {name: round(value * 1000, 3) for name, value in {**found, "max_ms": self.max_s}.items()}
