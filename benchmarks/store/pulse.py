"""Pulse's side of the store's rows: the statements that a claimer, a reporter and a producer send."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from benchmarks.store.cluster import Connection

BATCH = 500
ARGS = '{"to": "someone@example.com", "subject": "hello"}'
LOAD = """insert into pulse.log (submitted_at, id, lane_id, queue, kind, args)
select clock_timestamp(), {uuid7}, pulse.lane_id(%s, 0::smallint, 0::smallint), %s, 'mail', %s::json
  from generate_series(1, %s)"""
CLAIM = "select claim, token, n, jobs from pulse.claim(%s, %s, %s::text[], %s::integer[], %s)"
SETTLE = "select settled from pulse.settle(%s, %s, %s::bit varying[], %s::integer[])"
# As `pulse_runtime.enqueue_many` sends it: what is the same for all is sent once.
ENQUEUE_MANY = "select cardinality(pulse.enqueue_many(%s::uuid[], '{mail}', %s::text[], %s::text[], '{0}'))"
LOAD_STEP = 100_000


class Batch(NamedTuple):
    """What one claim took from one lane."""

    claim: int
    token: UUID
    n: int
    jobs: str | None


class Claimer:
    """An executor of its own that claims from `queues` and settles what it got."""

    def __init__(self, connection: Connection, queues: Sequence[str] = ("default",)) -> None:
        self._connection = connection
        self._queues = array(queues)
        self._shares = array(["1"] * len(queues))
        self._request = 0
        self.busy = False
        """Whether the last claim that got nothing found another claimer at the lane: not empty, ask again soon."""
        rows = connection.execute("select pulse.register_executor('bench', 'here', 'boot', 1)").fetchall()
        self._executor: int = rows[0][0]

    def claim(self, slots: int = BATCH) -> list[Batch]:
        """Nothing when there was nothing, or when another claimer was at it: the caller asks again."""
        self._request += 1
        values = (self._executor, self._request, self._queues, self._shares, slots)
        rows = self._connection.execute(CLAIM, values).fetchall()
        self.busy = any(row[2] < 0 for row in rows)
        return [Batch(*row) for row in rows if row[2] > 0]

    def settle(self, batches: Sequence[Batch], masks: Sequence[str] | None = None) -> int:
        """How many succeeded: all jobs of the batches, or those whose bit is set in its mask."""
        masks = masks or ["1" * batch.n for batch in batches]
        took = array(["1000"] * sum(mask.count("1") for mask in masks))
        values = ([batch.claim for batch in batches], [batch.token for batch in batches], masks, took)
        settled: int = self._connection.execute(SETTLE, values).fetchall()[0][0]
        return settled

    def timed_claim(self) -> tuple[float, list[Batch]]:
        """The milliseconds of a claim, its commit included, and what it got. Raises if that was not a full batch."""
        started = time.perf_counter()
        batches = self.claim()
        took_ms = (time.perf_counter() - started) * 1000
        if sum(batch.n for batch in batches) != BATCH:
            raise RuntimeError(f"a claim of {BATCH} got {sum(batch.n for batch in batches)}")
        return took_ms, batches

    def discover(self) -> None:
        self._connection.execute("select pulse.discover()")


def enqueue(connection: Connection, jobs: int = BATCH, queue: str = "default") -> None:
    """Add jobs by one call of `pulse.enqueue_many`."""
    connection.execute(ENQUEUE_MANY, (array(fresh_ids(jobs)), args_array(jobs), array([queue])))


def load(
    connection: Connection, jobs: int, *, queue: str = "default", progress: Callable[[str], None] = lambda _: None
) -> None:
    """Put many pending jobs into the log by the server's own means, with the maintenance that goes with them."""
    for done in range(0, jobs, LOAD_STEP):
        progress(f"{done:,} of {jobs:,} jobs loaded")
        insert(connection, min(LOAD_STEP, jobs - done), queue=queue)
        connection.execute("select pulse.keep_ahead()")
    connection.execute("select pulse.discover()")
    connection.execute("vacuum analyze pulse.log")


def insert(connection: Connection, jobs: int, *, queue: str = "default", days_ago: int = 0) -> None:
    """The bare rows, with ids of that day. (Before Postgres 18, with ids of today.)"""
    own = connection.info.server_version >= 180_000
    uuid7 = f"uuidv7(interval '{-days_ago} days')" if own else "pulse.uuid7()"
    connection.execute(LOAD.format(uuid7=uuid7).encode(), (queue, queue, ARGS, jobs))


def drain(claimer: Claimer, jobs: int, *, slots: int = BATCH) -> Iterator[int]:
    """Claim and settle until `jobs` succeeded, each its own durable transaction; yields how many so far."""
    done = 0
    while done < jobs:
        batches = claimer.claim(slots)
        if not batches:
            raise RuntimeError(f"{jobs - done} jobs are gone")
        done += claimer.settle(batches)
        yield done


def array(items: Sequence[str]) -> str:
    """An array of plain words as text: what it costs a client that does not care to be slow."""
    return "{" + ",".join(items) + "}"


def fresh_ids(n: int) -> list[str]:
    """UUIDv7s as text, made at once: 0.4 µs each where `pulse_runtime.ids.uuid7` takes 2."""
    head, chance = f"{time.time_ns() // 1_000_000:012x}7", os.urandom(9 * n).hex()
    return [f"{head}{chance[at : at + 3]}8{chance[at + 3 : at + 18]}" for at in range(0, 18 * n, 18)]


@lru_cache(maxsize=8)
def args_array(jobs: int) -> str:
    """The arguments of so many jobs, as the text of an array."""
    return array(['"' + ARGS.replace('"', '\\"') + '"'] * jobs)
