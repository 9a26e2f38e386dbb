"""Runs handlers: asks for as many jobs as it has room for, has each run, and reports how it ended. Knows no loop."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from pulse_runtime.actors.loop import Office, tell_loss
from pulse_runtime.events import Log
from pulse_runtime.execution import delivery as deliveries
from pulse_runtime.execution.black_box import MOST_JOBS, PAST_DEADLINE, BlackBox
from pulse_runtime.execution.deadlines import NEVER, Deadlines
from pulse_runtime.execution.delivery import Delivery, Unreadable
from pulse_runtime.execution.holding import Holdings
from pulse_runtime.execution.limits import Age
from pulse_runtime.execution.pace import Pace
from pulse_runtime.execution.running import Outcome, Runner
from pulse_runtime.execution.shell import Shell
from pulse_runtime.execution.slots import Running, Slots
from pulse_runtime.messages import (
    Batch,
    Beat,
    CancelRunning,
    Claimed,
    Demand,
    Hello,
    Progress,
    Refused,
    Registered,
    Settled,
)
from pulse_runtime.settings import RuntimeSettings
from pulse_supervisor import Drain, Event, Joined, Orphaned, Peer, Said

CLAIMER, REPORTER, HEARTBEAT = Peer("claimer", 1), Peer("reporter", 1), Peer("heartbeat", 1)
MOST_UNSETTLED = 64
MOST_UNSETTLED_BYTES = 16 << 20
MOST_PREFETCH = MOST_JOBS - 124
TICK_S = 0.2
REPORT_S = 0.002
REPORT_JOBS = 500
"""While others run, what has ended is reported after so long, or once it is so many: five hundred cost little more than
one hundred, here and in the database. When nobody runs any more it is reported at once."""
SUSPECT_S = 5.0
"""A suspect runs alone, and those that run may do so for hours: after so long it goes to an executor that is free
sooner, with those that waited behind it."""
MOST_UNKNOWN = 100
"""Kinds that are told of, each once: they are what anyone enqueues."""
LAST_S = 1.0
"""Of the grace: in which handlers that are still at it are cancelled, so that they can clean up."""


class Executor:
    """Its state changes in the loop's own thread alone. It may exit once it is `done`."""

    def __init__(
        self,
        office: Office,
        shell: Shell,
        box: BlackBox,
        runner: Runner,
        hello: Hello,
        settings: RuntimeSettings,
        log: Log,
        *,
        kill_me: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._office = office
        self._shell = shell
        self._box = box
        self._hello = hello
        self._settings = settings
        self._log = log
        self._kill_me = kill_me
        self._clock = clock
        self._holdings = Holdings(box)
        runner.tell = self._progressed
        self._pace = Pace(MOST_PREFETCH)
        self._slots = Slots(
            shell,
            runner,
            self._holdings,
            Deadlines(box.deadline),
            self._pace,
            concurrency=settings.concurrency,
            clock=clock,
            turn_soon=self._turn_soon,
            told=self._told,
        )
        self._executor = 0
        self._request = 0
        self._asked: int | None = None
        self._jobs_a_batch = MOST_JOBS
        self._turning = False
        self._report_at: float | None = None
        self._age = Age(settings.max_jobs, settings.max_memory)
        self._retiring: str | None = None
        self._leaving: float | None = None
        self._interrupt_at: float | None = None
        self._unknown: set[str] = set()
        self._beat_at = 0.0
        self._beaten = clock()
        self.done = False

    # --- events

    def receive(self, event: Event, now: float) -> None:
        tell_loss(event, self._log)
        if isinstance(event, Said):
            self._hear(event.message)
        elif isinstance(event, Joined):
            self._joined(event.peer)
        elif isinstance(event, Drain):
            self._finish_within(event.grace_s, now)
        elif isinstance(event, Orphaned):
            self._leave(now)

    def wake(self, now: float) -> None:
        """What is due; the shell calls it in time."""
        if now >= self._beat_at:
            self._beat(now)
        next_deadline = self._slots.mind_deadlines(now)
        self._mind_limits(now)
        if self._slots.held_up_s(now) >= SUSPECT_S:
            self._slots.give_back()
            self._turn_soon()
        if self._interrupt_at is not None and now >= self._interrupt_at:
            self._slots.interrupt_all("its executor had to end, and did not wait any longer")
        if self._report_at is not None and now >= self._report_at:
            self._report()
        if self._leaving is not None:
            self._check_left(self._leaving, now)
        self._shell.wake_at(min(next_deadline, self._beat_at, self._report_at or self._beat_at))

    def _hear(self, message: Any) -> None:
        if isinstance(message, Claimed):
            self._claimed(message)
        elif isinstance(message, Settled):
            self._holdings.settled(message.numbers)
            self._send_reports()
            self._demand()
            self._look_if_left()
        elif isinstance(message, Registered):
            self._executor = message.executor
            self._box.sign(message.executor)
            self._office.send(HEARTBEAT, Beat(self._executor, []))
            self._demand()
        elif isinstance(message, CancelRunning):
            self._slots.cancel(message.claim, message.position, message.reason)
            self._turn_soon()
        elif isinstance(message, Refused) and self._executor in message.executors:
            if self._leaving is None:
                self._log("executor refused", executor=self._executor)
            # What runs is another's by now. It may finish, as at a stop; then there is a new executor in this place.
            self._finish_within(self._settings.grace_s, self._clock())

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
            self._holdings.send_again()
            self._send_reports()

    def _beat(self, now: float) -> None:
        """Proof that the loop turns."""
        self._beat_at = now + min(TICK_S, self._settings.beat_s)
        self._mind_gap(now)
        self._office.send(HEARTBEAT, Beat(self._executor, self._holdings.claims))

    def _mind_gap(self, now: float) -> None:
        """After a stop for as long as executors may be silent, what was not started may be another's by now.

        Given back, it is not lost if it is still ours, and nothing happens if it is not. An answer to what we asked for
        before may have waited as long: we ask anew.
        """
        gap, self._beaten = now - self._beaten, now
        if gap >= self._settings.silence_s:
            self._slots.give_back()
            self._asked = None
            self._request += 1
            self._turn_soon()

    # --- demand

    def _demand(self) -> None:
        """Ask for what fits: free slots, and as much more as about 50 ms of measured work."""
        if self._asked is not None or not self._executor or self._leaving is not None:
            return
        prefetch = self._pace.prefetch(self._clock())
        slots = self._settings.concurrency + prefetch - self._slots.running - self._slots.waiting
        if self._age.most_jobs is not None:
            slots = min(slots, self._age.most_jobs - self._slots.ran - self._slots.running - self._slots.waiting)
        full = (
            self._holdings.unsettled >= MOST_UNSETTLED
            or self._holdings.unsettled_bytes >= MOST_UNSETTLED_BYTES
            or self._holdings.room() < 32
        )
        slots = min(slots, self._holdings.room() * self._jobs_a_batch)
        if full or slots <= 0 or self._slots.waiting > prefetch // 2:
            return
        self._request += 1
        self._asked = min(slots, MOST_JOBS)
        self._office.send(CLAIMER, Demand(self._request, self._asked))

    def _claimed(self, message: Claimed) -> None:
        if message.request != self._request or self._asked is None:  # too late, or twice: nobody should wait for it
            for batch in message.batches:
                self._holdings.refuse(batch, len(deliveries.decode(batch.jobs)))
            self._send_reports()
            return
        self._asked = None
        jobs = sum(map(self._take, message.batches))
        if message.batches:  # of many lanes with a job or two each, no more is asked for than there is room to note
            self._jobs_a_batch = max(jobs // len(message.batches), 1)
        self._send_reports()
        if self._leaving is not None:  # asked for before we knew
            self._slots.give_back()
        self._start()
        self._turn_soon()

    def _start(self) -> None:
        self._mind_gap(self._clock())
        self._slots.start()

    def _take(self, batch: Batch) -> int:
        """How many jobs are in it."""
        found = deliveries.decode(batch.jobs)
        held = self._holdings.open(batch, len(found))
        if held is None:
            return len(found)
        for position, delivery in enumerate(found):
            if isinstance(delivery, Delivery):
                self._slots.put(held, position, delivery)
            elif isinstance(delivery, Unreadable):
                self._holdings.ended(held, position, Outcome(0, "fail", None, f"it cannot be read: {delivery.why}"))
            else:  # its row is gone, which cannot be; it must not be lost in silence
                self._holdings.ended(held, position, Outcome(0, "release"))
        return len(found)

    # --- reporting

    def _told(self, delivery: Delivery, outcome: Outcome) -> None:
        if outcome.ending in ("fail", "dead"):
            first = (outcome.error or "").partition("\n")[0]
            self._log("job failed", job=delivery.id, kind=delivery.kind, attempt=delivery.attempt, why=first)
        elif outcome.ending == "put_off" and delivery.kind not in self._unknown and len(self._unknown) < MOST_UNKNOWN:
            self._unknown.add(delivery.kind)
            self._log("kind unknown", kind=delivery.kind, job=delivery.id, why=outcome.error)

    def _turn_soon(self) -> None:
        """Once everything that can has run: fill the slots that are free, report, ask for more."""
        if not self._turning:
            self._turning = True
            self._shell.soon(self._turn_now)

    def _turn_now(self) -> None:
        self._turning = False
        try:
            self._turn()
        except Exception as error:
            self._shell.broken(error)

    def _turn(self) -> None:
        self._start()
        many = self._holdings.unreported >= REPORT_JOBS
        if many or not self._slots.running or self._leaving is not None:
            self._report()
        elif self._report_at is None and self._holdings.unreported:
            self._report_at = self._clock() + REPORT_S
            self._shell.wake_at(self._report_at)
        self._demand()
        self._look_if_left()

    def _report(self) -> None:
        """One report for each claim of which something ended since."""
        self._report_at = None
        self._holdings.flush()
        self._send_reports()

    def _send_reports(self) -> None:
        for report in self._holdings.to_send():
            self._office.send(REPORTER, report)

    def _progressed(self, progress: Progress) -> None:
        """From any thread. A reporter that is not there is not told: it is no loss."""
        self._shell.call_from_thread(partial(self._office.send, REPORTER, progress))

    # --- leaving

    def _finish_within(self, grace_s: float, now: float) -> None:
        """Leave, and have handlers that are still at it clean up before the end."""
        last = now + grace_s - min(LAST_S, grace_s / 4)
        self._interrupt_at = last if self._interrupt_at is None else min(last, self._interrupt_at)
        self._leave(now + grace_s)

    def _leave(self, deadline: float) -> None:
        """Take nothing new, give back what was not started, finish what runs."""
        self._leaving = deadline if self._leaving is None else min(deadline, self._leaving)
        self._slots.give_back()
        self._turn_soon()

    def _look_if_left(self) -> None:
        if self._leaving is not None:
            self._shell.wake_at(self._clock())

    def _check_left(self, deadline: float, now: float) -> None:
        stuck = self._slots.stuck(now, cleanup_s=self._settings.cleanup_s)
        untold = self._holdings.unsettled or self._holdings.unreported or self._turning
        if (untold or self._slots.running > len(stuck)) and now < deadline:
            return
        if self._retiring is not None and deadline == NEVER:  # by name: that is no strike, and tells whose fault it was
            self._kill_me(_blamed(stuck[0], now) if stuck else self._retiring)
            self._retiring = None
        elif deadline != NEVER:
            self._slots.closed = True
            self.done = True

    def _mind_limits(self, now: float) -> None:
        """Retire when it is time to, or when a thread is stuck that nobody can end otherwise."""
        if self._leaving is not None:
            return
        stuck = self._slots.stuck(now, cleanup_s=self._settings.cleanup_s)
        if stuck:
            self._retire(_blamed(stuck[0], now), job=stuck[0].attempt.delivery.id)
        elif (why := self._age.reached(ran=self._slots.ran)) is not None:
            self._retire(why)

    def _retire(self, why: str, *, job: str | None = None) -> None:
        """Take nothing new, let what runs finish, however long that takes, and be replaced."""
        self._log("executor retires", executor=self._executor, why=why, job=job, running=self._slots.running)
        self._retiring = why
        self._leave(NEVER)


def _blamed(stuck: Running, now: float) -> str:
    """Why an executor ends in which a thread is stuck, whatever it retires for: so its job is charged with that."""
    return f"{PAST_DEADLINE} {now - stuck.late:.1f} s ago: {stuck.attempt.delivery.kind}, which blocks a thread"
