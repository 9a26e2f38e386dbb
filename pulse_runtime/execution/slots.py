"""The jobs of an executor: those that wait for a slot, and those that run, each until it has ended."""

import inspect
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pulse_runtime.execution.attempt import Attempt, Interrupted
from pulse_runtime.execution.deadlines import Deadlines
from pulse_runtime.execution.delivery import Delivery
from pulse_runtime.execution.holding import Held, Holdings
from pulse_runtime.execution.pace import Pace
from pulse_runtime.execution.running import Outcome, Runner
from pulse_runtime.execution.shell import Cancellable, Shell
from pulse_runtime.execution.threads import Threads

Key = tuple[int, int]
"""Claim and position."""
Waiting = tuple[Held, int, Delivery]


@dataclass(slots=True)
class Running:
    """A job that has a slot. `task` is None while a thread has it: threads cannot be cancelled."""

    held: Held
    position: int
    attempt: Attempt
    task: Cancellable | None = None
    late: float = 0.0
    """When its deadline was seen to have passed."""


class Slots:
    """`concurrency` of them. A thread's slot stays occupied until the thread returns."""

    def __init__(
        self,
        shell: Shell,
        runner: Runner,
        holdings: Holdings,
        deadlines: Deadlines,
        pace: Pace,
        *,
        concurrency: int,
        clock: Callable[[], float],
        turn_soon: Callable[[], None],
        told: Callable[[Delivery, Outcome], None],
    ) -> None:
        self._shell = shell
        self._runner = runner
        self._holdings = holdings
        self._deadlines = deadlines
        self._pace = pace
        self._concurrency = concurrency
        self._clock = clock
        self._turn_soon = turn_soon
        self._told = told
        self._threads = Threads(concurrency, shell.call_from_thread)
        self._waiting: deque[Waiting] = deque()
        self._running: dict[Key, Running] = {}
        self._late: dict[Key, Running] = {}
        self._alone = False
        self._held_up: float | None = None
        self.closed = False
        self.ran = 0
        """How many have ended here."""

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def running(self) -> int:
        return len(self._running)

    def put(self, held: Held, position: int, delivery: Delivery) -> None:
        """It waits for its turn."""
        self._waiting.append((held, position, delivery))

    def start(self) -> None:
        """Start what fits. A suspect runs alone: it begins when nobody runs, and nobody begins beside it."""
        waiting, running, most = self._waiting, self._running, self._concurrency
        while waiting and len(running) < most and not self._alone:
            held, position, delivery = waiting[0]
            if delivery.suspect and running:
                if self._held_up is None:
                    self._held_up = self._clock()
                return
            self._held_up = None
            waiting.popleft()
            self._begin(held, position, delivery, alone=bool(delivery.suspect))

    def held_up_s(self, now: float) -> float:
        """How long a suspect, and everyone behind it, has waited for those that run."""
        return 0.0 if self._held_up is None else now - self._held_up

    def cancel(self, claim: int, position: int, reason: str) -> None:
        """Someone wants it canceled. Said again and again until it has ended; whoever has it elsewhere ignores it."""
        running = self._running.get((claim, position))
        if running is not None:
            self._interrupt(running, "cancel", reason or "canceled")
            return
        for entry in self._waiting:
            if (entry[0].claim, entry[1]) == (claim, position):
                self._waiting.remove(entry)
                self._held_up = None
                self._holdings.ended(entry[0], position, Outcome(0, "cancel", None, reason or "canceled"))
                return

    def give_back(self) -> None:
        """What was not started goes to others, as if it had never been claimed."""
        for held, position, _ in self._waiting:
            self._holdings.ended(held, position, Outcome(0, "release"))
        self._waiting.clear()
        self._held_up = None

    def interrupt_all(self, reason: str) -> None:
        """Let every handler clean up, as far as it can be reached: its runtime ends."""
        for running in list(self._running.values()):
            self._interrupt(running, "stop", reason)

    def mind_deadlines(self, now: float) -> float:
        """Cancel whose time is up; the answer is when the next one's is."""
        for key in self._deadlines.passed(now):
            running = self._running.get(key)  # type: ignore[call-overload]
            if running is not None:
                running.late = now
                self._holdings.overdue(running.held, running.position)
                self._interrupt(running, "timeout", f"it did not end within {running.attempt.timeout_s:g} s")
                if running.task is None:  # others may finish first: it is we who see to its end, as long as we turn
                    self._deadlines.ended(key)
                    self._late[running.held.claim, running.position] = running
        return self._deadlines.next

    def stuck(self, now: float, *, cleanup_s: float) -> list[Running]:
        """Threads that did not return in the time to clean up."""
        return [each for each in self._late.values() if now >= each.late + cleanup_s]

    def _begin(self, held: Held, position: int, delivery: Delivery, *, alone: bool) -> None:
        begun = self._runner.begin(delivery, held.queue)
        if isinstance(begun, Outcome):
            self._holdings.ended(held, position, begun)
            self._told(delivery, begun)
            self._turn_soon()
            return
        if not self._running:
            self._pace.began(self._clock())
        self._alone = alone
        self._holdings.started(held, position, alone=alone)
        running = self._running[held.claim, position] = Running(held, position, begun)
        if not begun.plain and (timeout_s := begun.timeout_s) is not None:
            moment = self._clock() + timeout_s
            self._deadlines.add((held.claim, position), moment)
            self._shell.wake_at(moment)
        if begun.known.blocks:
            self._call(running)
        else:
            self._spawn(running, begun.start)

    def _call(self, running: Running) -> None:
        try:
            self._threads.run(running.attempt.call, partial(self._returned, running))
        except RuntimeError as error:  # the system gives us no thread
            self._shell.soon(partial(self._ended, running, None, error))

    def _spawn(self, running: Running, start: Callable[[], Any]) -> None:
        try:
            coroutine = start()
        except BaseException as error:  # it has another signature than it shows
            self._shell.soon(partial(self._ended, running, None, error))
        else:
            running.task = self._shell.spawn(coroutine, partial(self._ended, running))
            if running.attempt.wish is not None:  # as a thread, before what it returned could be cancelled
                running.task.cancel()

    def _returned(self, running: Running, result: Any, error: BaseException | None) -> None:
        """From a thread. What it returned may be a coroutine, when a decorator hides that the handler is async."""
        if running.attempt.wish is not None and inspect.iscoroutine(result):  # it was asked to end: it need not begin
            result.close()
            self._ended(running, None, Interrupted())
        elif inspect.isawaitable(result):
            self._spawn(running, partial(_wait_for, result))
        else:
            self._ended(running, result, error)

    def _ended(self, running: Running, result: Any, error: BaseException | None) -> None:
        if self.closed:  # its executor has ended: the black box has told how it stood then
            return
        try:
            held, position, attempt = running.held, running.position, running.attempt
            del self._running[held.claim, position]
            running.task = (
                None  # which knows us: a ring of every job is a fifth of its cost to the collector of garbage
            )
            self._alone = False
            self.ran += 1
            if error is None and attempt.plain:
                took_us = attempt.took_us
                self._holdings.succeeded(held, position, took_us)
            else:
                took_us = self._judge(held, position, attempt, result, error)
            self._pace.ended(took_us)
            if not self._running:
                self._pace.rested(self._clock())
            self._turn_soon()
        except Exception as wrong:
            self._shell.broken(wrong)

    def _judge(self, held: Held, position: int, attempt: Attempt, result: Any, error: BaseException | None) -> int:
        outcome = self._runner.judge(attempt, result, error)
        self._deadlines.ended((held.claim, position))
        self._late.pop((held.claim, position), None)
        self._holdings.ended(held, position, outcome)
        self._told(attempt.delivery, outcome)
        return outcome.took_us

    def _interrupt(self, running: Running, wish: Any, reason: str) -> None:
        if running.attempt.ask_to_end(wish, reason) and running.task is not None:
            running.task.cancel()


async def _wait_for(awaitable: Any) -> Any:
    return await awaitable
