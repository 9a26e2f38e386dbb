"""Trap 14 of the design: prepared transactions, savepoints, crashes and a standby keep the argument true."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from cluster_kit import SETTINGS, Cluster
from embedded_kit import ask, end, eventually, is_gone
from fix_cluster import Connect, Connection
from store_kit import Store

from pulse_runtime.embedded import Server, find_binaries
from pulse_runtime.store.connect import connect as connect_as
from pulse_runtime.store.migrate import migrate

ENQUEUE = "select pulse.enqueue(kind => 'k')"


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


def claimed(store: Store) -> list[str]:
    """The jobs of a claim, settled at once."""
    batches = store.claim()
    assert [store.settle(batch) for batch in batches] == [len(batch.jobs) for batch in batches]
    return [job[0] for batch in batches for job in batch.jobs]


def enqueue(connection: Connection) -> str:
    row = connection.execute(ENQUEUE).fetchone()
    assert row
    return str(row[0])


def overtake(store: Store) -> None:
    """Claim jobs that were enqueued after whatever is in progress, often enough to move the floor."""
    for _ in range(5):
        job = str(store.enqueue())
        assert claimed(store) == [job]


def test_a_prepared_transaction_that_was_overtaken_is_claimed_when_it_commits(store: Store, connect: Connect) -> None:
    writer = connect(autocommit=False)
    job = enqueue(writer)
    writer.execute("prepare transaction 'prepared'")
    overtake(store)
    writer.rollback()
    connect().execute("commit prepared 'prepared'")
    assert claimed(store) == [job]
    assert claimed(store) == []


@pytest.mark.parametrize("depth", [1, 100], ids=["few", "more than a snapshot lists"])
def test_jobs_of_savepoints_that_were_overtaken_are_claimed_when_the_whole_commits(
    store: Store, connect: Connect, depth: int
) -> None:
    """A row carries the xid of its whole transaction, whichever savepoint it was written in."""
    writer, kept = connect(autocommit=False), list[str]()
    for number in range(depth):
        writer.execute(f"savepoint kept_{number}".encode())
        kept.append(enqueue(writer))
        writer.execute("savepoint gone")
        enqueue(writer)
        writer.execute("rollback to gone")
    overtake(store)
    writer.commit()
    assert claimed(store) == kept
    overtake(store)


def test_what_was_committed_is_claimed_once_after_a_crash_and_what_was_open_never(
    dsn: str, server: Cluster, connect: Connect
) -> None:
    """The prepared one outlives the crash, the open one does not; both were overtaken."""
    store, prepared, opened = Store(connect()), connect(autocommit=False), connect(autocommit=False)
    enqueue(opened)
    job = enqueue(prepared)
    prepared.execute("prepare transaction 'outlives'")
    overtake(store)
    waiting = str(store.enqueue())
    server.restart(immediate=True)
    store = Store(connect())
    assert claimed(store) == [waiting]
    overtake(store)
    connect().execute("commit prepared 'outlives'")
    assert claimed(store) == [job]
    assert claimed(store) == []


def test_a_standby_promoted_with_transactions_in_flight_loses_nothing(made_home: Path, folder: Path) -> None:
    """The lease that was copied can be settled, the prepared one committed, and new jobs are found."""
    with running(made_home, folder / "first") as first:
        with closing(connect_as(first.dsn, actor="tests")) as connection:
            migrate(connection)
        with running_standby(first, folder / "second") as second:
            job = fail_over(first, second)
            with psycopg.connect(second.dsn, autocommit=True) as connection:
                store = Store(connection)
                assert store.ask("select count(*) from pulse.jobs where status = 'RUNNING'") == 1
                overtake(store)
                connection.execute("commit prepared 'copied'")
                assert claimed(store) == [job]
                overtake(store)
                assert store.ask("select pulse.reap(1, 0)") == 1
                assert len(claimed(store)) == 1


def fail_over(first: Server, second: Server) -> str:
    """Leave one job leased, one in a prepared transaction and one in an open one; the prepared one is told."""
    with (
        closing(psycopg.connect(first.dsn, autocommit=True)) as connection,
        closing(psycopg.connect(first.dsn)) as opened,
    ):
        store = Store(connection)
        with psycopg.connect(first.dsn) as prepared:
            job = enqueue(prepared)
            prepared.execute("prepare transaction 'copied'")
        enqueue(opened)
        overtake(store)
        store.enqueue()
        assert len(store.claim()) == 1
        written = store.ask("select pg_current_wal_flush_lsn()::text")
        replayed = f"select pg_last_wal_replay_lsn() >= '{written}'"
        assert eventually(lambda: ask(second.dsn, replayed) is True, within_s=20.0)
        pid = first.postmaster_pid
        assert pid
        os.kill(pid, signal.SIGQUIT)
        assert eventually(lambda: is_gone(pid), within_s=20.0)
        assert ask(second.dsn, "select pg_promote(wait => true, wait_seconds => 30)") is True
    return job


@contextmanager
def running(made_home: Path, home: Path) -> Iterator[Server]:
    shutil.copytree(made_home, home)
    server = Server(home, settings=SETTINGS, durable=False)
    server.start()
    try:
        yield server
    finally:
        end(server)


@contextmanager
def running_standby(first: Server, home: Path) -> Iterator[Server]:
    """A second server that follows the first."""
    home.mkdir()
    copy = find_binaries().folder / "pg_basebackup"
    command: list[str | Path] = [copy, "-d", first.dsn, "-D", home / first.data.name, "-R", "-c", "fast", "--no-sync"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    server = Server(home, settings=SETTINGS, durable=False)
    server.start()
    try:
        yield server
    finally:
        end(server)
