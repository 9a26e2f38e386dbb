"""Those who enqueue, and those who change a job's fate from outside."""

import random
import time
from uuid import UUID, uuid4

import psycopg
from psycopg.pq import TransactionStatus
from stress.line import Line
from stress.record import LOST, Seen, require

from pulse_runtime.ids import uuid7

QUEUES = ["mail", "mail", "billing"]
PRIORITIES = [*[0, 0, 0, 5, -3] * 40, *range(-10, 11)]  # some lanes are rare, and forgotten in between
ENQUEUE = (
    "select pulse.enqueue(kind => 'k', id => %s, queue => %s, priority => %s, max_attempts => %s, key => %s,"
    " run_at => case when %s then pulse.now() + interval '30 ms' end)"
)
ENQUEUE_MANY = "select pulse.enqueue_many(%s, %s, %s, %s, %s::smallint[], %s::json[])"
LONG_S, SHORT_S = 0.7, 0.01


class Producer:
    """Transactions with delays, savepoints and rollbacks; the first producer keeps its own open for long."""

    def __init__(self, line: Line, dice: random.Random, seen: Seen, number: int) -> None:
        self._line, self._dice, self._seen = line, dice, seen
        self._delay_s = LONG_S if number == 0 else SHORT_S
        self._turns = [1] if number % 2 else [1, 2, 3, 4, 5]

    def step(self) -> None:
        mark, kept, ids = uuid4(), self._dice.random() > 0.15, set[str]()
        key = f"key {self._dice.randrange(6)}" if self._dice.random() < 0.3 else None
        known, began = False, time.monotonic()
        with self._line.surviving():
            with self._line.connection.transaction(force_rollback=not kept):
                for turn in range(self._dice.choice(self._turns)):
                    ids |= self._some(key if turn == 0 else None)  # one key at most: two could deadlock
                    self._pause()
                self._line.witness(mark)
            known = True
        if kept and (known or self._line.was_committed(mark)):
            self._seen.send(ids)
            self._seen.count("long transactions", time.monotonic() - began > LONG_S / 2)
        else:
            self._seen.count("commits cut off" if kept else "rolled back")
        # So that claimers catch up, as a deep backlog hides mistakes, and partitions can be dropped between long ones.
        self._seen.stop.wait(self._dice.random() * self._delay_s)

    def _pause(self) -> None:
        if self._dice.random() < 0.5:
            self._seen.stop.wait(self._dice.random() * self._delay_s)

    def _some(self, key: str | None) -> set[str]:
        queue, priority = self._dice.choice(QUEUES), self._dice.choice(PRIORITIES)
        if key is None and self._dice.random() < 0.2:
            return self._many(self._dice.randint(1, 30), queue, priority)
        kept, job = self._dice.random() > 0.1, str(uuid7())
        budget, later = self._dice.choice([1, 2, 25, 25]), self._dice.random() < 0.1
        with self._line.connection.transaction(force_rollback=not kept):
            row = self._line.connection.execute(ENQUEUE, (job, queue, priority, budget, key, later)).fetchone()
        assert row
        self._seen.count("savepoints kept" if kept else "savepoints rolled back")
        if str(row[0]) != job:
            self._seen.count("key was taken")
            return set()
        return {job} if kept else set()

    def _many(self, count: int, queue: str, priority: int) -> set[str]:
        ids = [uuid7() for _ in range(count)]
        values = (ids, ["k"] * count, ["{}"] * count, [queue] * count, [priority] * count, [None] * count)
        row = self._line.connection.execute(ENQUEUE_MANY, values).fetchone()
        assert row == (ids,)
        return {str(each) for each in ids}


class Volley:
    """Transactions in one lane, begun in one order and ended in another: most are overtaken, by younger ones."""

    def __init__(self, line: Line, dice: random.Random, seen: Seen, _: int) -> None:
        self._dice, self._seen = dice, seen
        self._lines = [line.another() for _ in range(4)]

    def step(self) -> None:
        opened = [(line, *self._begin(line)) for line in self._lines]
        self._dice.shuffle(opened)
        for line, mark, job in opened:
            self._end(line, mark, job)
            self._seen.stop.wait(self._dice.random() * 0.003)

    def _begin(self, line: Line) -> tuple[UUID, str]:
        mark, job = uuid4(), str(uuid7())
        with line.surviving():
            line.connection.execute("begin")
            line.connection.execute(ENQUEUE, (job, QUEUES[0], 0, 25, None, False))
            line.witness(mark)
        return mark, job

    def _end(self, line: Line, mark: UUID, job: str) -> None:
        known, how = False, b"rollback" if self._dice.random() < 0.1 else b"commit"
        if line.connection.info.transaction_status == TransactionStatus.INTRANS:  # else it was lost before
            with line.surviving():
                line.connection.execute(how)
                known = True
        if how == b"commit" and (known or line.was_committed(mark)):
            self._seen.send([job])


class Meddler:
    """Cancels, moves and retries jobs that may be in any state; whatever the store answers must turn out to be true."""

    def __init__(self, line: Line, dice: random.Random, seen: Seen, _: int) -> None:
        self._line, self._dice, self._seen = line, dice, seen

    def step(self) -> None:
        self._seen.stop.wait(0.003)
        act = self._dice.choice([self._cancel, self._cancel, self._move, self._retry])
        with self._seen.lock:
            jobs = list(self._seen.newest)  # on their way to a claim
        if act == self._retry:
            jobs = self._seen.dead_letters()
        if not jobs:
            return
        try:
            act(self._dice.choice(jobs))
        except psycopg.Error as error:
            if error.sqlstate != "PU409":  # it went on meanwhile, and our record is behind
                raise

    def _cancel(self, job: str) -> None:
        if self._line.tell("pulse.cancel(%s)", job) == "CANCELED":
            with self._seen.lock:
                self._seen.canceled.add(job)
        else:
            self._seen.count("wishes to cancel")

    def _move(self, job: str) -> None:
        if self._line.tell("pulse.move(%s, %s, %s)", job, self._dice.choice(QUEUES), self._dice.choice([0, 5])):
            self._seen.count("moved")

    def _retry(self, job: str) -> None:
        require(self._line.tell("pulse.retry(%s)", job) == "true", LOST, f"the dead letter {job}")
        with self._seen.lock:
            self._seen.retried[job] += 1
