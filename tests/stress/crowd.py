"""A crowd that uses the store's SQL at once, while the server crashes now and then.

Everything random comes from the seed; what the threads make of it differs from run to run, which is the point.
"""

import random
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Protocol

import psycopg
from stress.audit import Auditor, wrong_at_rest
from stress.claimers import Claimer, Reaper
from stress.keeper import RESUME, Keeper, Sweeper, narrow
from stress.line import WITNESS, Line
from stress.producers import Meddler, Producer, Volley
from stress.record import Seen

DRAIN_S = 30.0
# What every run must have met.
ALL = (
    "stale reports", "repeated settles", "rolled back", "savepoints rolled back", "promoted", "moved", "key was taken",
    "dead", "retried", "canceled", "closed: fail", "closed: snooze", "closed: release", "closed: lost",
)  # fmt: skip


class Member(Protocol):
    """One of the crowd: does one thing after the other until it is told to stop."""

    def step(self) -> None: ...


Role = (
    type[Producer]
    | type[Volley]
    | type[Meddler]
    | type[Claimer]
    | type[Reaper]
    | type[Keeper]
    | type[Sweeper]
    | type[Auditor]
)
PRODUCERS: Sequence[tuple[Role, int]] = ((Producer, 4), (Volley, 2))
OTHERS: Sequence[tuple[Role, int]] = ((Claimer, 5), (Reaper, 1), (Keeper, 1), (Sweeper, 1), (Meddler, 2), (Auditor, 1))


def problems_of(
    dsn: str, *, seed: int, seconds: float, restart: Callable[[], None] | None = None, restarts: int = 0
) -> list[str]:
    """What was wrong: whatever stopped the crowd, or what is found when it has gone; nothing is what we want."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(WITNESS)
        narrow(connection)
    crowd = Crowd(dsn, seed=seed, seconds=seconds)
    crowd.run([restart] * restarts if restart else [])
    seen = crowd.seen
    print(f"seed {seed}: {seen.summary()}")
    if seen.problems:
        return seen.problems
    line = Line(dsn)
    try:
        crowd.drain(line)
        found = seen.wrong() + wrong_at_rest(line, seen) + seen.problems
    finally:
        line.close()
    return found or _too_little(seen, seconds)


def _too_little(seen: Seen, seconds: float) -> list[str]:
    """A run in which little happened, or in which the claimers never caught up, proves nothing."""
    needed = dict.fromkeys(ALL, 1) | {"reaps": 2, "empty polls": seen.did["polls"] // 20}
    happened = seen.happened()
    found = [f"too few {what}: {happened[what]}" for what, times in needed.items() if happened[what] < times]
    if len(seen.dropped) < seconds:
        found.append(f"only {len(seen.dropped)} partitions were dropped")
    if len(seen.settled) < 50 * seconds:
        found.append(f"only {len(seen.settled)} jobs were settled")
    return found


class Crowd:
    """`run` lets everybody work for `seconds`, `drain` finishes what is left; `seen` tells what happened."""

    def __init__(self, dsn: str, *, seed: int, seconds: float) -> None:
        self._dsn = dsn
        self._seed = seed
        self._seconds = seconds
        self._over = threading.Event()
        self.seen = Seen()

    def run(self, restarts: Sequence[Callable[[], None]]) -> None:
        """Return when the time is up, or at the first problem."""
        end = time.monotonic() + self._seconds
        producers = self._threads(PRODUCERS, lambda: time.monotonic() > end)
        others = self._threads(OTHERS, self._over.is_set)
        for restart in restarts:
            if not self.seen.stop.wait(self._seconds / (len(restarts) + 1)):
                restart()
        for each in producers:
            each.join()
        self._over.set()
        for each in others:
            each.join()

    def drain(self, line: Line) -> None:
        """Work off what is left; what cannot be found is not waited for."""
        line.read(RESUME)
        claimer, end = Claimer(line, random.Random(self._seed), self.seen, 0), time.monotonic() + DRAIN_S
        while time.monotonic() < end:
            line.read("select pulse.discover()")
            line.read("select pulse.promote(10000)")
            if batches := claimer.claim(500, 4_194_304):
                claimer.settle(batches, ["1" * len(batch) for batch in batches])
            elif not line.ask("select exists (select from pulse.delayed)"):
                return

    def _threads(self, roles: Sequence[tuple[Role, int]], is_over: Callable[[], bool]) -> list[threading.Thread]:
        return [self._thread(role, number, is_over) for role, many in roles for number in range(many)]

    def _thread(self, role: Role, number: int, is_over: Callable[[], bool]) -> threading.Thread:
        def body() -> None:
            line = Line(self._dsn)
            try:
                member = role(line, random.Random(f"{self._seed} {role.__name__} {number}"), self.seen, number)
                while not is_over() and not self.seen.stop.is_set():
                    member.step()
                if isinstance(member, Claimer):
                    member.finish()
            except Exception:
                self.seen.note(traceback.format_exc())
            finally:
                line.close()

        thread = threading.Thread(target=body, name=f"{role.__name__} {number}")
        thread.start()
        return thread
