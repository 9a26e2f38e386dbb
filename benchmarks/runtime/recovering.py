"""What is measured when something dies: when its jobs run again, and when the rate is what it was."""

import bisect
import contextlib
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import psycopg

from benchmarks.runtime.draining import QUEUE
from benchmarks.store.cluster import SETTINGS, connected
from pulse_loadgen.load import Kind
from pulse_loadgen.stamps import Stamps
from pulse_loadgen.tree import Shape, Tree, until
from pulse_runtime.embedded import Server
from pulse_runtime.store.connect import connect
from pulse_runtime.store.migrate import migrate

AGAIN_S = 60.0
BEFORE_S = 2.0
AFTER_S = 4.0
WINDOW_S = 0.25
FULL = 0.95
OUTCOMES = (
    "select extract(epoch from at)::float8, bit_count(mask) from pulse.done where at >= to_timestamp(%s) order by at"
)


def sleeping(ms: float) -> Kind:
    """Jobs that take so long, and next to no processor."""
    return Kind(queue=QUEUE, kind="loadgen.sleep", args={"ms": ms})


def running_on(noted: Stamps, pids: Sequence[int]) -> list[int]:
    """The jobs that those processes have started and not ended."""
    rows = zip(noted.column("pid"), noted.column("last_ns"), noted.column("ended_ns"), strict=True)
    return [n for n, (pid, started, ended) in enumerate(rows) if started > ended and pid in pids]


def wait_for_running(noted: Stamps, pids: Sequence[int], least: int) -> None:
    until(
        lambda: len(running_on(noted, pids)) >= least,
        within_s=AGAIN_S,
        what=f"{least} jobs in flight on {pids}",
        every_s=0.002,
    )


def executors_of(tree: Tree) -> dict[str, int]:
    """Process ids of those that are there."""
    return {actor: pid for actor, pid in tree.actors().items() if actor.startswith("executor")}


def again_s(noted: Stamps, jobs: Sequence[int], since_ns: int) -> float:
    """How long it took, from then on, until each of these jobs had started once more."""
    if not jobs:
        raise RuntimeError("nothing was in flight at the kill: that measures nothing")
    until(
        lambda: all(noted[n].last_ns > since_ns for n in jobs),
        within_s=AGAIN_S,
        what=f"{len(jobs)} jobs to run again",
        every_s=0.005,
    )
    return (max(noted[n].last_ns for n in jobs) - since_ns) / 1e9


class Outcomes(NamedTuple):
    """When jobs became durable outcomes: the end of each transaction, and how many until then."""

    moments: list[float]
    counts: list[int]

    @classmethod
    def read(cls, dsn: str, since: float) -> "Outcomes":
        moments, counts, total = [], [0], 0
        with connected(dsn) as connection:
            for moment, count in connection.execute(OUTCOMES, (since,)).fetchall():
                total += int(count)
                moments.append(float(moment))
                counts.append(total)
        return cls(moments, counts)

    def rate(self, start: float, end: float) -> float:
        """Jobs per second between two moments."""
        first, last = bisect.bisect_left(self.moments, start), bisect.bisect_left(self.moments, end)
        return (self.counts[last] - self.counts[first]) / (end - start)

    def full_again_s(self, fault: float, since: float) -> float:
        """From `since` on, how long until a quarter of a second began that had 95 % of the rate before the fault."""
        before = self.rate(fault - BEFORE_S, fault)
        if not before:
            raise RuntimeError("there was no rate before the fault")
        step = 0.01
        for number in range(int(AGAIN_S / step)):
            start = since + number * step
            if start + WINDOW_S > self.moments[-1]:
                break
            if self.rate(start, start + WINDOW_S) >= FULL * before:
                return number * step
        raise RuntimeError(f"the rate of {before:.0f} jobs/s did not come back")


def actor_killed_s(dsn: str, tree: Tree, actor: str) -> float:
    """Kill it under load; how long until the rate is full."""
    time.sleep(BEFORE_S + WINDOW_S)
    fault = time.time()
    tree.kill(actor)
    time.sleep(AFTER_S)
    return Outcomes.read(dsn, fault - BEFORE_S - WINDOW_S).full_again_s(fault, fault)


@contextlib.contextmanager
def own_server() -> Iterator[tuple[Server, str]]:
    """A durable server that a row may restart, and the DSN of a database with our schema."""
    folder = Path(tempfile.mkdtemp(prefix="pulse-bench-"))
    server = Server(folder / "home", settings=SETTINGS)
    try:
        with server as dsn:
            with connect(dsn, actor="benchmark") as connection:
                migrate(connection)
            yield server, dsn
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def restarted_s(server: Server, dsn: str, *, immediate: bool) -> float:
    """Restart it under load; how long from the first connection that it accepts until the rate is full."""
    time.sleep(BEFORE_S + WINDOW_S)
    fault = time.time()
    accepted: list[float] = []
    pid = server.postmaster_pid
    if pid is None:
        raise RuntimeError("the server that was to be restarted is gone")
    os.kill(pid, signal.SIGQUIT if immediate else signal.SIGINT)
    until(lambda: server.postmaster_pid is None, within_s=AGAIN_S, what="the end of the server")
    watcher = threading.Thread(target=lambda: accepted.append(_accepted(dsn)), daemon=True)
    watcher.start()
    server.start()
    watcher.join()
    time.sleep(AFTER_S + WINDOW_S)
    return Outcomes.read(dsn, fault - BEFORE_S - WINDOW_S).full_again_s(fault, accepted[0])


def _accepted(dsn: str) -> float:
    """When it let somebody in."""
    while True:
        try:
            psycopg.connect(dsn, connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.005)
        else:
            return time.time()


def shape(name: str, *, executors: int, concurrency: int, **flags: str) -> Shape:
    return Shape(name=name, executors=executors, concurrency=concurrency, flags=flags)
