"""Trap 7 of the design: a partition goes only when nothing in it can matter any more."""

import threading

import pytest
from embedded_kit import eventually
from fix_cluster import Connect, Connection
from store_kit import Store

WAITING = "select exists (select from pg_locks where mode = 'AccessExclusiveLock' and not granted)"


@pytest.fixture
def store(connection: Connection) -> Store:
    """With partitions of ten numbers; those of a million that the schema comes with are gone."""
    for (name,) in connection.execute("select name from pulse.partition").fetchall():
        connection.execute(f"drop table pulse.{name}".encode())
    connection.execute("truncate pulse.partition")
    connection.execute("select pulse.add_partition(10), pulse.add_partition(10)")
    return Store(connection)


def test_a_job_committed_while_dropping_waits_for_its_lock_is_not_dropped(store: Store, connect: Connect) -> None:
    """Even if the partition is marked as closed by a transaction that drew its xid before the writer did."""
    writer, keeper = connect(autocommit=False), connect(autocommit=False)
    keeper.execute("select pg_current_xact_id()")
    writer.execute("select pulse.enqueue(kind => 'k')")
    keeper.execute("select pulse.cut(100), pulse.note_partitions()")
    assert keeper.execute("select count(closed_at) from pulse.partition").fetchone() == (0,), "its xid came too early"
    keeper.execute(
        "update pulse.partition set closed_at = pulse.now(), closed_x = pg_current_xact_id() where lower_seq = 1"
    )
    keeper.commit()
    dropped = []
    dropper = threading.Thread(target=lambda: dropped.append(_drop_until_dropped_or_free(connect(), writer)))
    dropper.start()
    assert eventually(lambda: bool(store.ask(WAITING)), within_s=10.0)
    writer.commit()
    dropper.join()
    assert [len(batch.jobs) for batch in store.claim()] == [1], f"{dropped} went with the job in it"


def _drop_until_dropped_or_free(connection: Connection, writer: Connection) -> list[str]:
    names: list[str] = []
    while not names and writer.info.transaction_status.name == "INTRANS":
        row = connection.execute("select dropped from pulse.drop_partitions('0')").fetchone()
        assert row
        names = row[0]
    return names
