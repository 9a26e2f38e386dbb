"""`pulse-loadgen drain | steady | depth`: what a run tells, and that nothing of it is left."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from embedded_kit import ask, eventually, tell
from titles_kit import Mark

pytest_plugins = ("fix_embedded",)

PROGRAM = Path(sys.executable).with_name("pulse-loadgen")
OTHERS = "select count(*) from pg_database where datname like 'pulse_loadgen%'"
SMALL = ("--executors", "1", "--concurrency", "10")


def run(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PULSE_", "DATABASE_"))}
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env={**clean, **(env or {})})


def test_a_drain_tells_all_its_figures_and_leaves_the_server_as_it_was(dsn: str, tmp_path: Path) -> None:
    file = tmp_path / "drain.json"
    said = run("drain", "--jobs", "5000", *SMALL, "--json", str(file), env={"PULSE_DSN": dsn})
    assert said.returncode == 0, said.stderr
    found: dict[str, Any] = json.loads(file.read_text())
    assert (found["scenario"], found["jobs"], found["lost"], found["duplicated"]) == ("drain", 5000, 0, 0)
    assert found["parameters"]["concurrency"] == 10
    assert found["environment"]["durable"] is False  # the test cluster runs without fsync
    assert found["jobs_per_s"] > 0
    assert found["wal_bytes_per_job"] > 0
    assert 0 < found["reports"] <= 5000
    assert 0 < found["claims"] <= 5000
    for name in ("start_ms", "total_ms", "claim_ms", "report_ms"):
        assert 0 <= found[name]["p50"] <= found[name]["p99"] <= found[name]["max"], name
    assert found["start_ms"]["p50"] <= found["total_ms"]["p50"]
    for name in ("cpu_s_per_10k_jobs", "rss_mb"):
        assert {"supervisor", "claimer-1", "reporter-1", "executor-1"} <= found[name].keys()
    assert found["cpu_s_per_10k_jobs"]["executor-1"] > 0
    assert "5,000 jobs" in said.stdout
    assert "0 of 5,000 jobs added" in said.stderr
    assert ask(dsn, OTHERS) == 0


def test_steady_counts_what_arrived_and_here_it_stays(dsn: str) -> None:
    said = run("steady", "--rate", "100", "--for", "500ms", "--here", *SMALL, "--json", "-", "--dsn", dsn)
    assert said.returncode == 0, said.stderr
    found = json.loads(said.stdout)
    assert found["jobs"] == ask(dsn, "select sum(bit_count(mask)) from pulse.done") == 50
    assert found["start_ms"]["max"] > 0
    assert "steady: 50 jobs" in said.stderr


def test_a_machine_without_a_dsn_runs_on_the_embedded_postgres(home: Path) -> None:
    said = run(
        "depth",
        "--jobs",
        "100",
        "--rate",
        "50",
        "--for",
        "200ms",
        "--loop",
        "trio",
        *SMALL,
        env={"PULSE_HOME": str(home)},
    )
    assert said.returncode == 0, said.stderr
    assert "an embedded Postgres" in said.stderr
    assert "depth: 110 jobs" in said.stdout
    assert "jobs/s by tenth" in said.stdout


def test_whoever_may_not_create_a_database_is_told_what_to_do(dsn: str) -> None:
    tell(dsn, "drop role if exists loadgen_poor", "create role loadgen_poor login")
    try:
        said = run("drain", "--dsn", f"{dsn} user=loadgen_poor")
    finally:
        tell(dsn, "drop role loadgen_poor")
    assert said.returncode == 4
    assert "may not create a database" in said.stderr
    assert "--here" in said.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_ended_early_it_leaves_no_process(dsn: str, number: signal.Signals, code: int) -> None:
    mark = Mark()
    program = subprocess.Popen(
        [PROGRAM, "steady", "--rate", "50", "--for", "1h", "--dsn", dsn, *SMALL],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **mark.environment},
    )
    assert program.stderr is not None
    with program.stderr as said:
        assert any("jobs done" in line for line in said)
        program.send_signal(number)
        assert program.wait(15) == code
    assert eventually(lambda: not mark.processes(), within_s=10)
    if number == signal.SIGTERM:
        assert ask(dsn, OTHERS) == 0
    elif left := ask(dsn, OTHERS.replace("count(*)", "min(datname)")):
        tell(dsn, f"drop database {left} with (force)")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("drain", "--json", "/no/such/folder/x.json"), "--json: cannot write"),
        (("commits", "--json", "/no/such/folder/x.json"), "--json: cannot write"),
        (("drain", "--work", "-3ms"), "'--work': '-3ms' is not a duration"),
        (("steady", "--rate", "nan"), "--rate must be a number of jobs per second"),
        (("steady", "--for", "0s"), "--rate and --for make less than one job"),
    ],
)
def test_what_cannot_be_done_is_found_before_a_database_is_asked(arguments: tuple[str, ...], wanted: str) -> None:
    said = run(*arguments, env={"PULSE_DSN": "host=/no/such/folder"})
    assert (said.returncode, said.stdout) == (2, "")
    assert wanted in said.stderr


@pytest.mark.parametrize("command", ["drain", "steady", "depth", "commits"])
def test_every_command_has_help_with_examples(command: str) -> None:
    said = run(command, "--help")
    assert (said.returncode, said.stderr) == (0, "")
    assert f"pulse-loadgen {command}" in said.stdout.partition("Example")[2]


def test_help_loads_nothing_heavy() -> None:
    script = "import sys, pulse_loadgen.cli as m; m.run(m.cli); print(*sys.modules, file=sys.stderr)"
    for arguments in (["--help"], ["drain", "--help"]):
        said = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
        assert {"psycopg", "msgspec", "asyncio", "uvloop", "pulse_runtime.embedded"} & set(said.stderr.split()) == set()
