"""A history, sorted by what the rules ask for."""

from collections import Counter, defaultdict

from checker.history import Delivery, Failure, History, Job, Run

Attempt = tuple[str, int]
"""A job's id, and the number of an attempt: what a handler is told, to be idempotent with."""


class Index:
    """Made once per check."""

    def __init__(self, history: History) -> None:
        database = history.database
        self.history = history
        self.jobs: dict[str, Job] = {job.id: job for job in database.jobs}
        self.open, self.done = Counter(database.open), Counter(database.done)
        self.deliveries: dict[str, list[Delivery]] = defaultdict(list)
        for delivery in sorted(database.deliveries, key=lambda each: (each.seq, each.attempt)):
            self.deliveries[delivery.id].append(delivery)
        self.failures: dict[str, list[Failure]] = defaultdict(list)
        for failure in sorted(database.failures, key=lambda each: each.attempt):
            self.failures[failure.id].append(failure)
        self.runs: dict[Attempt, list[Run]] = defaultdict(list)
        for run in history.runs:
            self.runs[run.id, run.attempt].append(run)

    def successes(self, job: str) -> list[Attempt]:
        """The attempts of a job that were settled, each as often as it was."""
        return [(job, each.attempt) for each in self.deliveries[job] for _ in range(self.done[each.slot])]

    def held(self, job: str) -> int:
        """How many leases hold it."""
        return sum(self.open[each.slot] for each in self.deliveries[job])

    def ending(self, attempt: Attempt) -> str | None:
        """How the database says that an attempt ended, if not well."""
        return next((each.ending for each in self.failures[attempt[0]] if each.attempt == attempt[1]), None)
