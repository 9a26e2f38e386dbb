"""Histories as they should be, for the checker's own tests: each step keeps all three records as a runtime would."""

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from checker.history import Database, Delivery, Failure, History, Job, Run, Slot
from checker.rules_jobs import CHARGING

STARTED = frozenset({"fail", "crash", "lost", "suspect", "snooze", "dead", "cancel"})
DIED = frozenset({"crash", "lost", "suspect"})


@dataclass
class Scribe:
    """One executor after the other; time goes on by one with each event."""

    jobs: dict[str, Job] = field(default_factory=dict)
    deliveries: list[Delivery] = field(default_factory=list)
    open: list[Slot] = field(default_factory=list)
    done: list[Slot] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    retried: Counter[str] = field(default_factory=Counter)
    clock: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def enqueue(self) -> str:
        job = f"job-{next(self.clock)}"
        self.jobs[job] = Job(job, "PENDING", attempt=1, charged=0)
        return job

    def claim(self, job: str) -> Delivery:
        at, attempt = next(self.clock), self.jobs[job].attempt
        delivery = Delivery(claim=at, pos=0, executor=1, id=job, seq=at, attempt=attempt)
        self.deliveries.append(delivery)
        self.open.append(delivery.slot)
        self._change(job, status="RUNNING")
        return delivery

    def run(self, delivery: Delivery, *, outcome: str | None) -> None:
        start = next(self.clock)
        end = None if outcome is None else next(self.clock)
        self.runs.append(Run(delivery.id, delivery.attempt, start, pid=1, end=end, outcome=outcome))

    def settle(self, delivery: Delivery) -> None:
        self.open.remove(delivery.slot)
        self.done.append(delivery.slot)
        self._change(delivery.id, status="COMPLETED")

    def close(self, delivery: Delivery, ending: str) -> None:
        self.open.remove(delivery.slot)
        job = self.jobs[delivery.id]
        charged = job.charged + (ending in CHARGING)
        if ending != "release":
            self.failures.append(Failure(job.id, job.attempt, charged, ending, delivery.claim))
        if ending in {"dead", "cancel"}:
            status = "DEAD_LETTERED" if ending == "dead" else "CANCELED"
            self._change(job.id, status=status, charged=charged)
        else:
            attempt = job.attempt + (ending != "release")
            self._change(job.id, status="RETRYING" if charged else "PENDING", attempt=attempt, charged=charged)

    def retry(self, job: str) -> None:
        self.retried[job] += 1
        self._change(job, status="PENDING", attempt=self.jobs[job].attempt + 1, charged=0)

    def live(self, endings: list[str], last: str) -> str:
        """A whole life: attempts that ended so, and then `last`: done, running, waiting, or an ending."""
        job = self.enqueue()
        for ending in endings:
            self._attempt(job, ending)
        if last == "running":
            self.run(self.claim(job), outcome=None)
        elif last != "waiting":
            self._attempt(job, last)
        return job

    def history(self) -> History:
        database = Database(
            jobs=tuple(self.jobs.values()),
            deliveries=tuple(self.deliveries),
            open=tuple(self.open),
            done=tuple(self.done),
            failures=tuple(self.failures),
        )
        return History(database, enqueued=tuple(self.jobs), retried=Counter(self.retried), runs=tuple(self.runs))

    def _attempt(self, job: str, ending: str) -> None:
        delivery = self.claim(job)
        if ending == "done":
            self.run(delivery, outcome="ok")
            self.settle(delivery)
            return
        if ending in STARTED:
            self.run(delivery, outcome=None if ending in DIED else "raised")
        self.close(delivery, ending)
        if ending == "dead":
            self.retry(job)

    def _change(self, job: str, **fields: object) -> None:
        self.jobs[job] = replace(self.jobs[job], **fields)  # type: ignore[arg-type]
