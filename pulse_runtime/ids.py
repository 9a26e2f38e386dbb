"""Ids of jobs, made by the producer, so that a job has its name before it is sent: UUIDv7; UUIDv5 from schedules."""

import os
import time
from datetime import UTC, datetime
from uuid import UUID, uuid5

SCHEDULES = UUID("6f1b6c1e-6c55-5a0e-9f57-8f0d2c1f7d3a")
"""The namespace of the jobs that schedules fire."""
_VERSION_7 = 0x7 << 76
_VARIANT = 0x2 << 62
_RANDOM_A = 0xFFF << 64
_RANDOM_B = (1 << 62) - 1


def uuid7() -> UUID:
    """A new id. Ids sort by the millisecond in which they were made; within one, by chance."""
    # From the kernel and not from `random`, whose state a forked child shares with its parent.
    chance = int.from_bytes(os.urandom(10), "big")
    return UUID(int=_now() | (chance & _RANDOM_A) | (chance & _RANDOM_B))


def uuid7s(count: int) -> list[UUID]:
    """So many new ids at half the cost each."""
    now, chance = _now(), os.urandom(10 * count)
    numbers = (int.from_bytes(chance[at : at + 10], "big") for at in range(0, 10 * count, 10))
    return [UUID(int=now | (number & _RANDOM_A) | (number & _RANDOM_B)) for number in numbers]


def occurrence_id(schedule_id: UUID, occurrence: datetime) -> UUID:
    """The id of an occurrence's job: uuidv5 of `<schedule>|<occurrence in UTC, ISO 8601>`, for anyone to compute."""
    return uuid5(SCHEDULES, f"{schedule_id}|{occurrence.astimezone(UTC).isoformat()}")


def _now() -> int:
    return (time.time_ns() // 1_000_000) << 80 | _VERSION_7 | _VARIANT
