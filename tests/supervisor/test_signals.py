"""SIGHUP replaces children one at a time; SIGUSR1 shows what everyone does."""

import signal
from pathlib import Path

from embedded_kit import eventually, is_gone
from tree_kit import Tree, kind


def test_a_rolling_restart_replaces_one_after_the_other(tmp_path: Path) -> None:
    rolled = kind("b", count=3, rolling=True, script={"starts": ["ready", "nothing"]}, restart={"free": 0, "most": 1})
    with Tree(tmp_path, kind("a"), rolled) as tree:
        tree.up().signal(signal.SIGHUP)
        for number in (1, 2, 3):
            tree.until("drain", at=f"b-{number}")
            tree.until("began", at=f"b-{number}", incarnation=2)
            tree.kill("a-1")
            tree.until("child ready", child="a-1")  # the supervisor has turned meanwhile
            assert len(tree.said("drain")) == number, "the next waits until this one is READY"
            tree.order(f"b-{number}", "ready")
            tree.until("child ready", child=f"b-{number}")
        assert not tree.said("drain", at="a-1")


def test_a_second_hangup_while_it_rolls_goes_round_again(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("b", count=2, rolling=True, script={"starts": ["ready", "nothing", "ready"]})) as tree:
        tree.up().signal(signal.SIGHUP)
        tree.until("began", at="b-1", incarnation=2)
        tree.signal(signal.SIGHUP)
        tree.until("rolling restart")
        tree.order("b-1", "ready")
        tree.until("began", at="b-2", incarnation=2)
        tree.order("b-2", "ready")
        tree.until("began", at="b-1", incarnation=3)


def test_a_replacement_that_refuses_to_start_stops_the_rolling_and_not_the_tree(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("b", count=2, rolling=True, script={"starts": ["ready", "exit 78", "ready"]})) as tree:
        tree.up().signal(signal.SIGHUP)
        assert tree.until("rolling restart stopped")["why"] == "b-1 exited with status 78"
        assert not tree.said("drain", at="b-2")
        tree.signal(signal.SIGHUP)
        tree.until("child started", child="b-1", incarnation=3)
        tree.signal(signal.SIGTERM)
        assert tree.ended() == 0


def test_usr1_shows_the_stacks_of_everyone_and_harms_no_one(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a", leads_group=True), kind("b")) as tree:
        tree.up().order("a-1", "spawn")
        program = tree.until("spawned")["program"]
        tree.signal(signal.SIGUSR1)
        assert eventually(lambda: tree.errors().count('hub.py", line') >= 2, within_s=5.0)
        parts = tree.errors().split("--- stacks of ")[1:]
        assert [part.split(",")[0] for part in parts] == ["supervisor", "a-1", "b-1"]
        assert "tree.py" in parts[0]
        assert all("in poll" in part and "puppets.py" in part for part in parts[1:])
        assert not is_gone(program)
        tree.signal(signal.SIGTERM)
        assert tree.ended() == 0
        assert {line["how"] for line in tree.said("child ended")} == {"exited with status 0"}
