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
from stress.claimers import ENDINGS, Claimer, Reaper
from stress.keeper import RESUME, Keeper, Sweeper, narrow
from stress.line import WITNESS, Line
from stress.producers import Meddler, Producer, Volley
from stress.record import FAILED, LITTLE, Seen, WrongError

DRAIN_S = 30.0
# What every run must have met, each at least once.
ALL = (
    "rolled back", "savepoints kept", "savepoints rolled back", "long transactions", "claims of late jobs",
    "retried together", "key was taken",
    "stale reports", "repeated settles", "requests repeated", "claims named twice", "follow-ups",
    "deliveries lost with their executor", "promoted", "moved", "canceled", "wishes to cancel", "dead", "retried",
    "dead letters in the end", "pauses", "floors raised", "partitions made", "numbers burnt", "claims pruned",
    *(f"closed: {ending}" for ending in ENDINGS),
)  # fmt: skip
CRASHED = ("connections lost", "commits cut off")  # besides, if the server crashed: in the middle of something


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
    found = crowd.seen.problems or crowd.wrong_in_the_end() or _too_little(crowd.seen, seconds, restarts)
    print(f"seed {seed}: {crowd.seen.summary()}")
    return found


def _too_little(seen: Seen, seconds: float, restarts: int) -> list[str]:
    """A run in which little happened, or in which the claimers never caught up, proves nothing."""
    needed = dict.fromkeys((*ALL, *(CRASHED if restarts else ())), 1.0)
    needed |= {"reaps": 2, "restarts": restarts, "empty polls": seen.did["polls"] / 20, "settled": 50 * seconds}
    needed["partitions dropped"] = seconds / 3  # they are made and dropped only at moments when nobody uses the log
    happened = seen.happened()
    return [f"{LITTLE}: {what}: {happened[what]}" for what, times in needed.items() if happened[what] < times]


class Crowd:
    """`run` lets everybody work for `seconds`; what is left is finished then. `seen` tells what happened."""

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
                self.seen.count("restarts")
        for each in producers:
            each.join()
        self._over.set()
        for each in others:
            each.join()

    def wrong_in_the_end(self) -> list[str]:
        line = Line(self._dsn)
        try:
            self._drain(line)
            return self.seen.wrong() + wrong_at_rest(line, self.seen) + self.seen.problems
        finally:
            line.close()

    def _drain(self, line: Line) -> None:
        """Work off what is left; what cannot be found is not waited for."""
        line.read(RESUME)
        claimer, end = Claimer(line, random.Random(self._seed), self.seen, 0), time.monotonic() + DRAIN_S
        while time.monotonic() < end:
            line.read("select pulse.discover()")
            line.read("select pulse.promote(10000)")
            if batches := claimer.claim(500, 4_194_304):
                claimer.settle(batches, ["1" * len(batch) for batch in batches])
            elif not line.ask("select exists (select from pulse.delayed) or exists (select from pulse.retrying)"):
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
            except WrongError as finding:
                self.seen.note(str(finding))
            except Exception:
                self.seen.note(f"{FAILED}: {traceback.format_exc()}")
            finally:
                self.seen.count("connections lost", line.losses)
                line.close()

        thread = threading.Thread(target=body, name=f"{role.__name__} {number}")
        thread.start()
        return thread
