"""The command line: what it loads, how it ends, what it prints."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).with_name("pulse-runtime")


def run(
    *arguments: str, env: dict[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PULSE_", "DATABASE_", "PG"))}
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env={**clean, **(env or {})}, cwd=cwd)


def test_help_loads_neither_psycopg_nor_msgspec_nor_anyio() -> None:
    script = "import sys, pulse_runtime.cli.program as m; m.run(m.cli); print(*sys.modules, file=sys.stderr)"
    said = subprocess.run([sys.executable, "-c", script, "--help"], capture_output=True, text=True, check=True)
    heavy = {"psycopg", "msgspec", "anyio", "asyncio", "croniter", "uvloop", "pulse_runtime.embedded"}
    assert heavy & set(said.stderr.split()) == set()


def test_help_lists_every_command_with_examples_and_exit_codes() -> None:
    said = run("--help").stdout
    for word in ("run", "demo", "db", "schedules", "config", "completion", "Examples:", "Exit codes:", "--dsn"):
        assert word in said


@pytest.mark.parametrize(
    "command",
    [
        "run",
        "demo",
        "db",
        "db migrate",
        "db status",
        "db sql",
        "db grants",
        "db audit",
        "schedules",
        "schedules preview",
        "schedules describe",
        "config",
        "config show",
        "completion",
    ],
)
def test_every_command_has_help(command: str) -> None:
    said = run(*command.split(), "--help")
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.startswith(f"Usage: pulse-runtime {command}")


def test_a_mistyped_command_is_a_usage_error() -> None:
    said = run("demmo")
    assert said.returncode == 2
    assert "No such command 'demmo'" in said.stderr
    assert said.stdout == ""


def test_a_database_that_is_not_there_is_exit_5_without_traceback_or_password(tmp_path: Path) -> None:
    said = run("--dsn", f"postgresql://me:hunter2@/db?host={tmp_path}", "db", "status")
    assert said.returncode == 5
    assert said.stderr.startswith("error: no connection to Postgres at host=")
    assert "Traceback" not in said.stderr
    assert "hunter2" not in said.stderr + said.stdout


def test_an_embedded_database_without_binaries_is_exit_5_and_says_what_would_fix_it(tmp_path: Path) -> None:
    said = run("db", "status", env={"PULSE_HOME": str(tmp_path / "home"), "PULSE_PG_BIN": str(tmp_path)})
    assert said.returncode == 5
    assert "Any one of these fixes it" in said.stderr


def test_a_broken_setting_is_exit_78() -> None:
    said = run("config", "show", env={"PULSE_DSN": "mysql://me:hunter2@db/app"})
    assert said.returncode == 78
    assert "PULSE_DSN: the DSN cannot be used: it is a mysql URL" in said.stderr
    assert "hunter2" not in said.stderr


def test_a_bad_duration_is_exit_2_and_says_what_to_write() -> None:
    said = run("demo", "--for", "ten")
    assert said.returncode == 2
    assert "Invalid value for '--for': 'ten' is not a duration" in said.stderr


def test_what_cannot_be_read_is_told_with_its_option() -> None:
    for option, value in (("--lease", "5"), ("--cleanup", "-1s"), ("--max-memory", "lots"), ("--hard-memory", "1X")):
        said = run("--handlers", "jobs", option, value)
        assert (said.returncode, said.stdout) == (2, "")
        assert f"Invalid value for '{option}': '{value}' is not" in said.stderr


def test_what_cannot_work_is_refused_before_any_database_is_asked_or_started(tmp_path: Path) -> None:
    home = tmp_path / "home"
    said = run("--handlers", "jobs", "--beat", "20s", "--migrate", env={"PULSE_HOME": str(home)})
    assert said.returncode == 78
    assert said.stderr.startswith("error: --beat: a beat every 20 s is too slow")
    assert not home.exists()


def test_flags_that_nobody_would_heed_are_refused() -> None:
    for arguments in (("--max-jobs", "3"), ("--max-jobs", "3", "demo"), ("--max-jobs", "3", "run", "k")):
        said = run(*arguments)
        assert said.returncode == 2
        assert "--max-jobs is for running jobs" in said.stderr


def test_config_show_names_each_source_and_hides_the_password(tmp_path: Path) -> None:
    env = {"DATABASE_URL": "postgres://me:hunter2@db/app", "PULSE_HOME": str(tmp_path)}
    rows = json.loads(run("config", "show", "-o", "json", env=env, cwd=tmp_path).stdout)
    assert rows == [
        {"name": "dsn", "value": "postgresql://me:***@db/app", "source": "DATABASE_URL"},
        {"name": "home", "value": str(tmp_path), "source": "PULSE_HOME"},
    ]


def test_the_flag_goes_before_every_other_source(tmp_path: Path) -> None:
    (tmp_path / "pulse.toml").write_text('dsn = "host=file"\n')
    said = run("--dsn", "host=flag", "config", "show", "-o", "jsonl", env={"PULSE_DSN": "host=variable"}, cwd=tmp_path)
    assert json.loads(said.stdout.splitlines()[0]) == {"name": "dsn", "value": "host=flag", "source": "--dsn"}


def test_a_reader_that_leaves_hears_no_complaint() -> None:
    read, write = os.pipe()
    os.close(read)
    said = subprocess.run([PROGRAM, "db", "sql"], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert said.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_speaks_the_shell(shell: str) -> None:
    said = run("completion", shell)
    assert said.returncode == 0
    assert "_PULSE_RUNTIME_COMPLETE" in said.stdout


def test_a_bare_expression_is_previewed_by_the_wall_clock_and_in_utc() -> None:
    said = run(
        "schedules",
        "preview",
        "30 2 * * *",
        "--tz",
        "Europe/Berlin",
        "-n",
        "1",
        "--after",
        "2026-03-28T12:00",
        "-o",
        "jsonl",
    )
    row = json.loads(said.stdout)
    assert (row["local"], row["utc"]) == ("2026-03-29 03:00:00+02:00", "2026-03-29 01:00:00+00:00")
    assert row["note"].startswith("gap")


def test_a_bare_expression_is_described_and_a_wrong_one_is_a_usage_error() -> None:
    assert run("schedules", "describe", "0 9 * * MON-FRI").stdout == "at 09:00, on Monday to Friday\n"
    wrong = run("schedules", "preview", "0 0 31 2 *")
    assert wrong.returncode == 2
    assert "never fires" in wrong.stderr
