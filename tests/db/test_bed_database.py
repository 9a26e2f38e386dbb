"""The database that each test gets."""

from contextlib import closing
from statistics import median
from time import perf_counter

import psycopg
import pytest
from cluster_kit import TEMPLATE, Cluster
from embedded_kit import ask, tell
from fix_cluster import Connect, Connection, database

import pulse_sql


def test_a_clone_takes_at_most_100_ms(server: Cluster) -> None:
    taken_ms = []
    for _ in range(5):
        began = perf_counter()
        name = server.create(template=TEMPLATE)
        taken_ms.append((perf_counter() - began) * 1000.0)
        with server.ending(name, within_s=2.0):
            pass
    assert median(taken_ms) <= 100.0


def test_a_database_has_every_migration_recorded(connection: Connection) -> None:
    rows = connection.execute("select number, name, checksum from pulse.migration order by number").fetchall()
    assert rows == [(step.number, step.name, step.checksum) for step in pulse_sql.migrations()]


def test_an_empty_database_has_no_schema_of_ours(empty_dsn: str) -> None:
    assert ask(empty_dsn, "select count(*) from pg_namespace where nspname = 'pulse'") == 0


@pytest.mark.parametrize("time", ["first", "second"])
def test_what_one_test_writes_no_other_test_sees(time: str, connection: Connection) -> None:
    connection.execute("create table public.of_this_test ()")


def test_two_connections_are_two_sessions(connect: Connect) -> None:
    first, second = connect(), connect(application_name="second")
    assert first.info.backend_pid != second.info.backend_pid
    assert second.info.parameter_status("application_name") == "second"


@pytest.mark.parametrize("immediate", [False, True], ids=["orderly", "crash"])
def test_committed_rows_survive_a_restart_and_connections_do_not(
    immediate: bool, dsn: str, connect: Connect, server: Cluster
) -> None:
    tell(dsn, "create table public.kept as select 7 as number")
    connection, before = connect(), server.pid
    server.restart(immediate=immediate)
    assert server.pid != before
    assert ask(dsn, "select number from public.kept") == 7
    with pytest.raises(psycopg.OperationalError):
        connection.execute("select 1")


def test_a_connection_that_is_left_open_fails_the_test_by_name(server: Cluster) -> None:
    life = database(server, template=TEMPLATE, patience_s=0.1)
    with closing(psycopg.connect(life.__enter__(), application_name="forgotten")) as left:
        left.execute("select 42")
        with pytest.raises(pytest.fail.Exception, match=r"\(forgotten, idle in transaction\): select 42"):
            life.__exit__(None, None, None)


def test_a_prepared_transaction_that_is_left_fails_the_test_by_name(server: Cluster) -> None:
    life = database(server, template=TEMPLATE, patience_s=0.1)
    with psycopg.connect(life.__enter__(), autocommit=True) as left:
        left.execute("begin; create table a (); prepare transaction 'forgotten'")
    with pytest.raises(pytest.fail.Exception, match="prepared transaction forgotten"):
        life.__exit__(None, None, None)


@pytest.mark.anyio
async def test_async_tests_run_on_asyncio(dsn: str) -> None:
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        found = await connection.execute("select count(*) from pulse.migration")
        assert await found.fetchone() == (len(pulse_sql.migrations()),)
