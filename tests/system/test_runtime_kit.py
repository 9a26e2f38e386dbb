"""The kit that system tests hold a runtime with, tried on a program that only looks like one."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from embedded_kit import eventually, is_gone
from runtime_kit import TESTS, Flags, Runtime

FAKE = (sys.executable, str(TESTS / "apps" / "fake_runtime.py"))
LONG_S = 10.0


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    with Runtime("host=/nowhere", program=FAKE, history=tmp_path / "history") as runtime:
        runtime.wait_for("ready", actor="executor-1", within_s=LONG_S)
        yield runtime


def test_flags_are_told_to_the_program(runtime: Runtime) -> None:
    assert runtime.stop() == 0
    told = runtime.wait_for("stopped", within_s=LONG_S)["argv"]
    assert told[:4] == ["--dsn", "host=/nowhere", "--handlers=apps.history_jobs", "--executors=1"]
    assert Flags(lease="9s").arguments("x")[-4:] == ["--lease=9s", "--beat=0.5s", "--grace=2s", "--log=json"]


def test_actors_are_known_by_their_titles(runtime: Runtime) -> None:
    said = runtime.wait_for("ready", actor="executor-1", within_s=LONG_S)
    claimer = runtime.pid_of("claimer")
    assert runtime.pids() == {"supervisor": runtime.pid, "claimer": claimer, "executor-1": said["pid"]}


def test_an_actor_that_is_killed_is_found_again_under_another_number(runtime: Runtime) -> None:
    mark = runtime.log.mark()
    killed = runtime.kill("executor-1")
    again = runtime.wait_for("ready", actor="executor-1", after=mark, within_s=LONG_S)
    assert runtime.pid_of("executor-1", other_than=killed) == again["pid"]


def test_what_is_no_json_is_kept_as_text(runtime: Runtime) -> None:
    assert eventually(lambda: {"text": "Traceback, for instance"} in runtime.log.lines, within_s=LONG_S)


def test_an_event_that_does_not_come_fails_with_the_last_lines(runtime: Runtime) -> None:
    with pytest.raises(AssertionError, match=r"0.05 s without .*'no such'[^$]*\"event\": \"ready\""):
        runtime.wait_for("no such", within_s=0.05)


def test_when_all_have_ended_nobody_waits_for_an_event(runtime: Runtime) -> None:
    runtime.kill_all()
    with pytest.raises(AssertionError, match="the log ended"):
        runtime.wait_for("no such", within_s=LONG_S)


def test_an_exit_status_is_told() -> None:
    with Runtime("x=y", program=FAKE, args=["--exit-5"]) as runtime:
        runtime.wait_for("ready", actor="executor-1", within_s=LONG_S)
        assert runtime.stop() == 5


def test_who_does_not_stop_fails_and_is_killed_with_all_that_came_of_it() -> None:
    with Runtime("x=y", program=FAKE, args=["--stubborn", "--orphan"]) as runtime:
        runtime.wait_for("ready", actor="executor-1", within_s=LONG_S)
        assert eventually(lambda: len(runtime.processes()) >= 4, within_s=LONG_S)
        with pytest.raises(AssertionError, match="did not end"):
            runtime.stop(within_s=0.1)
        runtime.kill("supervisor")
        left = runtime.processes()
        assert len(left) >= 2
    assert all(map(is_gone, left))
    assert runtime.processes() == []
