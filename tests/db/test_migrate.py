"""Migrations: in order, once, whole, and refused when the history is not ours."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pulse_runtime.errors import NoDatabase
from pulse_runtime.store.connect import Connection, connect
from pulse_runtime.store.errors import (
    DatabaseNewer,
    MayNotMigrate,
    MigrationEdited,
    MigrationFailed,
    MigrationUnknown,
    NotMigrated,
    NotOurs,
)
from pulse_runtime.store.history import require, status
from pulse_runtime.store.migrate import LOCK, migrate, script
from pulse_sql import Migration, migrations

GROUND = migrations()[0]


def step(number: int, sql: str, name: str = "made_up") -> Migration:
    return Migration(number=number, name=f"{number:04}_{name}", sql=sql)


@pytest.fixture
def empty(empty_dsn: str) -> Iterator[Connection]:
    with connect(empty_dsn, actor="test") as connection:
        yield connection


@pytest.fixture
def migrated(empty: Connection) -> Connection:
    migrate(empty)
    return empty


def states(connection: Connection, *steps: Migration) -> list[str]:
    return [each.state for each in status(connection, steps or None)]


def test_an_empty_database_gets_every_migration_once(empty: Connection) -> None:
    assert set(states(empty)) == {"pending"}
    with pytest.raises(NotMigrated, match="pulse-runtime db migrate"):
        require(empty)
    seen: list[str] = []
    migrate(empty, applied=lambda step: seen.append(step.name))
    assert seen == [each.name for each in migrations()]
    assert migrate(empty) == []
    assert set(states(empty)) == {"applied"}
    require(empty)


def test_only_what_is_missing_is_applied(empty: Connection) -> None:
    second = step(2, "create table pulse.two ()")
    migrate(empty, steps=[GROUND])
    assert states(empty, GROUND, second) == ["applied", "pending"]
    assert migrate(empty, steps=[GROUND, second]) == [second]


def test_a_failing_migration_names_its_line_and_leaves_nothing_of_itself(empty: Connection) -> None:
    broken = step(2, "create table pulse.half ();\n\n-- ü\nselect nonsense\nfrom pulse.half;")
    with pytest.raises(
        MigrationFailed, match=r"0002_made_up.sql, line 4: column \"nonsense\" does not exist"
    ) as failed:
        migrate(empty, steps=[GROUND, broken])
    assert failed.value.line == 4
    assert empty.execute("select to_regclass('pulse.half')").fetchone() == (None,)
    assert states(empty, GROUND, broken) == ["applied", "pending"]


def test_an_edited_migration_is_refused_with_both_checksums(migrated: Connection) -> None:
    edited = replace(GROUND, sql=GROUND.sql + "-- new")
    with pytest.raises(MigrationEdited, match="0001_ground was edited") as refused:
        migrate(migrated, steps=[edited])
    assert (refused.value.recorded, refused.value.ours) == (GROUND.checksum, edited.checksum)
    assert states(migrated, edited)[0] == "edited"


def test_a_migration_of_another_branch_is_refused_by_name(empty: Connection) -> None:
    migrate(empty, steps=[GROUND, step(2, "select 1", "theirs")])
    ours = [GROUND, step(2, "select 2", "ours"), step(3, "select 3")]
    with pytest.raises(MigrationUnknown, match=r"has 0002_theirs where we have 0002_ours"):
        migrate(empty, steps=ours)
    assert states(empty, *ours) == ["applied", "unknown", "pending"]


def test_a_history_with_a_hole_is_refused(empty: Connection) -> None:
    steps = [GROUND, step(2, "select 2"), step(3, "select 3")]
    migrate(empty, steps=steps)
    empty.execute("delete from pulse.migration where number = 2")
    with pytest.raises(MigrationUnknown, match="skipped 0002_made_up"):
        migrate(empty, steps=steps)


def test_a_newer_database_is_refused_with_the_way_to_upgrade(empty: Connection) -> None:
    migrate(empty, steps=[GROUND, step(2, "select 2")])
    with pytest.raises(DatabaseNewer, match=r"has 0002_made_up.*pip install --upgrade") as refused:
        migrate(empty, steps=[GROUND])
    assert refused.value.exit_code == 4
    assert states(empty, GROUND) == ["applied", "newer"]


def test_a_table_of_someone_else_is_not_taken_for_ours(empty: Connection) -> None:
    empty.execute("create schema pulse")
    empty.execute("create table pulse.migration (version text)")
    with pytest.raises(NotOurs, match='column "number" does not exist'):
        migrate(empty)


def test_a_role_without_the_privilege_is_told_which_one(empty: Connection, empty_dsn: str) -> None:
    empty.execute("drop role if exists pulse_test_nobody")
    empty.execute("create role pulse_test_nobody login")
    with (
        connect(make_conninfo(empty_dsn, user="pulse_test_nobody"), actor="test") as poor,
        pytest.raises(
            MayNotMigrate, match=r"pulse_test_nobody may not apply 0001_ground: permission denied .*grant create"
        ),
    ):
        migrate(poor)
    empty.execute("drop role pulse_test_nobody")


def test_a_connection_lost_on_the_way_is_said(empty: Connection) -> None:
    suicide = step(2, "select pg_terminate_backend(pg_backend_pid())")
    with pytest.raises(NoDatabase, match=r"lost at 0002_made_up.*run again"):
        migrate(empty, steps=[GROUND, suicide])


def test_eight_runners_at_once_apply_everything_once(empty_dsn: str) -> None:
    start = Barrier(8)

    def run(_: int) -> int:
        with connect(empty_dsn, actor="test") as connection:
            start.wait()
            return len(migrate(connection))

    with ThreadPoolExecutor(8) as runners:
        assert sum(runners.map(run, range(8))) == len(migrations())


def test_a_second_process_waits_for_the_first_and_finds_nothing_to_do(empty: Connection, empty_dsn: str) -> None:
    with empty.transaction():
        empty.execute(f"select pg_advisory_xact_lock({LOCK})".encode())
        program = Path(sys.executable).with_name("pulse-runtime")
        second = subprocess.Popen([program, "--dsn", empty_dsn, "db", "migrate"], stderr=subprocess.PIPE, text=True)
        waiting = b"select count(*) from pg_locks where locktype = 'advisory' and not granted"
        while empty.execute(waiting).fetchone() != (1,):
            assert second.poll() is None
        for each in migrations():
            empty.execute(each.sql.encode())
            row = (each.number, each.name, each.checksum)
            empty.execute("insert into pulse.migration (number, name, checksum) values (%s, %s, %s)", row)
    said = second.communicate(timeout=10)[1]
    assert second.returncode == 0
    assert "nothing to do" in said


def test_the_script_for_a_dba_gives_the_same_history(empty: Connection) -> None:
    empty.execute(script().encode())
    require(empty)
    assert migrate(empty) == []


def test_the_script_can_begin_where_the_database_is(empty: Connection) -> None:
    steps = [GROUND, step(2, "create table pulse.two ();\n-- no newline at the end")]
    migrate(empty, steps=[GROUND])
    assert "0001_ground" not in script(start=2, steps=steps)
    empty.execute(script(start=2, steps=steps).encode())
    assert states(empty, *steps) == ["applied", "applied"]


@pytest.mark.parametrize("start", [1, 3])
def test_the_script_refuses_a_database_that_is_elsewhere(empty: Connection, start: int) -> None:
    steps = [GROUND, step(2, "select 2"), step(3, "create table pulse.three ()")]
    migrate(empty, steps=[GROUND])
    with pytest.raises(psycopg.errors.RaiseException, match=f"needs exactly the {start - 1} migrations"):
        empty.execute(script(start=start, steps=steps).encode())
    empty.execute("rollback")
    assert states(empty, *steps) == ["applied", "pending", "pending"]


def test_a_runner_that_waited_sees_what_the_other_did_whatever_the_default_isolation(empty_dsn: str) -> None:
    strict = f"{empty_dsn} options='-c default_transaction_isolation=serializable'"
    with connect(empty_dsn, actor="first") as first, ThreadPoolExecutor(1) as runners:

        def second() -> list[Migration]:
            with connect(strict, actor="second") as connection:
                return migrate(connection)

        with first.transaction():
            first.execute(f"select pg_advisory_xact_lock({LOCK})".encode())
            answer = runners.submit(second)
            waiting = b"select count(*) from pg_locks where locktype = 'advisory' and not granted"
            while first.execute(waiting).fetchone() != (1,):
                assert not answer.done()
            for each in migrations():
                first.execute(each.sql.encode())
                row = (each.number, each.name, each.checksum)
                first.execute("insert into pulse.migration (number, name, checksum) values (%s, %s, %s)", row)
        assert answer.result() == []


def test_a_timeout_is_not_taken_for_a_lost_connection(empty_dsn: str) -> None:
    impatient = f"{empty_dsn} options='-c statement_timeout=50'"
    with (
        connect(impatient, actor="test") as connection,
        pytest.raises(MigrationFailed, match=r"0002_made_up.sql: canceling statement due to statement timeout"),
    ):
        migrate(connection, steps=[GROUND, step(2, "select pg_sleep(5)")])
