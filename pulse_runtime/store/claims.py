"""The questions of a claimer."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from pulse_runtime.messages import Batch
from pulse_runtime.store.line import Question, RefusalError, Row
from pulse_runtime.store.text import numbers, texts

Then = Callable[[list[Row]], None]


@dataclass(frozen=True)
class Claim:
    """What `pulse.claim` answered: batches, claims whose jobs are to be fetched, or that a lane was busy."""

    batches: list[Batch]
    to_fetch: list[tuple[int, str, str]]
    """Claim, token, queue."""
    busy: bool


@dataclass(frozen=True)
class Look:
    """What `pulse.look` answered."""

    paused: bool
    resting: tuple[str, ...]
    ready: bool
    due_s: float | None
    cancels: list[tuple[int, int, str | None]]
    parked: bool
    quiet: bool
    due: bytes | None = None
    """Schedules for the scheduler, as JSON."""
    next_s: float | None = None


@dataclass(frozen=True)
class Part:
    """The schedules that a runtime looks after: all, or its part of so many parts; None leaves it to the database."""

    runtime: str
    shards: int | None = None
    shard: int | None = None


def register(
    runtime: str, host: str, boot_id: str, pid: int, pid_start: str, kinds: Iterable[str], then: Then
) -> Question:
    sql = b"select pulse.register_executor($1, $2, $3, $4, $5, $6)"
    values = (runtime, host, boot_id, str(pid), pid_start, texts(kinds))
    return Question("register", sql, [value.encode() for value in values], then)


def claim(
    executor: int,
    request: int,
    queues: bytes,
    shares: bytes,
    slots: int,
    then: Callable[[Claim], None],
    otherwise: Callable[[RefusalError], None],
) -> Question:
    sql = b"select claim, token, n, jobs, queue from pulse.claim($1, $2, $3, $4, $5)"
    values = [b"%d" % executor, b"%d" % request, queues, shares, b"%d" % slots]
    return Question("claim", sql, values, lambda rows: then(_claim(rows)), otherwise)


def fetch(claim: int, token: str, then: Then) -> Question:
    """Four megabytes at most, over a line that may be slow: it gets more time than other questions."""
    sql = b"select pulse.fetch($1, $2)"
    return Question("fetch", sql, [b"%d" % claim, token.encode()], then, deadline_s=30.0)


def look(
    queues: bytes,
    executors: Iterable[int],
    parked_x: bytes | None,
    then: Callable[[Look], None],
    *,
    schedules: int = 0,
    part: Part,
) -> Question:
    """`schedules`: how many of them to tell at most, if they are due."""
    sql = b"""select paused, resting, ready, due_s, cancels, parked, quiet, due, next_s
      from pulse.look($1, $2, $3, $4, $5, $6, $7)"""
    shards = [None if number is None else b"%d" % number for number in (part.shards, part.shard)]
    values = [queues, numbers(executors).encode(), parked_x, b"%d" % schedules, part.runtime.encode(), *shards]
    return Question("look", sql, values, lambda rows: then(_look(rows[0])))


def rezone(zone_version: str, then: Then) -> Question:
    return Question("rezone", b"select pulse.rezone($1)", [zone_version.encode()], then)


def park(queues: bytes, then: Then) -> Question:
    return Question("park", b"select pulse.park($1)", [queues], then)


def unpark(queues: bytes, then: Then) -> Question:
    return Question("unpark", b"select pulse.unpark($1)", [queues], then)


def promote(most: int, then: Then) -> Question:
    return Question("promote", b"select due, next_s from pulse.promote($1)", [b"%d" % most], then)


def _claim(rows: Sequence[Row]) -> Claim:
    batches, to_fetch = [], []
    for number, token, _, jobs, queue in rows:
        if number is None or token is None or queue is None:
            continue
        if jobs is None:
            to_fetch.append((int(number), token.decode(), queue.decode()))
        else:
            batches.append(Batch(int(number), token.decode(), jobs, queue.decode()))
    return Claim(batches, to_fetch, busy=any(row[0] is None for row in rows))


def _look(row: Row) -> Look:
    paused, resting, ready, due_s, cancels, parked, quiet, due, next_s = row
    names = (resting or b"{}").decode()[1:-1]
    return Look(
        paused=paused == b"t",
        resting=tuple(name.strip('"') for name in names.split(",") if name),
        ready=ready == b"t",
        due_s=None if due_s is None else float(due_s),
        cancels=[] if cancels is None else msgspec.json.decode(cancels, type=list[tuple[int, int, str | None]]),
        parked=parked == b"t",
        quiet=quiet == b"t",
        due=due,
        next_s=None if next_s is None else float(next_s),
    )
