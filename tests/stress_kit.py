"""A crowd that uses the store's SQL at once, and a record of what each of them saw.

Everything random comes from the seed; what the threads make of it differs from run to run, which is the point.
"""

import json
import random
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from uuid import UUID

import psycopg

QUEUES = ["mail", "billing"]
SHARES = [1, 2]
ENDINGS = ("fail", "release", "lost", "snooze", "suspect")
CLAIM = "select claim, token, n, jobs from pulse.claim(%s, %s, %s, %s, %s)"
SETTLE = "select settled from pulse.settle(%s, %s, %s::bit varying[], %s)"
CLOSE = "select pulse.close(%s, %s, %s::int[], %s, %s::bigint[], %s, %s::bigint[])"
REGISTER = "select pulse.register_executor('stress', 'here', 'boot', 1)"
ENQUEUE = "select pulse.enqueue(kind => 'k', queue => %s, priority => %s, run_at => %s::timestamptz)"

Connection = psycopg.Connection[tuple[object, ...]]


class Seen:
    """What was seen, by id. `sent` is what producers committed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.sent: set[str] = set()
        self.settled: Counter[str] = Counter()
        self.canceled: set[str] = set()
        self.problems: list[str] = []

    def unfinished(self) -> set[str]:
        """Jobs that must still come to an end."""
        with self.lock:
            return self.sent - set(self.settled) - self.canceled


def problems_of(dsn: str, *, seed: int, seconds: float) -> list[str]:
    """What was wrong after the crowd has gone; nothing is what we want."""
    seen = Crowd(dsn, seed=seed, seconds=seconds).run(producers=4, claimers=4)
    found = list(seen.problems)
    settled, canceled = set(seen.settled), seen.canceled
    found += [f"lost: {job}" for job in sorted(seen.sent - settled - canceled)]
    found += [f"settled {times} times: {job}" for job, times in seen.settled.items() if times > 1]
    found += [f"canceled and settled: {job}" for job in sorted(settled & canceled)]
    found += [f"never sent: {job}" for job in sorted(settled - seen.sent)]
    with psycopg.connect(dsn, autocommit=True) as connection:
        found += _wrong_statuses(
            connection, {**dict.fromkeys(settled, "COMPLETED"), **dict.fromkeys(canceled, "CANCELED")}
        )
    assert len(settled) > 100 * seconds, "too little happened to prove anything"
    return found


def _wrong_statuses(connection: Connection, wanted: dict[object, str]) -> list[str]:
    try:
        rows = connection.execute("select id::text, status from pulse.jobs").fetchall()
    except psycopg.Error as error:
        return [f"pulse.jobs cannot be read: {error}"]
    found = [f"{job} is {status}, not {wanted.get(job)}" for job, status in rows if wanted.get(job) != status]
    if len(rows) != len(wanted):
        found.append(f"pulse.jobs has {len(rows)} rows for {len(wanted)} jobs")
    left = connection.execute("select count(*) from pulse.lease").fetchone()
    return found if left == (0,) else [*found, f"{left} leases are left"]


class Crowd:
    """`run` lets producers and claimers work for `seconds`, then drains what is left; `seen` tells what happened."""

    def __init__(self, dsn: str, *, seed: int, seconds: float) -> None:
        self._dsn = dsn
        self._seed = seed
        self._until = time.monotonic() + seconds
        self._drained = threading.Event()
        self.seen = Seen()

    def run(self, *, producers: int, claimers: int) -> Seen:
        """Everything, and then whatever was lost on the way."""
        making = [self._thread(self._produce, n) for n in range(producers)]
        taking = [self._thread(self._claim, n) for n in range(claimers)]
        taking += [self._thread(self._keep_up, 0), self._thread(self._cancel, 0)]
        for each in making:
            each.join()
        self._drained.set()
        for each in taking:
            each.join()
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            self._drain(connection)
        return self.seen

    def _thread(self, what: Callable[[Connection, random.Random, int], None], number: int) -> threading.Thread:
        def body() -> None:
            try:
                with psycopg.connect(self._dsn, autocommit=True) as connection:
                    what(connection, random.Random(f"{self._seed} {what.__name__} {number}"), number)
            except Exception:
                self.seen.problems.append(traceback.format_exc())

        thread = threading.Thread(target=body)
        thread.start()
        return thread

    def _produce(self, connection: Connection, dice: random.Random, number: int) -> None:
        """Transactions with delays, savepoints and rollbacks; the first producer keeps its own open for long."""
        while time.monotonic() < self._until:
            ids: list[str] = []
            kept = dice.random() > 0.15
            with connection.transaction(force_rollback=not kept):
                for _ in range(dice.randint(1, 6)):
                    ids += self._some(connection, dice)
                    if dice.random() < 0.3:
                        time.sleep(dice.random() * (0.7 if number == 0 else 0.01))
            if kept:
                with self.seen.lock:
                    self.seen.sent.update(ids)

    def _some(self, connection: Connection, dice: random.Random) -> list[str]:
        queue, priority = dice.choice(QUEUES), dice.choice([0, 0, 0, 5, -3])
        if dice.random() < 0.2:
            return self._many(connection, dice.randint(1, 30), queue, priority)
        kept = dice.random() > 0.1
        with connection.transaction(force_rollback=not kept):
            run_at = self._soon(connection) if dice.random() < 0.1 else None
            row = connection.execute(ENQUEUE, (queue, priority, run_at)).fetchone()
        assert row
        return [str(row[0])] if kept else []

    def _many(self, connection: Connection, count: int, queue: str, priority: int) -> list[str]:
        values = (["k"] * count, ["{}"] * count, [queue] * count, [priority] * count, [None] * count)
        ids = "array(select pulse.uuid7() from generate_series(1, %s))"
        call = f"select pulse.enqueue_many({ids}, %s, %s, %s, %s::smallint[], %s::json[])"
        row = connection.execute(call.encode(), (count, *values)).fetchone()
        assert row
        assert isinstance(row[0], list)
        return [str(each) for each in row[0]]

    def _soon(self, connection: Connection) -> object:
        row = connection.execute("select pulse.now() + interval '30 ms'").fetchone()
        assert row
        return row[0]

    def _claim(self, connection: Connection, dice: random.Random, _: int) -> None:
        executor, request = self._register(connection), 0
        while not self._drained.is_set():
            request += 1
            if dice.random() < 0.005:  # dies without a word, and is reaped
                connection.execute("select pulse.reap(%s, 0)", (executor,))
                executor = self._register(connection)
            slots = dice.choice([1, 3, 10, 100])
            batches = self._batches(connection, executor, request, slots)
            if batches and dice.random() < 0.05:
                again = self._batches(connection, executor, request, slots)
                assert [each[:3] for each in again] == [each[:3] for each in batches], "asked again, another batch"
            for batch in batches:
                if dice.random() > 0.03:  # else the jobs are lost with their executor
                    self._work(connection, dice, *batch)
            if not batches:
                time.sleep(0.001)
        connection.execute("select pulse.reap(%s, 0)", (executor,))

    def _register(self, connection: Connection) -> int:
        row = connection.execute(REGISTER).fetchone()
        assert row
        assert isinstance(row[0], int)
        return row[0]

    def _batches(
        self, connection: Connection, executor: int, request: int, slots: int
    ) -> list[tuple[int, UUID, int, list[str]]]:
        found = []
        for claim, token, count, jobs in connection.execute(
            CLAIM, (executor, request, QUEUES, SHARES, slots)
        ).fetchall():
            if claim is None:
                continue  # busy
            assert isinstance(claim, int)
            assert isinstance(token, UUID)
            text = jobs or connection.execute("select pulse.fetch(%s, %s)", (claim, token)).fetchall()[0][0]
            ids = [job[0] for job in json.loads(str(text))]
            assert len(ids) == count
            found.append((claim, token, len(ids), ids))
        return found

    def _work(
        self, connection: Connection, dice: random.Random, claim: int, token: UUID, count: int, ids: list[str]
    ) -> None:
        bad = [position for position in range(count) if dice.random() < 0.05]
        mask = "".join("0" if position in bad else "1" for position in range(count))
        good = mask.count("1")
        if good:
            self._settle(connection, claim, token, mask, ids)
            if dice.random() < 0.1:
                row = connection.execute(SETTLE, ([claim], [token], [mask], [5] * good)).fetchone()
                assert row == (0,), "a repeated settle took effect"
        if bad:
            size = len(bad)
            endings, delays = [dice.choice(ENDINGS) for _ in bad], [dice.choice([0, 5, 50]) for _ in bad]
            values = ([claim] * size, [token] * size, bad, endings, delays, ["x"] * size, [1] * size)
            assert connection.execute(CLOSE, values).fetchone() == (size,)

    def _settle(self, connection: Connection, claim: int, token: UUID, mask: str, ids: list[str]) -> None:
        good = mask.count("1")
        row = connection.execute(SETTLE, ([claim], [token], [mask], [5] * good)).fetchone()
        assert row == (good,), f"{row} of {good} settled"
        with self.seen.lock:
            self.seen.settled.update(job for job, bit in zip(ids, mask, strict=True) if bit == "1")

    def _keep_up(self, connection: Connection, _: random.Random, __: int) -> None:
        while not self._drained.is_set():
            connection.execute("select pulse.discover()")
            connection.execute("select pulse.promote(1000)")
            time.sleep(0.01)

    def _cancel(self, connection: Connection, dice: random.Random, _: int) -> None:
        """Cancel jobs that may be in any state; whatever the store answers must turn out to be true."""
        while not self._drained.is_set():
            time.sleep(0.01)
            if waiting := list(self.seen.unfinished()):
                job = dice.choice(waiting)
                try:
                    row = connection.execute("select pulse.cancel(%s)", (job,)).fetchone()
                except psycopg.Error as error:
                    if error.sqlstate != "PU409":  # settled meanwhile, and our record is behind
                        raise
                    continue
                if row == ("CANCELED",):
                    with self.seen.lock:
                        self.seen.canceled.add(job)

    def _drain(self, connection: Connection) -> None:
        executor, end = self._register(connection), time.monotonic() + 30
        for request in range(1, 1_000_000):
            connection.execute("select pulse.discover()")
            connection.execute("select pulse.promote(10000)")
            batches = self._batches(connection, executor, request, 500)
            for claim, token, count, ids in batches:
                self._settle(connection, claim, token, "1" * count, ids)
            later = connection.execute("select count(*) from pulse.delayed").fetchone()
            if (not batches and later == (0,)) or time.monotonic() > end:
                return
