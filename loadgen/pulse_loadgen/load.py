"""Jobs for a runtime to run: all at once by the server's own means, or at a rate by a producer."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from pulse_runtime.ids import uuid7
from pulse_runtime.store.connect import Connection, connect
from pulse_runtime.store.text import array, texts

STEP = 100_000
TICK_S = 0.005
_FILL = """insert into pulse.log (submitted_at, id, lane_id, queue, kind, args)
select clock_timestamp(), {uuid7}, pulse.lane_id(%s, 0::smallint, 0::smallint), %s, %s, (%s::text || n || '}}')::json
  from generate_series(%s::bigint, %s::bigint) n"""
_MANY = """select pulse.enqueue_many(
  cast(%s as uuid[]), cast(%s as text[]), cast(%s as text[]), cast(%s as text[]), '{0}')"""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What the jobs of a run are: a handler of ours, its arguments besides the number, and a queue of their own."""

    queue: str
    kind: str = "loadgen.noop"
    args: dict[str, Any] = field(default_factory=dict)

    def args_of(self, n: int) -> str:
        return json.dumps({**self.args, "n": n})


def fill(
    connection: Connection, what: Kind, jobs: int, *, first: int = 0, progress: Callable[[str], None] = lambda _: None
) -> None:
    """Add jobs with the numbers from `first` on, each step durable, with the maintenance that goes with so many."""
    own = connection.info.server_version >= 180_000
    statement = _FILL.format(uuid7="uuidv7()" if own else "pulse.uuid7()")
    head = json.dumps({**what.args, "n": 0})[:-2]  # all but the number and the brace
    for done in range(0, jobs, STEP):
        progress(f"{done:,} of {jobs:,} jobs added")
        last = min(done + STEP, jobs) - 1
        values = (what.queue, what.queue, what.kind, head, first + done, first + last)
        connection.execute(statement.encode(), values)
        connection.execute("select pulse.keep_ahead()")
    connection.execute("select pulse.discover()")


class Producer:
    """Adds jobs at a rate for as long as the block lasts, or until it has added `jobs`; `committed_ns[n]` is when job
    n's commit was known. What is due within five milliseconds goes into one transaction."""

    def __init__(self, dsn: str, what: Kind, rate: float, *, jobs: int, first: int = 0) -> None:
        self._dsn = dsn
        self._what = what
        self._rate = rate
        self._jobs = jobs
        self._first = first
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.committed_ns: list[int] = []
        self.late_s = 0.0
        """How far the producer was behind its rate at worst: more than a few ms, and it did not keep up."""
        self.error: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def wait(self) -> None:
        """Until all are added. Raises what went wrong."""
        self._thread.join()
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        try:
            with connect(self._dsn, actor="loadgen") as connection:
                self._produce(connection)
        except Exception as error:
            self.error = error

    def _produce(self, connection: Connection) -> None:
        connection.prepare_threshold = 0
        began = time.monotonic()
        while len(self.committed_ns) < self._jobs and not self._stop.is_set():
            sent, now = len(self.committed_ns), time.monotonic()
            due = min(self._jobs, int((now - began + TICK_S) * self._rate) + 1) - sent
            if due <= 0:
                self._stop.wait(max(0.0, began + sent / self._rate - now))
                continue
            if self._rate * TICK_S < 1.0:
                due = 1
                self._stop.wait(max(0.0, began + sent / self._rate - now))
            self.late_s = max(self.late_s, time.monotonic() - began - sent / self._rate)
            self._send(connection, sent, due)

    def _send(self, connection: Connection, sent: int, due: int) -> None:
        what, first = self._what, self._first + sent
        values = (
            array(f"{uuid7().int:032x}" for _ in range(due)),
            texts([what.kind]),
            texts(what.args_of(n) for n in range(first, first + due)),
            texts([what.queue]),
        )
        connection.execute(_MANY, values)
        self.committed_ns += [time.monotonic_ns()] * due
