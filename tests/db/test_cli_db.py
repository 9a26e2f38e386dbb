"""`pulse-runtime db` on a real database."""

import json
import subprocess
import sys
from pathlib import Path

import psycopg

PROGRAM = Path(sys.executable).with_name("pulse-runtime")


def db(dsn: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, "--dsn", dsn, "db", *arguments], capture_output=True, text=True)


def test_migrate_tells_each_step_and_then_that_nothing_is_to_do(empty_dsn: str) -> None:
    first = db(empty_dsn, "migrate")
    assert (first.returncode, first.stdout) == (0, "")
    assert "applied 0001_ground" in first.stderr
    assert "nothing to do" in db(empty_dsn, "migrate").stderr


def test_status_is_6_before_and_0_after(empty_dsn: str) -> None:
    before = db(empty_dsn, "status", "-o", "json")
    assert before.returncode == 6
    assert {row["state"] for row in json.loads(before.stdout)} == {"pending"}
    db(empty_dsn, "migrate")
    after = db(empty_dsn, "status")
    assert after.returncode == 0
    assert after.stdout.splitlines()[0].split() == ["NUMBER", "NAME", "STATE", "APPLIED_AT"]


def test_the_printed_sql_does_what_migrate_does(empty_dsn: str) -> None:
    printed = db(empty_dsn, "sql").stdout
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute(printed.encode())
    assert db(empty_dsn, "status").returncode == 0


def test_a_real_database_is_migrated_only_when_asked(empty_dsn: str) -> None:
    demo = [str(PROGRAM), "--dsn", empty_dsn, "demo", "--for", "100ms"]
    refused = subprocess.run(demo, capture_output=True, text=True)
    assert refused.returncode == 4
    assert "start with --migrate" in refused.stderr
    assert {row["state"] for row in json.loads(db(empty_dsn, "status", "-o", "json").stdout)} == {"pending"}
    done = subprocess.run([*demo, "--migrate"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "applied 0001_ground" in done.stderr
    assert db(empty_dsn, "status").returncode == 0


def test_an_edited_history_is_refused_with_exit_4(empty_dsn: str) -> None:
    db(empty_dsn, "migrate")
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("update pulse.migration set checksum = repeat('0', 64) where number = 1")
    said = db(empty_dsn, "migrate")
    assert said.returncode == 4
    assert "0001_ground was edited" in said.stderr
