"""What the crowd saw, and what follows from it."""

import threading
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

# What may be found, and how each finding begins. A mutant names those that it must be noticed by.
LOST = "lost"  # a job that was committed and that nobody will get
TWICE = "claimed twice"  # a delivery that two claims got, or may get
STATES = "two states"  # a job that is in more than one, or came to more than one end
FENCE = "no fence"  # a report took effect although the delivery was no longer the reporter's
REFUSED = "refused"  # a report had no effect although the delivery was the reporter's
BEYOND = "held beyond the end"  # an executor that has ended holds a lease
BLANK = "held and gone"  # a lease whose job cannot be had
KEY = "key"  # two unfinished jobs with one key
STATUS = "status"  # what the store tells of a job is not what became of it
GHOST = "never sent"  # a job that was rolled back
RESULT = "result"  # a result or a follow-up that is missing, or of another job
LEFT = "left over"  # rows that should have gone
LITTLE = "too little"  # the run proves nothing
FAILED = "failed"  # anything that nobody expected


class WrongError(Exception):
    """Something that must not be: a finding."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(f"{kind}: {what}")


def require(is_so: bool, kind: str, what: str) -> None:
    if not is_so:
        raise WrongError(kind, what)


def kind_of(finding: str) -> str:
    return finding.partition(":")[0]


@dataclass
class Seen:
    """Ids by what happened to them. Only what is known to be committed is written here."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    stop: threading.Event = field(default_factory=threading.Event)  # a problem was found: nobody need go on
    sent: set[str] = field(default_factory=set)
    newest: deque[str] = field(default_factory=lambda: deque(maxlen=20))
    settled: Counter[str] = field(default_factory=Counter)
    canceled: set[str] = field(default_factory=set)  # a set, because a cancel that is repeated gets the same answer
    dead: Counter[str] = field(default_factory=Counter)
    crashed: Counter[str] = field(default_factory=Counter)
    retried: Counter[str] = field(default_factory=Counter)  # dead letters that were given another life
    deliveries: Counter[tuple[int, int]] = field(
        default_factory=Counter
    )  # by number in the log, and row to be retried from
    last_seq: dict[str, int] = field(default_factory=dict)  # of the delivery that was settled
    dropped: list[range] = field(default_factory=list)  # numbers whose partition was dropped
    did: Counter[str] = field(default_factory=Counter)  # what happened how often, to see that enough did
    problems: list[str] = field(default_factory=list)

    def note(self, problem: str) -> None:
        with self.lock:
            self.problems.append(problem)
        self.stop.set()

    def count(self, what: str, times: int = 1) -> None:
        with self.lock:
            self.did[what] += times

    def summary(self) -> str:
        return f"{len(self.sent)} jobs, {dict(self.happened())}"

    def happened(self) -> Counter[str]:
        """What happened how often."""
        ends = Counter({name: sum(getattr(self, name).values()) for name in ("settled", "dead", "retried")})
        return ends + Counter({"canceled": len(self.canceled), "partitions dropped": len(self.dropped)}) + self.did

    def send(self, jobs: Iterable[str]) -> None:
        with self.lock:
            self.sent.update(jobs)
            self.newest.extend(jobs)

    def dead_letters(self) -> list[str]:
        """Those that may be retried: some stay as they are, so that there are dead letters in the end."""
        with self.lock:
            return [job for job, times in self.dead.items() if times > self.retried[job] and job[-1] < "c"]

    def endings(self, job: str) -> int:
        return self.settled[job] + (job in self.canceled) + self.dead[job] - self.retried[job]

    def wrong(self) -> list[str]:
        """Every job that was sent has come to exactly one end, and no delivery was given to two claims."""
        found = [f"{LOST}: {job}" for job in sorted(self.sent) if self.endings(job) == 0]
        found += [f"{STATES}: {self.endings(job)} ends: {job}" for job in sorted(self.sent) if self.endings(job) > 1]
        found += [f"{STATES}: settled {times} times: {job}" for job, times in self.settled.items() if times > 1]
        ended = self.settled.keys() | self.canceled | self.dead.keys()
        found += [f"{GHOST}: {job}" for job in sorted(ended - self.sent)]
        found += [f"{TWICE}: delivery {seq}, {times} times" for seq, times in self.deliveries.items() if times > 1]
        return found

    def statuses(self) -> dict[str, str]:
        """What each job must be now. A success whose partition was dropped must be gone."""
        wanted = dict.fromkeys(self.dead, "DEAD_LETTERED") | dict.fromkeys(self.canceled, "CANCELED")
        wanted |= dict.fromkeys(self.settled, "COMPLETED")
        gone = {job for job, seq in self.last_seq.items() if any(seq in numbers for numbers in self.dropped)}
        return {job: status for job, status in wanted.items() if job not in gone}
