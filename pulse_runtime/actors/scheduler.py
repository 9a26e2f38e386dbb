"""Decides which occurrences of schedules are due. Pure: it is told what is due and says what to fire."""

from collections import deque
from collections.abc import Sequence
from datetime import datetime

import msgspec

from pulse_runtime.actors.loop import Office
from pulse_runtime.events import Log
from pulse_runtime.messages import Due, Fire, Fired, Idle
from pulse_runtime.scheduling.deciding import decide
from pulse_runtime.scheduling.fires import Decision, Seen, Told, broken
from pulse_supervisor import Drain, Event, Joined, Left, Orphaned, Peer, Said

CLAIMER = Peer("claimer", 1)
REPORTER = Peer("reporter", 1)
SLICE = 500
"""Schedules and occurrences in one Fire: the first are in the database while the next are thought about."""
MOST_FIRES = 4
"""Unanswered ones. A backlog of hours is millions of occurrences: decided in one go they would be more than a wire
takes, and the reporter would be killed as one that does not read."""
PAUSE_S = 0.25
"""What is being changed by somebody, or was decided by another scheduler, is not asked for again at once."""


class Scheduler:
    """One Due at a time. Nothing is kept: what was not fired is due again, and told again."""

    def __init__(self, office: Office, *, zone_version: str, horizon_s: float, log: Log) -> None:
        self._office = office
        self._zone_version = zone_version
        self._horizon_s = horizon_s
        self._log = log
        self._undecided: tuple[datetime, deque[Seen]] | None = None
        self._fires: dict[int, list[Decision]] = {}
        self._number = 0
        self._more = True
        self._idle_at: float | None = 0.0
        self._pause_s = 0.0
        self.done: int | None = None

    def receive(self, event: Event, now: float) -> None:
        if isinstance(event, Said):
            if isinstance(event.message, Due):
                self._decide(event.message)
            elif isinstance(event.message, Fired):
                self._fired(event.message, now)
        elif isinstance(event, Joined) or (isinstance(event, Left) and event.peer == REPORTER):
            # A new claimer has not heard that we are idle; what a reporter had is lost with it, or done.
            self._fires.clear()
            self._undecided = None
            self._more = True
            self._idle_at = now
        elif isinstance(event, Drain | Orphaned):
            self.done = 0

    def wake(self, now: float) -> float | None:
        if self._idle_at is not None and now >= self._idle_at:
            self._idle_at = None
            self._office.send(CLAIMER, Idle(self._more))
        return self._idle_at

    def _decide(self, due: Due) -> None:
        told = msgspec.json.decode(due.schedules, type=Told)
        self._more = bool(told.schedules)
        self._idle_at = None
        self._pause_s = 0.0
        self._undecided = told.moment, deque(told.schedules)
        if not told.schedules:
            self._fire([])  # there is something to count
        self._go_on()

    def _go_on(self) -> None:
        """Decide as much as the reporter has room for."""
        if self._undecided is None:
            return
        moment, seen = self._undecided
        while seen and len(self._fires) < MOST_FIRES:
            batch: list[Decision] = []
            weight = 0
            while seen and weight < SLICE:
                batch.append(self._decision(seen.popleft(), moment))
                weight += 1 + len(batch[-1].occurrences)
            self._fire(batch)

    def _decision(self, seen: Seen, moment: datetime) -> Decision:
        decision = decide(seen, moment, zone_version=self._zone_version, horizon_s=self._horizon_s)
        if decision.error is not None:
            self._log("schedule broken", schedule=str(seen.id), why=decision.error)
        return decision

    def _fire(self, decisions: Sequence[Decision]) -> None:
        self._number += 1
        self._fires[self._number] = list(decisions)
        self._office.send(REPORTER, Fire(self._number, msgspec.json.encode(decisions)))

    def _fired(self, fired: Fired, now: float) -> None:
        decisions = self._fires.pop(fired.number, None)
        if decisions is None:
            return
        if fired.refused is not None:
            self._refused(decisions, fired.refused)
        elif fired.moved < len(decisions):
            self._pause_s = PAUSE_S
        self._go_on()
        if not self._fires:
            self._idle_at = now + self._pause_s

    def _refused(self, decisions: list[Decision], why: str) -> None:
        """One bad schedule does not stall the others: each half by itself, until it is found and paused."""
        if len(decisions) == 1 and decisions[0].error is None:
            self._log("schedule broken", schedule=str(decisions[0].id), why=why)
            self._fire([broken(decisions[0], why)])
        elif len(decisions) > 1:
            middle = len(decisions) // 2
            self._fire(decisions[:middle])
            self._fire(decisions[middle:])
        else:
            self._pause_s = PAUSE_S  # it cannot even be paused; it is due again, and not as fast as it can be refused
