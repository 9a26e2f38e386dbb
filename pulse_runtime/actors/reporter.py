"""The only writer of outcomes: reports, extensions, burials, reaps and retention."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec

from pulse_runtime.actors.claimer import Asker
from pulse_runtime.actors.loop import Office
from pulse_runtime.actors.upkeep import Upkeep
from pulse_runtime.events import Log
from pulse_runtime.execution.burial import burial_of, plain_burial_of
from pulse_runtime.execution.refused import milder_than, parts_of
from pulse_runtime.histogram import Histogram
from pulse_runtime.messages import (
    Audit,
    Extend,
    Fire,
    Fired,
    Held,
    Maintain,
    Progress,
    Reap,
    Refused,
    Report,
    Settled,
    Standing,
    Watch,
    Watched,
)
from pulse_runtime.settings import RuntimeSettings
from pulse_runtime.store import reports
from pulse_runtime.store.line import RefusalError, Row
from pulse_runtime.store.reports import Burial
from pulse_supervisor import Died, Drain, Event, Left, Orphaned, Peer, Said

MOST_REPORTS = 256
MOST_BYTES = 8 << 20
HEARTBEAT = Peer("heartbeat", 1)
WATCHDOG = Peer("watchdog", 1)
SCHEDULER = Peer("scheduler", 1)
UNFLUSHED = 5
KEY_HELD = "PU503"
LATER_S = 0.5
"""A report that waits for someone's open transaction is asked about so often, and holds up no other."""
LOST_BEATS = 3.5
"""Longer than a claimer takes to deliver (claimer.FRESH_BEATS), and executor and heartbeat take to say so."""


@dataclass
class Divided:
    """A report that is stored in parts: its executor is told when all are."""

    left: int


@dataclass(frozen=True)
class Waiting:
    """A report, and whose it is."""

    peer: Peer
    incarnation: int
    report: Report
    divided: Divided | None = None

    @property
    def size(self) -> int:
        endings = sum(len(each.error or "") + len(each.follow_ups) for each in self.report.endings)
        return len(self.report.results) + len(self.report.follow_ups) + len(self.report.took_us) + endings + 200


class Reporter:
    """Reports wait for the disk, executors do not: what comes while a transaction commits goes into the next one."""

    def __init__(
        self,
        office: Office,
        settling: Asker,
        extending: Asker,
        upkeep: Upkeep,
        settings: RuntimeSettings,
        log: Log,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._office = office
        self._settling = settling
        self._extending = extending
        self._upkeep = upkeep
        self._beat_s = settings.beat_s
        self._log = log
        self._reports: deque[Waiting] = deque()
        self._sent: list[Waiting] = []
        self._sent_at = 0.0
        self._took = Histogram()
        self._later: deque[tuple[float, Waiting]] = deque()
        self._progress: dict[str, Progress] = {}
        self._one_by_one = 0
        self._deaths: list[Died] = []
        self._burying: Died | None = None
        self._buried_last = False
        self._reaps: dict[int, Reap] = {}
        self._fires: deque[tuple[int, Fire]] = deque()
        self._fired_last = False
        self._beaten: dict[int, Held] = {}
        self._watching = False
        self._unheld: dict[tuple[int, str], float] = {}
        self._clock = clock
        self._end_at: float | None = None
        self._now = 0.0
        self.done: int | None = None

    def receive(self, event: Event, now: float) -> None:
        self._now = now
        if isinstance(event, Said):
            self._hear(event.peer, event.incarnation, event.message)
        elif isinstance(event, Died):
            self._deaths.append(event)
        elif isinstance(event, Drain):
            self._end_at = now + event.grace_s
        elif isinstance(event, Orphaned):
            self._end_at = now + 2.0
        elif isinstance(event, Left) and event.peer == SCHEDULER:
            self._fires.clear()  # its successor looks again

    def wake(self, now: float) -> float | None:
        self._now = now
        while self._later and now >= self._later[0][0]:
            self._reports.appendleft(self._later.popleft()[1])
            self._one_by_one += 1  # by itself: it may still have to wait
        if self._settling.idle and not self._fire(now):
            self._settle_or_bury(now)
        if self._beaten and self._extending.idle:
            self._extend(now)
        if self._progress and self._extending.idle:
            said, self._progress = list(self._progress.values()), {}
            self._extending.ask(reports.note_progress(said, lambda _: None), now)
        if self._end_at is not None:
            self._finish(now)
            return min(self._end_at, now + 0.05)
        return self._later[0][0] if self._later else None

    def _hear(self, peer: Peer, incarnation: int, message: object) -> None:
        if isinstance(message, Progress):
            self._progress[message.id] = message
        elif isinstance(message, Report):
            self._reports.append(Waiting(peer, incarnation, message))
        elif isinstance(message, Extend):
            # While the database is away, the newest beat of each is enough: nothing may pile up.
            self._beaten.update({each.executor: each for each in message.held})
        elif isinstance(message, Watch):
            self._watch()
        elif isinstance(message, Reap):
            self._reaps[message.executor] = message
        elif isinstance(message, Fire):
            self._fires.append((incarnation, message))
        elif isinstance(message, Maintain):
            self._upkeep.begin(self._now)
        elif isinstance(message, Audit):
            self._upkeep.audit(self._now)

    # --- reports

    def _settle_or_bury(self, now: float) -> None:
        """In turns, if there is both: however many reports come, a death is dealt with."""
        death = self._ready_death() if self._deaths else None
        if (death is not None or self._reaps) and not (self._reports and self._buried_last):
            self._buried_last = True
            if death is not None:
                self._bury(death, now)
            else:
                self._reap(now)
        elif self._reports:
            self._buried_last = False
            self._sent, self._sent_at = self._batch(), self._clock()
            self._settling.ask(reports.report([each.report for each in self._sent], self._settled, self._refused), now)

    def _batch(self) -> list[Waiting]:
        """As many as fit, each claim once: a second report of a claim waits for the next transaction."""
        if self._one_by_one:
            self._one_by_one -= 1
            return [self._reports.popleft()]
        taken: list[Waiting] = []
        claims: set[int] = set()
        size = 0
        while self._reports and len(taken) < MOST_REPORTS and size < MOST_BYTES:
            if self._reports[0].report.claim in claims:
                break
            taken.append(self._reports.popleft())
            claims.add(taken[-1].report.claim)
            size += taken[-1].size
        return taken

    def _settled(self, _: list[Row]) -> None:
        self._took.add(self._clock() - self._sent_at)
        sent, self._sent = self._sent, []
        numbers: dict[tuple[Peer, int], list[int]] = {}
        for each in sent:
            if each.divided is not None:
                each.divided.left -= 1
                if each.divided.left:
                    continue
            numbers.setdefault((each.peer, each.incarnation), []).append(each.report.number)
        for (peer, incarnation), settled in numbers.items():
            if self._office.peers.get(peer) == incarnation:
                self._office.send(peer, Settled(settled))

    def _refused(self, refusal: RefusalError) -> None:
        """One bad job does not sink the others: each report by itself, then its parts; the bad one fails."""
        sent, self._sent = self._sent, []
        if len(sent) == 1 and sent[0].divided is None:
            parts = parts_of(sent[0].report)
            divided = Divided(len(parts))
            sent = [replace(sent[0], report=each, divided=divided) for each in parts] or sent
        if len(sent) > 1:
            self._reports.extendleft(reversed(sent))
            self._one_by_one += len(sent)
            return
        bad = sent[0]
        if refusal.state == KEY_HELD:
            self._later.append((self._now + LATER_S, bad))
            return
        self._log("report refused", claim=bad.report.claim, state=refusal.state, why=refusal.message)
        milder = milder_than(bad.report, refusal.message)
        if milder is None:  # nothing of it can be stored: the executor lets go, and what is still leased is given back
            self._sent = sent
            self._settled([])
            return
        self._reports.appendleft(replace(bad, report=milder))
        self._one_by_one += 1

    # --- schedules

    def _fire(self, now: float) -> bool:
        """In turns with what else there is to settle. Whether it is the fires' turn."""
        others = self._reports or self._deaths or self._reaps
        self._fired_last = bool(self._fires) and not (self._fired_last and others)
        if not self._fired_last:
            return False
        incarnation, fire = self._fires.popleft()

        def answer(fired: Fired) -> None:
            if self._office.peers.get(SCHEDULER) == incarnation:
                self._office.send(SCHEDULER, fired)

        def fired(rows: list[Row]) -> None:
            answer(Fired(fire.number, int(rows[0][0] or 0)))

        def refused(refusal: RefusalError) -> None:
            answer(Fired(fire.number, 0, refusal.message))

        self._settling.ask(reports.fire(fire.decisions, fired, refused), now)
        return True

    # --- deaths

    def _ready_death(self) -> Died | None:
        """One whose wire has ended and whose reports are all durable."""
        waiting = {(each.peer, each.incarnation) for each in (*self._reports, *(later for _, later in self._later))}
        for death in self._deaths:
            peer = Peer(death.kind, death.number)
            if self._office.peers.get(peer) != death.incarnation and (peer, death.incarnation) not in waiting:
                return death
        return None

    def _bury(self, death: Died, now: float) -> None:
        self._deaths.remove(death)
        burial = burial_of(death)
        self._burying = death
        if burial is None:
            self._buried()
            self._settle_or_bury(now)
        else:
            self._ask_burial(burial, self._refuse_box, now)

    def _ask_burial(self, burial: Burial, otherwise: Callable[[Burial, RefusalError], None], now: float) -> None:
        def buried(rows: list[Row]) -> None:
            self._tell_burial(burial, rows)
            self._buried()

        def refused(refusal: RefusalError) -> None:
            self._log(
                "question failed", question="bury", executor=burial.executor, state=refusal.state, why=refusal.message
            )
            otherwise(burial, refusal)

        self._settling.ask(reports.bury(burial, buried, refused), now)

    def _refuse_box(self, burial: Burial, _: RefusalError) -> None:
        """What the box says cannot be; whoever scribbled into it, nobody knows what ran."""
        self._ask_burial(plain_burial_of(burial), lambda *_: self._buried(), self._now)

    def _buried(self) -> None:
        """As well as it can be. What it held in spite of all, the watchdog finds when its beats stand still."""
        death, self._burying = self._burying, None
        if death is not None:
            self._office.seen(death)

    def _tell_burial(self, burial: Burial, rows: list[Row]) -> None:
        settled, ended, given_back = (int(value or 0) for value in rows[0])
        self._log(
            "executor buried",
            executor=burial.executor,
            why=burial.why,
            settled=settled,
            ended=ended,
            released=given_back,
        )

    # --- lives

    def _extend(self, now: float) -> None:
        held, self._beaten = list(self._beaten.values()), {}

        def extended(rows: list[Row]) -> None:
            refused, unheld = rows[0]
            if refused:
                self._office.send(HEARTBEAT, Refused([int(each) for each in refused.split(b",")]))
            self._release(msgspec.json.decode(unheld or b"[]", type=list[tuple[int, str]]), asked)

        asked = self._clock()
        self._extending.ask(reports.extend(held, extended), now)

    def _watch(self) -> None:
        """Beside the beats, not behind retention: a watchdog that hears nothing for long begins afresh."""

        def watched(found: list[Standing]) -> None:
            self._watching = False
            self._office.send(WATCHDOG, Watched(found))

        def refused(refusal: RefusalError) -> None:
            self._watching = False
            self._log("question failed", question="standing", state=refusal.state, why=refusal.message)

        if not self._watching:
            self._watching = True
            self._extending.ask(reports.standing(watched, refused), self._now)

    def _release(self, unheld: list[tuple[int, str]], asked: float) -> None:
        """A claim that its executor does not hold, beat after beat, is given back: its delivery was lost.

        By our own clock, from the first answer that said so to the last question: a stop of ours in between, or a jump
        of the database's clock, must not make a delivery look lost that is on its way.
        """
        now = self._clock()
        self._unheld = {each: self._unheld.get(each, now) for each in unheld}
        lost = [each for each, since in self._unheld.items() if asked - since >= LOST_BEATS * self._beat_s]
        if lost:

            def released(rows: list[Row]) -> None:
                self._log("claim released", claims=[claim for claim, _ in lost], jobs=int(rows[0][0] or 0))

            self._extending.ask(reports.give_back(lost, released), self._now)

    def _reap(self, now: float) -> None:
        """One at a time, and not behind retention: this is what a lost host's jobs wait for."""
        message = self._reaps.pop(next(iter(self._reaps)))

        def reaped(rows: list[Row]) -> None:
            if rows[0][0] is not None:
                self._log("executor reaped", executor=message.executor, jobs=int(rows[0][0]))

        abandoned = message.beats < 0
        question = (
            reports.abandon(message.executor, reaped)
            if abandoned
            else reports.reap(message.executor, message.beats, reaped)
        )
        self._settling.ask(question, now)

    # --- the end

    def _finish(self, now: float) -> None:
        left = len(self._reports) + len(self._sent) + len(self._deaths) + (self._burying is not None) + len(self._later)
        if not left:
            if self._took.count:
                self._log("reports", count=self._took.count, **self._took.told_ms())
            self._log("drained")
            self.done = 0
        elif self._end_at is not None and now >= self._end_at:
            reports = len(self._reports) + len(self._sent) + len(self._later)
            self._log("unflushed", reports=reports, deaths=len(self._deaths))
            self.done = UNFLUSHED
