"""`pulse-loadgen commits` measures, says what it measured, and leaves a database as it was; the ledger counts by id."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from embedded_kit import ask, tell

from pulse_loadgen import ledger
from pulse_loadgen.ledger import Balance
from pulse_loadgen.load import Kind, fill
from pulse_loadgen.stamps import stamps
from pulse_runtime.store.connect import connect

PROGRAM = Path(sys.executable).with_name("pulse-loadgen")


def commits(dsn: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, "commits", "--dsn", dsn, *arguments], capture_output=True, text=True)


def test_what_was_there_before_is_there_afterwards_and_nothing_else(empty_dsn: str) -> None:
    tell(empty_dsn, "create schema pulse_loadgen", "create table pulse_loadgen.precious ()")
    schemas = "select string_agg(nspname, ' ' order by nspname) from pg_namespace where nspname like 'pulse%'"
    assert commits(empty_dsn, "--for", "50ms").returncode == 0
    assert ask(empty_dsn, schemas) == "pulse_loadgen"
    assert ask(empty_dsn, "select to_regclass('pulse_loadgen.precious') is not null")


def test_a_server_that_may_forget_is_not_called_durable(empty_dsn: str, tmp_path: Path) -> None:
    said = commits(empty_dsn, "--for", "50ms", "--json", str(tmp_path / "result.json"))
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["durable"] is False  # the test cluster runs without fsync
    assert "not durable" in said.stdout
    assert result["commits"] > 0


QUEUE = "loadgen-test"
CLAIM = "select claim, token, n from pulse.claim(%s, 1, array['loadgen-test'], '{1}', 10)"
SETTLE = "select pulse.settle(array[%s], array[%s]::uuid[], array[repeat('1', %s)::varbit], array_fill(1, array[%s]))"


def test_a_job_without_an_outcome_is_lost_and_one_with_two_is_duplicated(dsn: str) -> None:
    with connect(dsn, actor="test") as connection, stamps(30) as noted:
        fill(connection, Kind(queue=QUEUE), 20)
        executor = connection.execute("select pulse.register_executor('test', 'here', 'boot', 1)").fetchall()[0]
        claim, token, n = connection.execute(CLAIM, executor).fetchall()[0]
        connection.execute(SETTLE, (claim, token, n, n))
        for number in range(10):
            noted.start(number)
        assert ledger.done(connection, QUEUE) == 10
        assert ledger.reconcile(connection, QUEUE, noted, expected=20) == Balance(20, 10, 0)
        assert ledger.reconcile(connection, QUEUE, noted, expected=21).lost == 11, "one was never added"
        with stamps(30) as none:
            assert ledger.reconcile(connection, QUEUE, none, expected=20).lost == 20, "none of them ran"
        noted.start(0)
        assert ledger.reconcile(connection, QUEUE, noted, expected=20).duplicated == 1, "it started twice"
        connection.execute("insert into pulse.done select claim, at, mask, took_us from pulse.done")
        assert ledger.reconcile(connection, QUEUE, noted, expected=20).duplicated == 10, "they were settled twice"


def test_rates_by_tenth_follow_the_jobs_and_not_the_batches() -> None:
    steady = [(100 + n / 10, 10) for n in range(1, 11)]
    assert ledger.by_tenth(100.0, steady) == pytest.approx([100.0] * 10)
    assert len(ledger.by_tenth(100.0, [(101.0, 55), (102.0, 45)])) == 10
    assert ledger.by_tenth(0.0, []) == []
