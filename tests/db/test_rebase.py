"""A database that was dumped and restored elsewhere (trap 2): noticed before anything is lost, and mended."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from fix_cluster import Connect, Connection
from store_kit import Store

from pulse_runtime.embedded import Server, find_binaries
from pulse_runtime.store import connect as store_connect
from pulse_runtime.store.rebase import LogInUse, Rebased, Restored, rebase, require_own_xids

PROGRAM = Path(sys.executable).with_name("pulse-runtime")


class Lived:
    """A store with a job in every state."""

    def __init__(self, store: Store) -> None:
        self.done = [store.enqueue() for _ in range(3)]
        (batch,) = store.claim()
        store.settle(batch)
        self.dead = store.enqueue(max_attempts=1)
        (batch,) = store.claim()
        store.close(batch, "fail")
        self.canceled = store.enqueue()
        store.ask("select pulse.cancel(%s)", self.canceled)
        self.moved = store.enqueue()
        store.ask("select pulse.move(%s, 'elsewhere')", self.moved)
        self.running = store.enqueue(queue="busy", key="one")
        (batch,) = store.claim(queues=("busy",))
        self.delayed = store.enqueue(run_at="2100-01-01T00:00:00Z")
        self.waiting = [store.enqueue() for _ in range(5)]

    def statuses(self, store: Store) -> dict[str, set[str]]:
        groups = {"done": self.done, "waiting": self.waiting}
        for name in ("dead", "canceled", "moved", "running", "delayed"):
            groups[name] = [getattr(self, name)]
        return {name: {store.status(job) for job in jobs} for name, jobs in groups.items()}


def burn_xids(connection: Connection, count: int) -> None:
    connection.execute(
        f"do $$ begin for i in 1..{count} loop perform pg_current_xact_id(); commit; end loop; end $$".encode()
    )


@pytest.fixture
def restored(connection: Connection, dsn: str, home: Path) -> Iterator[tuple[Lived, str]]:
    """A store that lived on the tests' server, dumped and restored to one that has used far fewer transactions."""
    burn_xids(connection, 5000)
    lived = Lived(Store(connection))
    tools = find_binaries().folder
    dumped = subprocess.run([tools / "pg_dump", "--no-owner", dsn], capture_output=True, check=True)
    with Server(home, durable=False) as elsewhere:
        with psycopg.connect(elsewhere, autocommit=True) as there:
            (version,) = there.execute("select pg_current_xact_id()::text::bigint").fetchall()
            assert version[0] < 5000, "the other server is too far ahead to show anything"
        subprocess.run([tools / "psql", "-q", "-v", "ON_ERROR_STOP=1", elsewhere], input=dumped.stdout, check=True)
        yield lived, elsewhere


def test_a_restored_database_is_refused_until_it_is_rebased_and_then_nothing_is_lost(
    restored: tuple[Lived, str],
) -> None:
    lived, dsn = restored
    with store_connect.connect(dsn, actor="tests") as connection, pytest.raises(Restored, match="db rebase"):
        require_own_xids(connection)
    runtime = subprocess.run([PROGRAM, "--dsn", dsn, "--handlers", "json"], capture_output=True, text=True, timeout=60)
    assert (runtime.returncode != 0, "db rebase" in runtime.stderr) == (True, True), "it must not start"
    said = subprocess.run([PROGRAM, "--dsn", dsn, "db", "rebase", "--yes"], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert "7 jobs wait again, 1 of which were running; 3 are completed" in said.stderr
    with store_connect.connect(dsn, actor="tests") as connection:
        require_own_xids(connection)
        store = Store(connection)
        assert lived.statuses(store) == {
            "done": {"COMPLETED"}, "waiting": {"PENDING"}, "dead": {"DEAD_LETTERED"}, "canceled": {"CANCELED"},
            "moved": {"PENDING"}, "running": {"PENDING"}, "delayed": {"PENDING"},
        }  # fmt: skip
        later = store.enqueue()
        claimed = {batch.claim: [job[0] for job in batch.jobs] for batch in store.claim(queues=("default",))}
        assert list(claimed.values()) == [[str(job) for job in [*lived.waiting, later]]], "in the old order"
        (busy,) = store.claim(queues=("busy",))
        assert busy.jobs[0][:1] + busy.jobs[0][3:5] == [str(lived.running), 2, 0], "a new attempt, not charged"
        assert store.enqueue(queue="busy", key="one") == lived.running, "its key is still its own"
    again = subprocess.run([PROGRAM, "--dsn", dsn, "db", "rebase", "--yes"], capture_output=True, text=True)
    assert "nothing to do" in again.stderr


def test_without_the_rebase_jobs_would_be_lost(restored: tuple[Lived, str]) -> None:
    """What the refusal is for; if this ever fails, the refusal is not needed any more."""
    _, dsn = restored
    with store_connect.connect(dsn, actor="tests") as connection:
        store = Store(connection)
        later = store.enqueue()
        claimed = [job[0] for _ in range(3) for batch in store.claim() for job in batch.jobs]
        assert str(later) not in claimed


def test_a_store_that_stayed_where_it_was_has_nothing_foreign(connection: Connection, connect: Connect) -> None:
    Lived(Store(connection))
    writer = connect(autocommit=False)
    writer.execute("select pulse.enqueue(kind => 'k')")
    with store_connect.connect(connection.info.dsn, actor="tests") as ours:
        require_own_xids(ours)
    with connection.transaction():
        connection.execute("select pulse.enqueue(kind => 'k')")
        assert connection.execute("select count(*) from pulse.foreign_xids()").fetchone() == (0,)
    writer.rollback()


def test_a_rebase_wants_the_log_alone_and_changes_nothing_otherwise(connection: Connection, connect: Connect) -> None:
    store = Store(connection)
    job: UUID = store.enqueue()
    writer = connect(autocommit=False)
    writer.execute("select pulse.enqueue(kind => 'k')")
    with store_connect.connect(connection.info.dsn, actor="tests") as ours:
        with pytest.raises(LogInUse, match="pg_stat_activity"):
            rebase(ours)
        writer.rollback()
        assert rebase(ours) == Rebased(pending=1, running=0, completed=0)
    assert store.status(job) == "PENDING"
