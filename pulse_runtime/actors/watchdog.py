"""What is overdue: executors of any runtime whose beats stand still, retention, and the nightly audit."""

from dataclasses import dataclass

from pulse_runtime.actors.loop import Office
from pulse_runtime.messages import Audit, Audited, Maintain, Maintained, Reap, Standing, Watch, Watched
from pulse_supervisor import Drain, Event, Left, Orphaned, Peer, Said

REPORTER = Peer("reporter", 1)
MAINTAIN_S = 60.0
AUDIT_S = 86_400.0
FIRST_AUDIT_S = 600.0
"""After the start, and again after so long if an audit was not answered."""


@dataclass
class Seen:
    """When we first saw this number of beats, by our own monotonic clock."""

    beats: int
    since: float


class Watchdog:
    """Lapse is observed, not computed: no clock but our own counts, and only while the database answers."""

    def __init__(self, office: Office, *, lease_s: float, beat_s: float) -> None:
        self._office = office
        self._lease_s = lease_s
        # Half a beat: a host that is lost is seen to stand still from its last beat on, or half a beat later.
        self._every_s = beat_s / 2
        self._seen: dict[int, Seen] = {}
        self._watch_at = 0.0
        self._answered: float | None = None
        self._maintain_at: float | None = None
        self._audit_at: float | None = None
        self.done: int | None = None

    def receive(self, event: Event, now: float) -> None:
        if isinstance(event, Said) and isinstance(event.message, Watched):
            self._watched(event.message.standing, now)
        elif isinstance(event, Said) and isinstance(event.message, Maintained):
            self._maintain_at = now + (0.1 if event.message.again else MAINTAIN_S)
        elif isinstance(event, Said) and isinstance(event.message, Audited):
            self._audit_at = now + AUDIT_S
        elif isinstance(event, Left):
            self._answered = None  # a new reporter: what we asked of the old one is lost
            self._maintain_at = min(self._maintain_at or now, now + 1.0)
        elif isinstance(event, Drain | Orphaned):
            self.done = 0

    def wake(self, now: float) -> float | None:
        if self._maintain_at is None:
            self._maintain_at = now + 1.0
        if self._audit_at is None:
            self._audit_at = now + FIRST_AUDIT_S
        if now >= self._watch_at:
            self._watch_at = now + self._every_s
            self._office.send(REPORTER, Watch())
        if now >= self._maintain_at:
            self._maintain_at = now + 10 * MAINTAIN_S  # until it is answered
            self._office.send(REPORTER, Maintain())
        if now >= self._audit_at:
            self._audit_at = now + FIRST_AUDIT_S
            self._office.send(REPORTER, Audit())
        return min(self._watch_at, self._maintain_at, self._audit_at)

    def _watched(self, standing: list[Standing], now: float) -> None:
        # After a silence of the database, an hour's or a second's, everyone is watched afresh: their extensions could
        # not be written either.
        if self._answered is None or now - self._answered > max(6 * self._every_s, self._lease_s / 3):
            self._seen.clear()
        self._answered = now
        self._seen = {each.executor: self._still(each, now) for each in standing}
        for each in standing:
            seen = self._seen[each.executor]
            if each.ended or now - seen.since >= self._lease_s:
                seen.since = now
                self._office.send(REPORTER, Reap(each.executor, -1 if each.ended else each.beats))
        lapses = (seen.since + self._lease_s for seen in self._seen.values())
        self._watch_at = min([self._watch_at, *lapses])

    def _still(self, each: Standing, now: float) -> Seen:
        before = self._seen.get(each.executor)
        return before if before is not None and before.beats == each.beats else Seen(each.beats, now)
