"""A share of the interval by which a fire comes earlier or later: the same on every runtime, different per schedule."""

from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from uuid import UUID

from pulse_runtime.timing.errors import BadTiming
from pulse_runtime.timing.timings import Cron, Once, Timing
from pulse_runtime.timing.zones import zone

MOST = 0.5


def fire_at(timing: Timing, schedule_id: UUID, occurrence: datetime, share: float) -> datetime:
    """When the fire of `occurrence` is due: it ± at most `share` of the interval around it.

    The occurrence stays the name of the fire: only the moment differs. With a share of at most a half, fires keep
    their order.
    """
    if not 0 <= share <= MOST:
        raise BadTiming(f"jitter {share}", f"it is a share of the interval, from 0 to {MOST}")
    if share == 0:
        return occurrence
    return occurrence + timedelta(
        milliseconds=round(_chance(schedule_id, occurrence) * share * _interval_ms(timing, occurrence))
    )


def _chance(schedule_id: UUID, occurrence: datetime) -> float:
    """From -1 to 1, evenly."""
    name = f"{schedule_id}|{occurrence.astimezone(UTC).isoformat()}".encode()
    return int.from_bytes(blake2b(name, digest_size=6).digest(), "big") / 2**47 - 1


def _interval_ms(timing: Timing, occurrence: datetime) -> float:
    """To the nearer neighbour, by the wall clock: no shift of the clocks changes it."""
    if isinstance(timing, Once):
        return 0.0
    if not isinstance(timing, Cron):
        return timing.period_s * 1000
    wall = occurrence.astimezone(zone(timing.tz)).replace(tzinfo=None, fold=0)
    neighbours = (timing.expression.next(wall), timing.expression.previous(wall))
    return min((abs(each - wall).total_seconds() for each in neighbours if each), default=0.0) * 1000
