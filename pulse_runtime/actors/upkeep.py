"""Retention, step by step, on a connection of its own, so that it never delays a beat or a report."""

from dataclasses import replace

from pulse_runtime.actors.claimer import Asker
from pulse_runtime.actors.loop import Office
from pulse_runtime.events import Log
from pulse_runtime.messages import Audited, Maintained
from pulse_runtime.settings import RuntimeSettings
from pulse_runtime.store import reports
from pulse_runtime.store.line import Question, RefusalError, Row
from pulse_supervisor import Peer

WATCHDOG = Peer("watchdog", 1)
MOST = 5000
STARVING = 3  # rounds in a row without a lock that it needs: no longer a transaction that happened to be open


class Upkeep:
    """One round: partitions ahead, floors, old partitions, old rows, lanes that nobody uses, old occurrences."""

    def __init__(self, office: Office, line: Asker, settings: RuntimeSettings, log: Log) -> None:
        self.line = line
        self._office = office
        self._keep_s = settings.keep_s
        self._keep_failures_s = settings.keep_failures_s
        self._log = log
        self._now = 0.0
        self._starved = False
        self._starved_rounds = 0
        self._again = False
        self._busy = False

    def begin(self, now: float) -> None:
        """Start a round, unless one is under way."""
        self._now = now
        if not self._busy:
            self._busy = True
            self._starved = self._again = False
            self._ask(reports.keep_ahead(self._kept_ahead))

    def audit(self, now: float) -> None:
        """Log whatever must not exist. A finding is an alert, never repaired in silence."""

        def audited(rows: list[Row]) -> None:
            for finding, about, detail in rows:
                said = {name: (value or b"").decode() for name, value in (("id", about), ("detail", detail))}
                self._log("audit finding", finding=(finding or b"").decode(), **said)
            self._log("audited", findings=len(rows))
            self._office.send(WATCHDOG, Audited(len(rows)))

        self.line.ask(reports.audit(audited), now)

    def _ask(self, question: Question) -> None:
        """A step that is refused ends the round, not retention."""

        def refused(refusal: RefusalError) -> None:
            self._log("question failed", question=question.name, state=refusal.state, why=refusal.message)
            self._end()

        self.line.ask(replace(question, otherwise=refused), self._now)

    def _kept_ahead(self, rows: list[Row]) -> None:
        added, _, starved = rows[0]
        self._starved = starved == b"t"
        if added:
            self._log("maintained", made=added.decode())
        self._ask(reports.raise_floors(lambda _: self._drop()))

    def _drop(self) -> None:
        self._ask(reports.drop_partitions(self._keep_s, self._dropped))

    def _dropped(self, rows: list[Row]) -> None:
        dropped, starved = rows[0]
        self._starved = self._starved or starved == b"t"
        if dropped:
            self._log("maintained", dropped=dropped.decode())
        self._ask(reports.prune(self._keep_s, self._keep_failures_s, MOST, self._pruned))

    def _pruned(self, rows: list[Row]) -> None:
        self._again = int(rows[0][0] or 0) >= MOST
        self._ask(reports.prune_lanes(self._keep_s, lambda _: self._prune_schedules()))

    def _prune_schedules(self) -> None:
        self._ask(reports.prune_schedules(self._keep_failures_s, MOST, self._pruned_schedules))

    def _pruned_schedules(self, rows: list[Row]) -> None:
        self._again = self._again or int(rows[0][0] or 0) >= MOST
        self._end()

    def _end(self) -> None:
        self._busy = False
        self._starved_rounds = self._starved_rounds + 1 if self._starved else 0
        if self._starved_rounds and self._starved_rounds % STARVING == 0:
            why = "a transaction that stays open uses the log: pg_stat_activity lists it. Until it ends, the log grows"
            self._log("retention starves", rounds=self._starved_rounds, why=why)
        self._office.send(WATCHDOG, Maintained(again=self._again, starved=self._starved))
