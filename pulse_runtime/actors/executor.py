"""Runs handlers: asks for as many jobs as it has room for, runs each in a task of its own, and reports how it ended."""

import asyncio
import time
from collections import deque
from typing import Any

from pulse_runtime import delivery as deliveries
from pulse_runtime.actors.loop import Office
from pulse_runtime.black_box import MOST_JOBS
from pulse_runtime.delivery import Delivery
from pulse_runtime.events import Log
from pulse_runtime.holding import Held, Holdings
from pulse_runtime.messages import (
    Batch,
    Beat,
    CancelRunning,
    Claimed,
    Demand,
    Ending,
    Hello,
    Refused,
    Registered,
    Settled,
)
from pulse_runtime.running import Outcome, Runner
from pulse_supervisor import Drain, Event, Joined, Orphaned, Peer, Said

CLAIMER, REPORTER, HEARTBEAT = Peer("claimer", 1), Peer("reporter", 1), Peer("heartbeat", 1)
MOST_UNSETTLED = 64
PREFETCH_S = 0.05
MOST_PREFETCH = MOST_JOBS - 124

Waiting = tuple[Held, int, Delivery]


class Executor:
    """Its state changes in the loop's own thread alone. `done` is set when it may exit."""

    def __init__(
        self, office: Office, holdings: Holdings, runner: Runner, hello: Hello, *, concurrency: int, sign: Any, log: Log
    ) -> None:
        self._office = office
        self._holdings = holdings
        self._runner = runner
        self._hello = hello
        self._concurrency = concurrency
        self._sign = sign
        self._log = log
        self._executor = 0
        self._request = 0
        self._asked: int | None = None
        self._waiting: deque[Waiting] = deque()
        self._running: dict[tuple[int, int], asyncio.Task[None]] = {}
        self._canceled: dict[tuple[int, int], str] = {}
        self._alone = False
        self._rate = 0.0
        self._counted = 0
        self._counted_at = time.monotonic()
        self._flushing = False
        self._leaving: float | None = None
        self.done: asyncio.Event = asyncio.Event()

    # --- events

    def receive(self, event: Event, now: float) -> None:
        if isinstance(event, Said):
            self._hear(event.message)
        elif isinstance(event, Joined):
            self._joined(event.peer)
        elif isinstance(event, Drain):
            self._leave(now + event.grace_s)
        elif isinstance(event, Orphaned):
            self._leave(now)

    def beat(self, now: float) -> None:
        """Proof that the loop turns; called every beat."""
        if self._executor:
            self._office.send(HEARTBEAT, Beat(self._executor, self._holdings.claims))
        self._measure(now)
        if self._leaving is not None:
            self._check_left(now)

    def _hear(self, message: Any) -> None:
        if isinstance(message, Claimed):
            self._claimed(message)
        elif isinstance(message, Settled):
            self._holdings.settled(message.numbers)
            self._demand()
        elif isinstance(message, Registered):
            self._executor = message.executor
            self._sign(message.executor)
            self._office.send(HEARTBEAT, Beat(self._executor, []))
            self._demand()
        elif isinstance(message, CancelRunning):
            self._cancel(message)
        elif isinstance(message, Refused) and self._executor in message.executors:
            self._log("executor refused", executor=self._executor)
            self._leave(time.monotonic() + 3600.0)

    def _joined(self, peer: Peer) -> None:
        """Say to a new peer what it must know of us."""
        if peer == CLAIMER:
            hello = self._hello
            self._office.send(CLAIMER, Hello(self._executor, hello.pid, hello.pid_start, hello.kinds))
            if self._asked is not None:  # the same number: if it was claimed, we get the same batch
                self._office.send(CLAIMER, Demand(self._request, self._asked))
            else:
                self._demand()
        elif peer == REPORTER:
            for report in self._holdings.reports:
                self._office.send(REPORTER, report)

    # --- demand

    def _demand(self) -> None:
        """Ask for what fits: free slots, and as much more as about 50 ms of measured work."""
        if self._asked is not None or not self._executor or self._leaving is not None:
            return
        prefetch = min(MOST_PREFETCH, int(self._rate * PREFETCH_S))
        slots = self._concurrency + prefetch - len(self._running) - len(self._waiting)
        full = self._holdings.unsettled >= MOST_UNSETTLED or self._holdings.room() < 32
        if full or slots <= 0 or len(self._waiting) > prefetch // 2:
            return
        self._request += 1
        self._asked = min(slots, MOST_JOBS)
        self._office.send(CLAIMER, Demand(self._request, self._asked))

    def _claimed(self, message: Claimed) -> None:
        if message.request != self._request:
            return  # an old answer, come twice
        self._asked = None
        for batch in message.batches:
            self._take(batch)
        self._start()
        self._demand()

    def _take(self, batch: Batch) -> None:
        found = deliveries.decode(batch.jobs)
        held = self._holdings.open(batch, len(found))
        if held is None:
            return
        for position, delivery in enumerate(found):
            if delivery is None:  # its row is gone, which cannot be; it must not be lost in silence
                self._holdings.ended(held, Ending(position, "release", None, None, 0))
            else:
                self._waiting.append((held, position, delivery))
        self._flush_soon()

    # --- running

    def _start(self) -> None:
        """Start what fits. A suspect runs alone: it begins when nobody runs, and nobody begins beside it."""
        while self._waiting and len(self._running) < self._concurrency and not self._alone:
            suspect = bool(self._waiting[0][2].suspect)
            if suspect and self._running:
                return
            held, position, delivery = self._waiting.popleft()
            self._alone = suspect
            self._holdings.started(held, position)
            task = asyncio.get_running_loop().create_task(self._run(held, position, delivery))
            self._running[held.claim, position] = task

    async def _run(self, held: Held, position: int, delivery: Delivery) -> None:
        key = (held.claim, position)
        try:
            outcome = await self._runner.run(delivery)
        except asyncio.CancelledError:
            if key not in self._canceled:
                raise
            outcome = Outcome(0, "cancel", None, self._canceled.pop(key) or "canceled")
        self._ended(held, position, delivery, outcome)

    def _ended(self, held: Held, position: int, delivery: Delivery, outcome: Outcome) -> None:
        del self._running[held.claim, position]
        self._alone = False
        self._counted += 1
        if outcome.ending is None:
            self._holdings.succeeded(held, position, outcome.took_us, outcome.result)
        else:
            if outcome.ending == "fail":
                first = (outcome.error or "").partition("\n")[0]
                self._log("job failed", job=delivery.id, kind=delivery.kind, attempt=delivery.attempt, why=first)
            ending = Ending(position, outcome.ending, outcome.delay_ms, outcome.error, outcome.took_us)
            self._holdings.ended(held, ending)
        self._flush_soon()
        if self._waiting:
            self._start()

    def _cancel(self, message: CancelRunning) -> None:
        key = (message.claim, message.position)
        if key in self._running:
            self._canceled[key] = message.reason
            self._running[key].cancel()

    # --- reporting

    def _flush_soon(self) -> None:
        """Everything that ends in this turn of the loop goes into one report per claim."""
        if not self._flushing:
            self._flushing = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._flushing = False
        for report in self._holdings.flush():
            self._office.send(REPORTER, report)
        self._demand()

    def _measure(self, now: float) -> None:
        took = now - self._counted_at
        if took >= 0.2:
            self._rate += 0.5 * (self._counted / took - self._rate)
            self._counted, self._counted_at = 0, now

    # --- leaving

    def _leave(self, deadline: float) -> None:
        """Take nothing new, drop what was not started (the black box gives it back), finish what runs."""
        self._leaving = deadline if self._leaving is None else min(deadline, self._leaving)
        self._waiting.clear()
        self._check_left(time.monotonic())

    def _check_left(self, now: float) -> None:
        if self._leaving is None:
            return
        if (not self._running and not self._holdings.unsettled and not self._flushing) or now >= self._leaving:
            self.done.set()
