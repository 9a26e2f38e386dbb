"""How a tree ends: in stages, at once when told twice, and when its supervisor is killed."""

import os
import signal
import time
from pathlib import Path

import psutil
import pytest
from embedded_kit import eventually, is_gone
from tree_kit import Tree, kind


def test_a_stage_is_gone_before_the_next_is_drained(tmp_path: Path) -> None:
    first = kind("first", count=2, grace_s=7.0, script={"drain": "nothing"})
    with Tree(tmp_path, kind("last", stop_stage=2), first, kind("second", stop_stage=1)) as tree:
        tree.up().signal(signal.SIGTERM)
        assert tree.until("drain")["grace_s"] == 7.0
        tree.until("drain")
        tree.order("first-1", "exit 0")
        tree.until("child ended", child="first-1")
        assert not tree.said("drain", at="second-1")
        tree.order("first-2", "exit 0")
        assert tree.ended() == 0
    order = [line["child"] for line in tree.said("child ended")]
    assert order == ["first-1", "first-2", "second-1", "last-1"]
    drained = [line["at"] for line in tree.said("drain")]
    assert drained[2:] == ["second-1", "last-1"]
    assert tree.lines.index(tree.said("drain", at="second-1")[0]) > tree.lines.index(
        tree.said("child ended", child="first-2")[0]
    )


def test_a_child_of_a_later_stage_that_dies_in_the_drain_comes_back(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("late", stop_stage=1), kind("soon", script={"drain": "nothing"})) as tree:
        tree.up().signal(signal.SIGTERM)
        tree.until("drain", at="soon-1")
        tree.kill("late-1")
        tree.until("child ready", child="late-1")
        tree.order("soon-1", "exit 0")
        assert tree.ended() == 0
        assert len(tree.said("drain", at="late-1")) == 1
        assert len(tree.said("began", at="soon-1")) == 1, "a child of this stage does not come back"


def test_a_death_in_the_drain_is_told_to_those_who_stay_though_the_first_mourner_is_gone(tmp_path: Path) -> None:
    workers = kind("worker", count=2, stop_stage=1, mourners=["first", "keeper"], script={"drain": "nothing"})
    with Tree(tmp_path, kind("first"), kind("keeper", stop_stage=2), workers) as tree:
        tree.up().signal(signal.SIGTERM)
        tree.until("child ended", child="first-1")
        tree.until("drain", at="worker-1")
        tree.kill("worker-1")
        tree.until("died", at="keeper-1", who="worker-1")
        assert not tree.said("child ended", child="worker-2"), "told at once, not when all have gone"
        tree.order("worker-2", "exit 0")
        assert tree.ended() == 0
        assert tree.said("died", at="keeper-1", who="worker-2")


def test_the_tree_waits_for_a_mourner_that_is_on_its_way_back(tmp_path: Path) -> None:
    rule = {"free": 0, "first_s": 0.3}
    worker = kind("worker", mourners=["keeper"], script={"drain": "nothing"})
    with Tree(tmp_path, kind("keeper", stop_stage=1, restart=rule), worker) as tree:
        tree.up().signal(signal.SIGTERM)
        tree.until("drain", at="worker-1")
        tree.kill("keeper-1")
        tree.until("child ended", child="keeper-1")
        tree.order("worker-1", "exit 0")
        tree.until("child ended", child="worker-1")
        assert tree.until("died", at="keeper-1", who="worker-1")
        assert tree.ended() == 0


def test_a_mourner_that_never_answers_is_waited_for_once_and_not_at_every_stage(tmp_path: Path) -> None:
    silent = {"silent_mourner": True}
    keeper = kind("keeper", stop_stage=2, grace_s=1.5, script=silent)
    middle, worker = kind("middle", stop_stage=1, grace_s=0.5), kind("worker", mourners=["keeper"])
    with Tree(tmp_path, keeper, middle, worker) as tree:
        tree.up().signal(signal.SIGTERM)
        tree.until("child ended", child="worker-1")
        tree.until("drain", at="middle-1")
        began = time.monotonic()
        tree.until("drain", at="keeper-1")
        assert time.monotonic() - began < 1.2
        assert tree.ended() == 0


def test_a_child_that_does_not_drain_is_killed_after_its_grace(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a", grace_s=0.2, script={"drain": "deaf"})) as tree:
        tree.up().signal(signal.SIGTERM)
        tree.until("drain")
        began = time.monotonic()
        assert tree.until("child ended")["why"] == "it did not drain in time"
        assert 1.0 < time.monotonic() - began < 2.5
        assert tree.ended() == 0


def test_a_status_that_a_child_drains_with_is_that_of_the_tree(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a", script={"drain": "exit 5"}), kind("b", stop_stage=1)) as tree:
        tree.up().signal(signal.SIGINT)
        assert tree.ended() == 5


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_everything_within_three_seconds(tmp_path: Path, second: int) -> None:
    deaf = {"drain": "deaf"}
    with Tree(tmp_path, kind("a", grace_s=60.0, script=deaf), kind("b", stop_stage=1, script=deaf)) as tree:
        tree.up().signal(signal.SIGTERM)
        tree.until("drain", at="a-1")
        tree.kill("a-1", signal.SIGSTOP)
        began = time.monotonic()
        tree.signal(second)
        tree.ended()
        assert time.monotonic() - began < 3.0
        assert {line["why"] for line in tree.said("child ended")} == {"the tree was told twice to end"}


def test_a_tree_that_is_told_to_end_while_it_comes_up_does(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a", grace_s=0.1, script={"starts": ["deaf"]}), kind("b")) as tree:
        tree.until("deaf")
        tree.signal(signal.SIGTERM)
        assert tree.ended() == 0
        assert not tree.said("began", at="b-1")


def test_when_the_supervisor_is_killed_some_die_at_once_and_the_others_learn_of_it(tmp_path: Path) -> None:
    leader = kind("leader", killed_with_us=True, leads_group=True)
    with Tree(tmp_path, kind("actor"), leader, kind("worker", killed_with_us=True)) as tree:
        tree.up().order("leader-1", "spawn")
        program = tree.until("spawned")["program"]
        tree.order("worker-1", "deaf")
        tree.until("deaf")
        workers = [tree.pid("leader-1"), tree.pid("worker-1")]
        actor = tree.pid("actor-1")
        os.kill(tree.process.pid, signal.SIGKILL)
        assert eventually(lambda: all(map(is_gone, workers)), within_s=1.0)
        tree.until("orphaned", at="actor-1")
        assert eventually(lambda: is_gone(actor), within_s=2.0)
        assert eventually(lambda: is_gone(program), within_s=2.0), "what a worker has started goes with it"


def title(pid: int) -> str:
    """Nothing for a zombie or someone who has just gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0")
    except OSError:
        return ""


def test_a_guard_that_is_killed_is_replaced_and_guards(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("worker", killed_with_us=True, leads_group=True)) as tree:
        tree.up().order("worker-1", "spawn")
        program = tree.until("spawned")["program"]
        supervisor = psutil.Process(tree.process.pid)

        def guards() -> set[int]:
            return {each.pid for each in supervisor.children() if title(each.pid) == "pulse: guard [test]"}

        assert eventually(lambda: len(guards()) == 1, within_s=2.0)
        (old,) = guards()
        os.kill(old, signal.SIGKILL)
        assert eventually(lambda: bool(guards() - {old}), within_s=2.0)
        supervisor.kill()
        assert eventually(lambda: is_gone(program), within_s=2.0)


def test_a_supervisor_that_fails_leaves_no_children(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a", box_bytes=8, watched=True)) as tree:
        tree.up().order("a-1", "mark fail")
        assert tree.ended() == 1
        assert "this check fails" in tree.errors()
        assert not psutil.pid_exists(int(tree.said("began")[0]["pid"]))


def test_a_tree_goes_on_when_nobody_reads_its_log(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a")) as tree:
        pid = tree.up().pid("a-1")
        assert tree.process.stdout is not None
        tree.process.stdout.close()
        tree.signal(signal.SIGHUP)
        assert not eventually(lambda: is_gone(pid), within_s=0.2)
        tree.signal(signal.SIGTERM)
        tree.process.wait(5.0)
        assert eventually(lambda: is_gone(pid), within_s=2.0)
