"""`pulse-runtime schedules …` and `db audit`, in this process: what they print, and how they end."""

import json
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest
from schedule_kit import Clock, Firing, Schedules, minute

from pulse_runtime.cli.program import cli
from pulse_runtime.cli.program import run as run_command
from pulse_runtime.cli.schedules import schedules as group


class Said(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture
def run(dsn: str, clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["pulse-runtime", "--dsn", dsn, *words])
        code = run_command(cli)
        return Said(code, *capsys.readouterr())

    return run


def test_a_schedule_lives_at_the_command_line(run: Run, schedules: Schedules, clock: Clock, firing: Firing) -> None:
    made = run("schedules", "add", "poll", "fetch", "--cron", "* * * * *", "--lookahead", "0s", "n=1", "to=a@b.c")
    assert (made.code, len(made.out.strip()), made.err) == (0, 36, "schedule poll was made\n")
    shown = json.loads(run("schedules", "show", "poll", "-o", "json").out)
    assert (shown["args"], shown["lookahead_s"], shown["status"]) == ({"n": 1, "to": "a@b.c"}, 0, "ACTIVE")
    firing.each_minute(clock, 1, 2)
    assert [row["verdict"] for row in json.loads(run("schedules", "history", "poll", "-o", "json").out)] == [
        "fired"
    ] * 2
    window = ("--from", "2026-11-18T11:57:30", "--to", "2026-11-18T12:02")
    assert json.loads(run("schedules", "coverage", "poll", *window, "-o", "jsonl").out)["ratio"] == 0.4
    assert run("schedules", "backfill", "poll", *window, "--dry-run").err == "3 would fire\n"
    assert run("schedules", "backfill", "poll", *window).out.splitlines()[0] == minute(-2).isoformat()
    assert run("schedules", "edit", "poll", "--every", "1h", "n=2").err == "schedule poll has revision 2 now\n"
    assert run("schedules", "pause", "poll", "--reason", "deploy", "--by", "me").err == "schedule poll is paused\n"
    listed = run("schedules", "list", "--status", "PAUSED").out.splitlines()
    assert [word for word in ("poll", "PAUSED", "every 1h", "fetch") if word not in listed[1]] == []
    assert "paused_by" in run("schedules", "show", "poll").out
    assert run("schedules", "resume", "poll").code == 0
    assert len(run("schedules", "run", "poll").out.strip()) == 36
    assert "13:02:00" in run("schedules", "preview", "poll", "-n", "1").out
    assert run("schedules", "delete", "poll").code == 0
    gone = run("schedules", "show", "poll")
    assert (gone.code, gone.err[:34]) == (3, "error: there is no schedule 'poll'")


@pytest.mark.parametrize(
    ("words", "code", "err"),
    [
        (("add", "x", "k"), 2, "Say when"),
        (("add", "x", "k", "--cron", "@daily", "--every", "1m"), 2, "Give one of"),
        (("add", "x", "k", "--every", "1m", "--tz", "UTC"), 2, "--tz goes with --cron"),
        (("add", "x", "k", "--cron", "0 0 31 2 *"), 2, "it never fires"),
        (("add", "x", "k", "--every", "1m", "--jitter", "2"), 2, "jitter: it must be from 0 to 0.5"),
        (("add", "taken", "k", "--every", "1m"), 4, "the name is taken"),
        (("add", "x", "k", "--every", "1m", "--within", "soon"), 2, "--within"),
        (("add", "x", "k", "--every", "1m", "--until", "2020-01-01"), 2, "until: it never fires"),
        (("edit", "taken"), 2, "nothing to change"),
        (("edit", "taken", "--priority", "99"), 2, "job.priority: it must be from -10 to 10"),
        (("edit", "period", "--tz", "UTC"), 2, "period has no expression"),
        (("coverage", "taken", "--from", "2026-11-18", "--to", "2026-11-17"), 2, "before the begin"),
        (("backfill", "taken", "--from", "2026-11-18", "--to", "2099-01-01"), 4, "future"),
        (("delete",), 2, "Give a schedule, or --all with --tenant"),
        (("pause", "nobody"), 3, "there is no schedule"),
    ],
)
def test_what_cannot_be_done_says_why(
    run: Run, schedules: Schedules, words: tuple[str, ...], code: int, err: str
) -> None:
    schedules.add("taken")
    schedules.add("period", kind="every", spec="1h")
    said = run("schedules", *words)
    assert said.code == code
    assert err in said.err


def test_an_edit_leaves_what_it_does_not_say(run: Run, schedules: Schedules) -> None:
    mine = schedules.add("s", spec="0 2 * * *", tz="Europe/Berlin", until=minute(99999), priority=1)
    for words in (("--cron", "0 3 * * *"), ("--tz", "Europe/Paris"), ("--queue", "slow", "a=1"), ("--clear", "until")):
        assert run("schedules", "edit", "s", *words).code == 0
    row = schedules.row(mine)
    told = [row[name] for name in ("spec", "tz", "queue", "priority", "args", "until", "revision")]
    assert told == ["0 3 * * *", "Europe/Paris", "slow", 1, {"a": 1}, None, 5]
    assert run("schedules", "edit", "s", "--every", "1h").code == 0
    assert schedules.row(mine)["tz"] is None


def test_one_that_cannot_be_read_hides_no_other(run: Run, schedules: Schedules) -> None:
    schedules.add("good")
    schedules.add("bad", spec="61 * * * *")
    listed = run("schedules", "list")
    assert (listed.code, len(listed.out.splitlines())) == (0, 3)
    assert "61 is not from 0 to 59" in listed.out
    assert run("schedules", "show", "bad").code == 0


def test_all_of_a_tenant_are_deleted(run: Run, schedules: Schedules) -> None:
    for name in "abc":
        schedules.add(name, tenant="acme")
    assert run("schedules", "delete", "--all", "--tenant", "acme").err == "3 schedules were deleted\n"


def test_a_difference_is_printed_and_is_6(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    said = run("schedules", "diff", "--handlers", "apps.scheduled_jobs")
    assert (said.code, said.out.splitlines()) == (6, ["+ each_second: every 1s  (strict refuses)"])


def test_an_audit_that_finds_something_is_6(run: Run, schedules: Schedules, clock: Clock, firing: Firing) -> None:
    assert run("db", "audit") == (0, "", "nothing was found\n")
    schedules.add("late", kind="every", spec="1m")
    firing.turn()
    clock.advance(minutes=30)
    found = run("db", "audit", "-o", "jsonl")
    assert (found.code, json.loads(found.out)["finding"]) == (6, "a schedule that is overdue")


@pytest.mark.parametrize("name", group.list_commands(None))  # type: ignore[arg-type]
def test_every_command_has_help(run: Run, name: str) -> None:
    said = run("schedules", name, "--help")
    assert said.code == 0
    assert f"pulse-runtime schedules {name}" in said.out.splitlines()[0]
