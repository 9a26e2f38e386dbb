"""The history checker on a real database: what it reads is what the statements did, and damage is reported."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from checker.check import check
from checker.database import read_database
from checker.history import History, read_history
from checker.producer import Producer
from checker.record import Recorder
from faults.proxy import COMMIT, FaultProxy
from fix_cluster import Connection
from store_kit import Batch, Store

ENDINGS = ("done", "fail", "crash", "lost", "suspect", "snooze", "release", "put_off", "dead", "cancel")


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path / "history")


@pytest.fixture
def read(dsn: str, tmp_path: Path) -> Callable[[], History]:
    return lambda: read_history(tmp_path / "history", read_database(dsn))


class Executor:
    """Runs what it claims as told, and records it as a handler would."""

    def __init__(self, store: Store, recorder: Recorder) -> None:
        self._store, self._recorder = store, recorder

    def run(self, plan: dict[str, str]) -> None:
        """By job: how it ends. Whoever is not mentioned succeeds."""
        for batch in self._store.claim():
            endings = [plan.get(job[0], "done") for job in batch.jobs]
            for job, ending in zip(batch.jobs, endings, strict=True):
                self._handle(job[0], job[3], ending)
            self._report(batch, endings)

    def _handle(self, job: str, attempt: int, ending: str) -> None:
        if ending in {"release", "put_off"}:
            return
        self._recorder.write("start", id=job, attempt=attempt)
        if ending not in {"crash", "lost", "suspect"}:
            self._recorder.write("end", id=job, attempt=attempt, outcome="ok" if ending == "done" else "raised")

    def _report(self, batch: Batch, endings: list[str]) -> None:
        self._store.settle(batch, "".join("1" if ending == "done" else "0" for ending in endings))
        for position, ending in enumerate(endings):
            if ending != "done":
                self._store.close(batch, ending, position=position)


@pytest.fixture
def executor(connection: Connection, recorder: Recorder) -> Executor:
    return Executor(Store(connection), recorder)


def test_every_ending_passes_at_every_moment(
    dsn: str, connection: Connection, recorder: Recorder, executor: Executor, read: Callable[[], History]
) -> None:
    jobs = Producer(dsn, recorder).send("k", count=len(ENDINGS))
    assert check(read()) == []
    for _ in range(2):
        executor.run(dict(zip(jobs, ENDINGS, strict=True)))
        assert check(read()) == []
        connection.execute("select pulse.promote(100)")
    Producer(dsn, recorder).retry(jobs[ENDINGS.index("dead")])
    executor.run({})
    history = read()
    assert check(history) == []
    assert {each.status for each in history.database.jobs} == {"COMPLETED", "CANCELED"}


def test_jobs_that_are_held_are_running(
    dsn: str, connection: Connection, recorder: Recorder, read: Callable[[], History]
) -> None:
    Producer(dsn, recorder).send("k", {"ms": 1}, count=3, priority=5)
    Store(connection).claim(2)
    history = read()
    assert check(history) == []
    assert (len(history.database.open), len(history.database.deliveries)) == (2, 2)


@pytest.mark.parametrize(
    ("damage", "report"),
    [
        ("delete from pulse.done", "lost"),
        ("delete from pulse.lease", "lost"),
        ("insert into pulse.done select * from pulse.done", "settled 2 times"),
        ("delete from pulse.failure where ending = 'fail'", "attempts with gaps"),
        ("update pulse.failure set charged = 1 where ending = 'lost'", "charged 1 in place of 0"),
        ("insert into pulse.failure select id, 1, 0, 'lost', 1, 1, now() from pulse.log limit 1", "2 fates"),
    ],
)
def test_damage_is_reported(
    dsn: str,
    connection: Connection,
    recorder: Recorder,
    executor: Executor,
    read: Callable[[], History],
    damage: str,
    report: str,
) -> None:
    jobs = Producer(dsn, recorder).send("k", count=3)
    executor.run({jobs[1]: "fail", jobs[2]: "lost"})
    Store(connection).claim()
    assert check(read()) == []
    connection.execute(damage.encode())
    assert any(problem.startswith(report) for problem in check(read())), check(read())


def test_a_producer_whose_commit_was_swallowed_is_unsure_and_the_job_is_there(
    dsn: str, recorder: Recorder, read: Callable[[], History]
) -> None:
    with FaultProxy(dsn) as proxy:
        trap = proxy.swallow(COMMIT)
        assert Producer(proxy.dsn, recorder).send("k") == []
        assert trap.wait(within_s=5.0).is_committed
    history = read()
    assert history.unsure == tuple(job.id for job in history.database.jobs)
    assert check(history) == []


def test_a_statement_of_the_store_is_carried_out_when_its_reply_is_swallowed(
    dsn: str, recorder: Recorder, read: Callable[[], History]
) -> None:
    (job,) = Producer(dsn, recorder).send("k")
    with FaultProxy(dsn) as proxy:
        with psycopg.connect(proxy.dsn, autocommit=True) as connection:
            store, trap = Store(connection), proxy.swallow("pulse.claim(")
            with pytest.raises(psycopg.OperationalError):
                store.claim()
        assert trap.wait(within_s=5.0).is_committed
    history = read()
    assert [each.id for each in history.database.deliveries] == [job]
    assert check(history) == []
