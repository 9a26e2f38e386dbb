"""Connections say who they are, leave nothing in a session, and end when nobody answers."""

import asyncio
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import psycopg
import pytest

from pulse_runtime.errors import ConfigError, DatabaseSilent, NoDatabase
from pulse_runtime.store.connect import Connection, aconnect, connect
from pulse_runtime.store.deadlines import awithin, within


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.fixture
def black_hole() -> Iterator[str]:
    """A DSN of someone who accepts and never says a word."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield f"postgresql://u:hunter2@127.0.0.1:{listener.getsockname()[1]}/db"


def setting(connection: Connection, name: str) -> str:
    row = connection.execute("select current_setting(%s)", (name,)).fetchone()
    assert row
    return str(row[0])


def test_a_connection_is_listed_under_its_actor(dsn: str) -> None:
    with connect(dsn, actor="claimer") as connection:
        assert setting(connection, "application_name") == "pulse:claimer"
        assert connection.autocommit


def test_a_name_that_the_user_gave_is_kept_and_ours_is_never_cut(dsn: str) -> None:
    with connect(f"{dsn} application_name=shop", actor="claimer") as connection:
        assert setting(connection, "application_name") == "shop pulse:claimer"
    with connect(f"{dsn} application_name={'é' * 60}", actor="claimer") as connection:
        name = connection.info.get_parameters()["application_name"]
        assert name.endswith("é pulse:claimer")
        assert len(name.encode()) <= 63


def test_no_statement_is_ever_prepared(dsn: str) -> None:
    with connect(dsn, actor="test") as connection:
        for number in range(10):
            connection.execute("select %s::int", (number,))
        assert connection.execute("select count(*) from pg_prepared_statements").fetchone() == (0,)


def test_a_dead_network_is_noticed_unless_the_dsn_says_otherwise(dsn: str) -> None:
    with connect(f"{dsn} keepalives_idle=7", actor="test") as connection:
        told = connection.info.get_parameters()
    assert {name: told[name] for name in ("keepalives_idle", "keepalives_interval", "keepalives_count")} == {
        "keepalives_idle": "7", "keepalives_interval": "1", "keepalives_count": "3",
    }  # fmt: skip
    assert (told["tcp_user_timeout"], told["connect_timeout"]) == ("3000", "5")


def test_a_statement_on_a_stopped_backend_ends_at_its_deadline(dsn: str) -> None:
    with connect(dsn, actor="reporter") as connection:
        deadline = within(connection, 0.2, asked="settle 3 reports")
        with stopped(connection.info.backend_pid), pytest.raises(DatabaseSilent) as silent, deadline:
            connection.execute("select 1")
        assert connection.closed
    assert (silent.value.actor, silent.value.asked, silent.value.seconds) == ("reporter", "settle 3 reports", 0.2)


def test_a_statement_on_a_stopped_backend_ends_at_its_deadline_in_asyncio(dsn: str) -> None:
    async def ask() -> bool:
        async with await aconnect(dsn, actor="claimer") as connection:
            with stopped(connection.info.backend_pid), pytest.raises(DatabaseSilent, match=r"claimer.*claim jobs"):
                async with awithin(connection, 0.2, asked="claim jobs"):
                    await connection.execute("select 1")
            return connection.closed

    assert asyncio.run(ask())


def test_a_cancelled_task_does_not_outstay_the_deadline_of_its_statement(dsn: str) -> None:
    async def ask() -> float:
        async with await aconnect(dsn, actor="claimer") as connection:

            async def statement() -> None:
                async with awithin(connection, 0.3, asked="claim jobs"):
                    await connection.execute("select 1")

            with stopped(connection.info.backend_pid):
                task = asyncio.create_task(statement())
                await asyncio.sleep(0.05)
                started = time.monotonic()
                task.cancel()
                with suppress(asyncio.CancelledError, DatabaseSilent):
                    await task
                return time.monotonic() - started

    # psycopg itself waits 5 s for a cancel to be heard, and then for ever.
    assert asyncio.run(ask()) < 3.0


def test_what_is_answered_in_time_is_left_alone(dsn: str) -> None:
    with connect(dsn, actor="test") as connection:
        with within(connection, 5.0, asked="say one"):
            assert connection.execute("select 1").fetchone() == (1,)
        with pytest.raises(psycopg.errors.DivisionByZero), within(connection, 5.0, asked="divide"):
            connection.execute("select 1/0")
        assert not connection.closed


def test_a_server_that_accepts_and_says_nothing_is_no_database(black_hole: str) -> None:
    started = time.monotonic()
    with pytest.raises(NoDatabase, match="timeout") as refused:
        connect(f"{black_hole}?connect_timeout=2", actor="test")
    assert time.monotonic() - started < 4.0
    assert "hunter2" not in str(refused.value)
    assert "dbname=db" in str(refused.value)


def test_nobody_there_is_said_with_the_place_and_what_to_do() -> None:
    with pytest.raises(NoDatabase, match=r"host=/nowhere port=5432 dbname=d user=u.*\n.*Check that") as refused:
        connect("host=/nowhere dbname=d user=u password=hunter2", actor="test")
    assert refused.value.exit_code == 5
    assert "hunter2" not in str(refused.value)


def test_a_missing_database_is_said_with_how_to_make_it(dsn: str) -> None:
    with pytest.raises(NoDatabase, match="createdb nothere"):
        connect(f"{dsn} dbname=nothere", actor="test")


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://u:a@hunter2@h/db", "postgresql://u:hunter2/a@h/db", "postgresql://u:1/hunter2@h/db",
        "password=a hunter2 host=h",
    ],
)  # fmt: skip
def test_a_password_that_is_not_escaped_is_a_configuration_error_that_keeps_it(dsn: str) -> None:
    with pytest.raises(ConfigError) as refused:
        connect(dsn, actor="test")
    assert "hunter2" not in str(refused.value)
    assert "hunter2" not in str(refused.value.__cause__)
