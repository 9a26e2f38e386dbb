"""`pulse-loadgen commits` measures, says what it measured, and leaves a database as it was."""

import json
import subprocess
import sys
from pathlib import Path

from embedded_kit import ask, tell

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
