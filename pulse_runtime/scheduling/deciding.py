"""What becomes of a schedule that is due: which occurrences fire, which do not and why, and when to look again. Pure.

Time is the database's: the moment comes with the schedules.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from pulse_runtime.ids import occurrence_id
from pulse_runtime.scheduling.fires import Decision, Occurrence, Seen, Verdict, broken
from pulse_runtime.timing.jitter import fire_at
from pulse_runtime.timing.timings import Timing, parse_timing

TOLERANCE = timedelta(seconds=10)
"""An occurrence that is decided no later than this is not missed: a scheduler that was restarted does it in time."""
MOST_MISSED = 2000
"""Occurrences of one schedule that are written off at once; the rest waits until the other schedules had their turn."""
MOST_AHEAD = 1000
COARSE = timedelta(seconds=2)
"""Who looks so far ahead may look at whole seconds: one question serves all of a second."""


def decide(seen: Seen, moment: datetime, *, zone_version: str, horizon_s: float) -> Decision:
    """What to do about this schedule at `moment`. One that cannot be understood is paused, with the error.

    What was due longer ago than `horizon_s` is not told occurrence by occurrence.
    """
    try:
        return _Deciding(seen, moment, zone_version, timedelta(seconds=horizon_s)).decision()
    except Exception as error:  # whatever it is, the others must not wait for it
        return broken(seen, f"{type(error).__name__}: {error}")


@dataclass(frozen=True)
class _Due:
    occurrence: datetime
    due_at: datetime

    @property
    def expected_at(self) -> datetime:
        """It is late after this: jitter may name a moment before the schedule was made, when none could be in time."""
        return max(self.occurrence, self.due_at)


class _Deciding:
    """One schedule at one moment. `_told` are the occurrences that were decided, `_left` how many may still fire."""

    def __init__(self, seen: Seen, moment: datetime, zone_version: str, horizon: timedelta) -> None:
        self._seen = seen
        self._moment = moment
        self._zone_version = zone_version if seen.kind == "cron" else None
        self._timing: Timing = parse_timing(seen.kind, seen.spec, seen.tz, seen.anchor)
        # Pause and overlap are decided when an occurrence is due, not before.
        early = not seen.paused and seen.overlap == "allow"
        self._ahead = timedelta(seconds=seen.lookahead_s if early else 0)
        self._oldest = moment - horizon
        self._tolerance = TOLERANCE if seen.within_s is None else min(TOLERANCE, timedelta(seconds=seen.within_s))
        self._told: list[Occurrence] = []
        self._left = math.inf if seen.max_fires is None else max(seen.max_fires - seen.fires, 0)

    def decision(self) -> Decision:
        self._decide_queued()
        cursor = self._skip_forgotten(self._cursor())
        silent, late, timely, cursor = self._collect(cursor)
        for each in silent:
            self._tell(each, "skipped", "paused")
        if len(late) == self._most_late:
            cursor = late[MOST_MISSED].occurrence
            self._miss(late[:MOST_MISSED])
        else:
            # One that is fired ahead stands for nothing yet: what becomes of those missed does not depend on lookahead.
            self._decide_late(late, timely=any(each.due_at <= self._moment for each in timely))
            for each in timely:
                self._fire(each, "fired")
        return self._moved(cursor if self._left else None)

    def _decide_queued(self) -> None:
        """The occurrence that waited for the end of a run."""
        seen = self._seen
        if seen.queued_at is None or not seen.free or seen.paused:
            return
        due = self._due(seen.queued_at)
        if self._left:
            self._fire(due, "late" if due.expected_at + TOLERANCE < self._moment else "fired", "queued")
        else:
            self._tell(due, "skipped", "max_fires")

    def _cursor(self) -> datetime | None:
        """Where to begin: as stored, unless it is to be reckoned, or the zones have changed since it was."""
        seen = self._seen
        stale = seen.zone_version not in (None, self._zone_version)
        if seen.next_run_at is None or stale:
            return self._next(seen.reckon_after)
        return self._in_life(seen.next_run_at)

    def _next(self, after: datetime) -> datetime | None:
        return self._in_life(self._timing.next_after(after))

    def _in_life(self, occurrence: datetime | None) -> datetime | None:
        until = self._seen.until
        over = occurrence is None or (until is not None and occurrence > until) or not self._left
        return None if over else occurrence

    def _due(self, occurrence: datetime) -> _Due:
        return _Due(occurrence, fire_at(self._timing, self._seen.id, occurrence, self._seen.jitter))

    def _skip_forgotten(self, cursor: datetime | None) -> datetime | None:
        """What is older than the history that is kept gets one row for all of it."""
        if cursor is None or cursor >= self._oldest:
            return cursor
        self._tell(self._due(cursor), "missed", f"like all others up to {self._oldest.isoformat()}")
        return self._next(self._oldest)

    @property
    def _most_late(self) -> int:
        return MOST_MISSED + self._seen.missed_most

    def _collect(self, cursor: datetime | None) -> tuple[list[_Due], list[_Due], list[_Due], datetime | None]:
        """Those that fell into a pause, those that are late, those that are due or soon will be; and the next one."""
        seen = self._seen
        silent: list[_Due] = []
        late: list[_Due] = []
        timely: list[_Due] = []
        while cursor is not None and (due := self._due(cursor)).due_at <= self._moment + self._ahead:
            if seen.paused or (seen.resumed_at is not None and cursor <= seen.resumed_at):
                silent.append(due)
            elif due.expected_at + self._tolerance < self._moment:
                late.append(due)
            else:
                timely.append(due)
            cursor = self._next(cursor)
            if len(late) == self._most_late or len(timely) == MOST_AHEAD or len(silent) == MOST_MISSED:
                break
        return silent, late, timely, cursor

    def _decide_late(self, late: list[_Due], *, timely: bool) -> None:
        """By the policy: none of them, the latest unless one that is in time stands for it, or the last few."""
        seen = self._seen
        within = None if seen.within_s is None else self._moment - timedelta(seconds=seen.within_s)
        too_late = [each for each in late if within is not None and each.expected_at < within]
        self._miss(too_late, f"later than {seen.within_s:g} s" if too_late else "")
        recent = late[len(too_late) :]
        keep = {"none": 0, "latest": 0 if timely else 1, "all": seen.missed_most}[seen.missed]
        cut = max(len(recent) - keep, 0)
        self._miss(recent[:cut])
        pace = timedelta(seconds=seen.missed_pace_s if seen.missed == "all" else 0)
        for number, each in enumerate(recent[cut:]):
            paced = _Due(each.occurrence, self._moment + number * pace) if number and pace else each
            self._fire(paced, "late")

    def _miss(self, occurrences: list[_Due], reason: str = "") -> None:
        why = {"latest": "a later one stands for it", "all": "more than are fired late", "none": "none is fired late"}
        for each in occurrences:
            self._tell(each, "missed", reason or why[self._seen.missed])

    def _fire(self, due: _Due, verdict: Verdict, reason: str | None = None) -> None:
        if self._left > 0:
            # Of those that must not overlap one fires at most, and the database counts whether it did.
            self._left -= self._seen.overlap == "allow"
            self._tell(due, verdict, reason)

    def _tell(self, due: _Due, verdict: Verdict, reason: str | None) -> None:
        job_id = occurrence_id(self._seen.id, due.occurrence)
        self._told.append(Occurrence(due.occurrence, due.due_at, job_id, verdict, reason))

    def _moved(self, cursor: datetime | None) -> Decision:
        seen = self._seen
        dues = [each.due_at for each in self._told if each.verdict in ("fired", "late")]
        last_due_at = max([*dues, *([seen.last_due_at] if seen.last_due_at else [])], default=None)
        decided = [each.occurrence for each in self._told if each.occurrence != seen.queued_at]
        look_at = self._look_at(cursor, last_due_at)
        waiting = seen.queued_at is not None and not seen.free
        return Decision(
            seen.id, seen.revision, seen.next_run_at, cursor, max([seen.reckon_after, *decided]), last_due_at, look_at,
            self._zone_version, look_at is None and not waiting, None, self._told,
        )  # fmt: skip

    def _look_at(self, cursor: datetime | None, last_due_at: datetime | None) -> datetime | None:
        """Before the next occurrence; without one, when the last one is due, which ends the schedule."""
        if cursor is None:
            return last_due_at if last_due_at is not None and last_due_at > self._moment else None
        look_at = self._due(cursor).due_at - self._ahead
        if self._ahead >= COARSE and look_at.microsecond:
            look_at = look_at.replace(microsecond=0) + timedelta(seconds=1)
        return max(look_at, self._moment)
