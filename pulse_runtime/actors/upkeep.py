"""Retention, step by step, on a connection of its own, so that it never delays a beat or a report."""

from pulse_runtime.actors.claimer import Asker
from pulse_runtime.actors.loop import Office
from pulse_runtime.events import Log
from pulse_runtime.messages import Maintained
from pulse_runtime.settings import RuntimeSettings
from pulse_runtime.store import reports
from pulse_runtime.store.line import Row
from pulse_supervisor import Peer

WATCHDOG = Peer("watchdog", 1)
MOST = 5000


class Upkeep:
    """One round: partitions ahead, floors, old partitions, old rows."""

    def __init__(self, office: Office, line: Asker, settings: RuntimeSettings, log: Log) -> None:
        self.line = line
        self._office = office
        self._keep_s = settings.keep_s
        self._keep_failures_s = settings.keep_failures_s
        self._log = log
        self._now = 0.0
        self._starved = False
        self._busy = False

    def begin(self, now: float) -> None:
        """Start a round, unless one is under way."""
        self._now = now
        if not self._busy:
            self._busy = True
            self._starved = False
            self.line.ask(reports.keep_ahead(self._kept_ahead), now)

    def _kept_ahead(self, rows: list[Row]) -> None:
        added, _, starved = rows[0]
        self._starved = starved == b"t"
        if added:
            self._log("maintained", made=added.decode())
        self.line.ask(reports.raise_floors(lambda _: self._drop()), self._now)

    def _drop(self) -> None:
        self.line.ask(reports.drop_partitions(self._keep_s, self._dropped), self._now)

    def _dropped(self, rows: list[Row]) -> None:
        dropped, starved = rows[0]
        self._starved = self._starved or starved == b"t"
        if dropped:
            self._log("maintained", dropped=dropped.decode())
        self.line.ask(reports.prune(self._keep_s, self._keep_failures_s, MOST, self._pruned), self._now)

    def _pruned(self, rows: list[Row]) -> None:
        self._busy = False
        self._office.send(WATCHDOG, Maintained(again=int(rows[0][0] or 0) >= MOST, starved=self._starved))
