"""Turns executors' demand into claims, and forwards what it got without looking into it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from pulse_runtime.actors.loop import Office
from pulse_runtime.events import Log
from pulse_runtime.histogram import Histogram
from pulse_runtime.identity import Identity
from pulse_runtime.messages import Batch, CancelRunning, Claimed, Demand, Due, Hello, Idle, Registered
from pulse_runtime.settings import RuntimeSettings
from pulse_runtime.store import claims
from pulse_runtime.store.line import Question, RefusalError, Row
from pulse_runtime.store.text import numbers, texts
from pulse_supervisor import Died, Drain, Event, Left, Orphaned, Peer, Said

IDLE_S = 0.5
"""The longest pause between polls: what a lost wake-up can cost."""
UNSEEN_S = 0.75
"""However much there is to claim: pauses, cancels, delayed jobs and new lanes are seen this often."""
FAST_S = 0.005
PARKING_S = 1.0
STREAK = 3
FRESH_BEATS = 1.0
"""A claim that was asked for longer ago may have been given back since, as one that nobody holds (reporter.LOST_BEATS):
it is asked for again before it is delivered. Answers are late after a lost connection, or when we were stopped."""
LEAVE_S = 1.0
REFUSED_S = 1.0
"""A question that the database refuses is asked again, and not as fast as it can refuse."""
ENDED = "55000"
"""What `pulse.claim` says to an executor that the database has given up."""
MOST = 1000
SCHEDULER = Peer("scheduler", 1)
MOST_SCHEDULES = 5000


class Asker(Protocol):
    """A `Line`, or a recorder in tests."""

    @property
    def idle(self) -> bool: ...
    def ask(self, question: Question, now: float) -> None: ...


@dataclass
class Holder:
    """An executor that talks to us."""

    incarnation: int
    hello: Hello
    executor: int = 0
    request: int = 0
    slots: int = 0
    asked: float = 0.0
    wanted: int = 0
    batches: list[Batch] = field(default_factory=list)
    to_fetch: list[tuple[int, str, str]] = field(default_factory=list)
    stale: dict[int, bytes] = field(default_factory=dict)
    """Jobs by claim that came too late to be delivered. Asked for again, they are the same under another token."""


class Claimer:
    """One question at a time; claims while there is demand and work, parks and polls when there is none."""

    def __init__(
        self,
        office: Office,
        line: Asker,
        settings: RuntimeSettings,
        identity: Identity,
        log: Log,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._office = office
        self._line = line
        self._name = settings.name
        self._part = claims.Part(settings.name, settings.shards, settings.shard)
        self._identity = identity
        self._log = log
        self._clock = clock
        self._fresh_s = FRESH_BEATS * settings.beat_s
        self._queues = texts(name for name, _ in settings.queues).encode()
        self._shares = numbers(share for _, share in settings.queues).encode()
        self._holders: dict[Peer, Holder] = {}
        self._turns: list[Peer] = []
        self._claiming: tuple[Peer, int] | None = None
        self._deaths: list[Died] = []
        self._claim_at = 0.0
        self._look_at = 0.0
        self._rest_until = 0.0
        self._looked_at = 0.0
        self._promote_at: float | None = None
        self._schedules_at: float | None = None  # None: the scheduler has something in hand
        self._streak = 0
        self._parked_x: bytes | None = None
        self._parking_since: float | None = None
        self._pause_s = FAST_S
        self._paused: tuple[bool, tuple[str, ...]] = (False, ())
        self._leave_at: float | None = None
        self._took = Histogram()
        self._now = 0.0
        self.done: int | None = None

    def receive(self, event: Event, now: float) -> None:
        self._now = now
        if isinstance(event, Said):
            self._hear(event.peer, event.incarnation, event.message)
        elif isinstance(event, Left):
            self._holders.pop(event.peer, None)
        elif isinstance(event, Died):
            self._deaths.append(event)
            self._mourn()
        elif isinstance(event, Drain | Orphaned):
            self._holders.clear()
            self._leave_at = now + LEAVE_S

    def notified(self, _: str) -> None:
        """A producer has added something to one of the queues, perhaps ours."""
        self._claim_at = self._look_at = 0.0

    def wake(self, now: float) -> float | None:
        self._now = now
        if self._leave_at is not None:  # a claim whose answer never comes is given back when its executor has ended
            if self._claiming is None or now >= self._leave_at:
                self._end()
            return now + 0.05
        if not self._line.idle:
            return None
        if now < self._rest_until:
            return self._rest_until
        question = self._next(now)
        if question is not None:
            self._line.ask(replace(question, otherwise=question.otherwise or self._refused(question.name)), now)
            return None
        moments = [self._look_at, self._promote_at, self._schedules_at, self._claim_at if self._wanting() else None]
        return min(moment for moment in moments if moment is not None)

    def _refused(self, question: str, **about: object) -> Callable[[RefusalError], None]:
        def refused(refusal: RefusalError) -> None:
            self._log("question failed", question=question, state=refusal.state, why=refusal.message, **about)
            self._rest_until = self._clock() + REFUSED_S

        return refused

    def _hear(self, peer: Peer, incarnation: int, message: object) -> None:
        if isinstance(message, Hello):
            self._holders[peer] = Holder(incarnation, message, executor=message.executor)
        elif isinstance(message, Demand) and peer in self._holders:
            holder = self._holders[peer]
            holder.request, holder.slots = message.request, message.slots
            if peer not in self._turns:
                self._turns.append(peer)
        elif isinstance(message, Idle):
            self._schedules_at = self._now if message.more else self._look_at

    def _next(self, now: float) -> Question | None:
        """The most urgent question."""
        for peer, holder in self._holders.items():
            if not holder.executor:
                return self._register(peer, holder)
            if holder.to_fetch:
                return self._fetch(peer, holder)
        if self._promote_at is not None and now >= self._promote_at:
            self._promote_at = None
            return claims.promote(MOST, self._promoted)
        if now >= self._looked_at + UNSEEN_S or (self._schedules_at is not None and now >= self._schedules_at):
            return self._look(now)
        if now >= self._claim_at and (wanting := self._wanting()) is not None:
            return self._claim(wanting)
        if self._parking_since is not None and self._parked_x is None:
            return claims.park(self._queues, self._parked)
        if self._streak >= STREAK and self._parked_x is not None:
            self._parked_x = None
            self._parking_since = None
            return claims.unpark(self._queues, lambda _: None)
        if now >= self._look_at:
            return self._look(now)
        return None

    def _look(self, now: float) -> Question:
        self._looked_at = now
        self._look_at = now + IDLE_S
        executors = [each.executor for each in self._holders.values()]
        most = 0
        # Not with every poll while we poll fast. At rest, the moments of both are the same.
        if self._schedules_at is not None and now >= self._schedules_at:
            most = MOST_SCHEDULES

        def looked(seen: claims.Look) -> None:
            if most:
                self._tell_schedules(seen)
            self._looked(seen)

        return claims.look(self._queues, executors, self._parked_x, looked, schedules=most, part=self._part)

    def _wanting(self) -> Peer | None:
        """Whose turn it is."""
        self._turns = [peer for peer in self._turns if peer in self._holders and self._holders[peer].slots]
        return None if self._paused[0] or not self._turns else self._turns[0]

    def _register(self, peer: Peer, holder: Holder) -> Question:
        hello, identity = holder.hello, self._identity

        def registered(rows: list[Row]) -> None:
            if self._holders.get(peer) is holder:
                holder.executor = int(rows[0][0] or 0)
                self._office.send(peer, Registered(holder.executor))
                self._log("registered", executor=holder.executor, child=str(peer), child_pid=hello.pid)

        return claims.register(
            self._name, identity.host, identity.boot_id, hello.pid, hello.pid_start, hello.kinds, registered
        )

    def _claim(self, peer: Peer) -> Question:
        holder = self._holders[peer]
        self._claiming = (peer, holder.incarnation)
        self._turns.remove(peer)

        def claimed(found: claims.Claim) -> None:
            self._claiming = None
            self._mourn()
            if found.batches or found.to_fetch:
                self._took.add(self._clock() - holder.asked)
                self._found(peer, holder, found)
            elif found.busy:
                self._claim_at = self._now + 0.001
                self._turns.append(peer)
            else:
                self._nothing(peer)

        def refused(refusal: RefusalError) -> None:
            self._claiming = None
            self._mourn()
            self._refused("claim", executor=holder.executor)(refusal)
            if refusal.state == ENDED:
                holder.slots = 0
                self._rest_until = 0.0
                self._office.kill(peer, holder.incarnation, f"it may not claim: {refusal.message}")
            else:
                self._turns.append(peer)

        slots = holder.wanted = min(holder.slots, MOST)
        holder.asked = self._clock()
        return claims.claim(holder.executor, holder.request, self._queues, self._shares, slots, claimed, refused)

    def _found(self, peer: Peer, holder: Holder, found: claims.Claim) -> None:
        self._streak += 1
        self._claim_at = self._now
        self._pause_s = FAST_S
        if self._holders.get(peer) is not holder:
            return  # it died meanwhile: the reporter gives back what it never got
        holder.slots = 0
        known, holder.stale = holder.stale, {}
        holder.to_fetch = [each for each in found.to_fetch if each[0] not in known]
        holder.batches = found.batches + [
            Batch(number, token, known[number], queue) for number, token, queue in found.to_fetch if number in known
        ]
        self._deliver(peer, holder)

    def _nothing(self, peer: Peer) -> None:
        """Wait for a wake-up or a look; the first time, ask producers to wake us."""
        self._streak = 0
        self._turns.append(peer)
        self._claim_at = float("inf")
        if self._parking_since is None:
            self._parking_since = self._now
        self._look_at = min(self._look_at, self._now)

    def _deliver(self, peer: Peer, holder: Holder) -> None:
        if holder.to_fetch:
            return
        if self._clock() < holder.asked + self._fresh_s:
            self._office.send(peer, Claimed(holder.request, holder.batches))
        else:
            holder.slots = holder.wanted
            holder.stale = {each.claim: each.jobs for each in holder.batches}
            self._turns.append(peer)
        holder.batches = []

    def _fetch(self, peer: Peer, holder: Holder) -> Question:
        number, token, queue = holder.to_fetch[0]

        def fetched(rows: list[Row]) -> None:
            if self._holders.get(peer) is holder:
                holder.to_fetch.pop(0)
                jobs = rows[0][0] if rows else None
                if jobs is not None:
                    holder.batches.append(Batch(number, token, jobs, queue))
                self._deliver(peer, holder)

        def refused(refusal: RefusalError) -> None:
            self._refused("fetch", claim=number)(refusal)
            fetched([])  # without it; that nobody holds it is found out

        return replace(claims.fetch(number, token, fetched), otherwise=refused)

    def _promoted(self, rows: list[Row]) -> None:
        due, next_s = rows[0]
        if due == b"t":
            self._claim_at = self._look_at = self._now
        if next_s is not None:
            self._promote_at = self._now + max(float(next_s), 0.001)

    def _parked(self, rows: list[Row]) -> None:
        self._parked_x = rows[0][0]
        self._parking_since = self._look_at = self._now

    def _looked(self, seen: claims.Look) -> None:
        self._tell_pauses(seen)
        for number, position, reason in seen.cancels:
            self._office.broadcast("executor", CancelRunning(number, position, reason or ""))
        if seen.due_s is not None:
            self._promote_at = self._now + seen.due_s
        if seen.ready:
            self._claim_at = self._now
            self._pause_s = FAST_S
        elif self._parking_since is not None:
            self._rest(seen)
        self._look_at = self._now + (self._pause_s if self._parking_since is not None else IDLE_S)

    def _tell_schedules(self, seen: claims.Look) -> None:
        """What is due, unread; otherwise look again when the next one is."""
        if seen.due is not None:
            self._office.send(SCHEDULER, Due(seen.due))
            self._schedules_at = None
        else:
            # However far away the next one is, an edit elsewhere may bring an earlier one.
            left_s = IDLE_S if seen.next_s is None else min(seen.next_s, IDLE_S)
            self._schedules_at = self._now + max(left_s, 0.001)

    def _rest(self, seen: claims.Look) -> None:
        """Poll fast until every producer that may have missed that we are parked has ended, then ever more slowly."""
        if self._parked_x is not None and not seen.parked:
            self._parked_x = None  # someone who woke up took our flag with its own
        settled = seen.quiet or self._now - self._parking_since > PARKING_S  # type: ignore[operator]
        self._pause_s = min(self._pause_s * 2, IDLE_S if settled else 10 * FAST_S)

    def _tell_pauses(self, seen: claims.Look) -> None:
        if (seen.paused, seen.resting) != self._paused:
            self._paused = (seen.paused, seen.resting)
            event = "paused" if seen.paused or seen.resting else "resumed"
            self._log(event, dispatch=seen.paused or None, queues=list(seen.resting) or None)

    def _end(self) -> None:
        if self._took.count:
            self._log("claims", count=self._took.count, **self._took.told_ms())
        self.done = 0

    def _mourn(self) -> None:
        """A death is acknowledged after the last claim for the dead."""
        for death in list(self._deaths):
            peer = Peer(death.kind, death.number)
            if self._claiming == (peer, death.incarnation):
                continue
            holder = self._holders.get(peer)
            if holder is not None and holder.incarnation == death.incarnation:
                del self._holders[peer]
            self._deaths.remove(death)
            self._office.seen(death)
