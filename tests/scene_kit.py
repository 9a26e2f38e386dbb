"""A database, a producer and a history on which runtimes are started and hurt; what system tests ask about them."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
from checker.check import check
from checker.database import read_database
from checker.history import Database, Run, read_history
from checker.producer import Producer
from checker.record import Recorder
from embedded_kit import ask, eventually
from faults.proxy import FaultProxy
from runtime_kit import Flags, Runtime

ACTORS = ("claimer-1", "reporter-1", "heartbeat-1", "scheduler-1", "watchdog-1", "executor-1")
SHORT: dict[str, Any] = {"lease": "2s", "beat": "0.2s"}
"""Flags for tests that wait for a lease to lapse."""
BOOT_S = 20.0


class Scene:
    """`problems` is what the checker finds wrong with everything that happened."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self.dsn = dsn
        self.folder = folder
        self.file = folder / "history.jsonl"
        self.producer = Producer(dsn, Recorder(self.file))
        self.gate = folder / "go on"
        self._kept: psycopg.Connection[Any] | None = None

    def close(self) -> None:
        if self._kept:
            self._kept.close()

    def ask(self, question: str) -> Any:
        """The first value of the answer, over a connection that is kept: whoever polls with new ones, as the global
        `ask` makes them, keeps half a core busy. A question may be asked twice: nothing that changes anything, please.
        """
        for _ in range(2):
            if self._kept is None or self._kept.closed:
                self._kept = psycopg.connect(self.dsn, autocommit=True)
            with contextlib.suppress(psycopg.OperationalError):  # the server was restarted since
                row = self._kept.execute(question.encode()).fetchone()
                return row and row[0]
        return ask(self.dsn, question)

    def runtime(self, *, through: FaultProxy | None = None, args: Sequence[str] = (), **flags: object) -> Runtime:
        told = Flags(**{"executors": 2, **flags})  # type: ignore[arg-type]
        return Runtime(self.dsn if through is None else through.dsn, flags=told, args=args, history=self.file)

    @contextlib.contextmanager
    def flow(self, *, ms: float = 20.0, count: int = 5, every_s: float = 0.05) -> Iterator[None]:
        """Jobs keep coming while the block runs; those whose commit was not acknowledged are recorded as unsure."""
        over = threading.Event()

        def send() -> None:
            while not over.wait(every_s):
                self.producer.send("work", {"ms": ms}, count=count)

        thread = threading.Thread(target=send, name="flow of jobs")
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def hold(self, count: int) -> list[str]:
        """Jobs that run until `gate.touch()`: however slow the machine, they have not ended when a test looks."""
        return self.producer.send("hold", {"path": str(self.gate)}, count=count)

    def all_run(self, count: int, *, within_s: float = 10.0) -> bool:
        """So many handlers have begun."""
        return eventually(lambda: len(self.runs()) == count, within_s=within_s)

    def in_flight(self) -> int:
        return int(self.ask("select coalesce(sum(bit_count(open)), 0) from pulse.lease"))

    def flies(self, least: int, *, within_s: float = 10.0) -> bool:
        """So many jobs are in flight now."""
        return eventually(lambda: self.in_flight() >= least, within_s=within_s)

    def held_by(self, runtime: Runtime, child: str) -> int:
        """How many jobs that executor of the runtime holds now."""
        ids = [line["executor"] for line in said(runtime, "registered") if line["child"] == child]
        question = "select coalesce(sum(bit_count(open)), 0) from pulse.lease where executor = {}"
        return int(self.ask(question.format(ids[-1]))) if ids else 0

    def completes(self, job: str, *, within_s: float) -> bool:
        question = f"select status from pulse.get('{job}')"
        return eventually(lambda: self.ask(question) == "COMPLETED", within_s=within_s)

    def runs(self) -> Sequence[Run]:
        """What handlers recorded so far."""
        return read_history(self.file, Database()).runs

    def unfinished(self) -> int:
        statuses = "'COMPLETED', 'DEAD_LETTERED', 'CANCELED'"
        return int(self.ask(f"select count(*) from pulse.jobs where status not in ({statuses})"))

    def finishes(self, within_s: float) -> bool:
        return eventually(lambda: self.unfinished() == 0, within_s=within_s)

    def endings(self) -> list[str]:
        """How deliveries ended that did not succeed, each kind once."""
        return list(self.ask("select coalesce(array_agg(distinct ending order by ending), '{}') from pulse.failure"))

    def most_charged(self) -> int:
        return int(self.ask("select coalesce(max(charged), 0) from pulse.jobs"))

    def problems(self) -> list[str]:
        return check(read_history(self.file, read_database(self.dsn)))


def freeze(runtime: Runtime, number: signal.Signals) -> None:
    """SIGSTOP or SIGCONT to every process, as a host's pause does."""
    for pid in runtime.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def descriptors(runtime: Runtime) -> dict[str, int]:
    """How many each process has open."""
    return {actor: len(list(Path(f"/proc/{pid}/fd").iterdir())) for actor, pid in runtime.pids().items()}


def said(runtime: Runtime, event: str) -> list[dict[str, object]]:
    """Every line of this event so far."""
    return [line for line in runtime.log.lines if line.get("event") == event]
