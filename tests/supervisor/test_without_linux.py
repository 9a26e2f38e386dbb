"""What is left where there are no pidfds, no waitid and no prctl: polling. Run on Linux, and so no proof for macOS."""

import os
import signal
from pathlib import Path

import psutil
from embedded_kit import eventually, is_gone
from tree_kit import Tree, kind


def test_deaths_are_found_told_and_mended_by_polling(tmp_path: Path) -> None:
    box = kind("b", box_bytes=64, mourners=["a"], leads_group=True, silent_s=1.0)
    with Tree(tmp_path, kind("a"), box, links=[("a", "b")], without_linux=True) as tree:
        tree.up().order("b-1", "spawn")
        program = tree.until("spawned")["program"]
        tree.kill("b-1")
        tree.until_all(
            ("died", {"at": "a-1", "how": "killed by SIGKILL"}),
            ("joined", {"at": "b-1", "peer": "a-1", "incarnation": 1}),
        )
        assert eventually(lambda: not psutil.pid_exists(program) or is_gone(program), within_s=2.0)
        os.kill(tree.pid("b-1"), signal.SIGSTOP)
        assert tree.until("died", at="a-1")["why"].startswith("silent for")
        tree.until("began", at="b-1", incarnation=3)
        tree.signal(signal.SIGTERM)
        assert tree.ended() == 0


def test_when_the_supervisor_is_killed_everyone_learns_of_it_all_the_same(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a"), kind("b", killed_with_us=True), without_linux=True) as tree:
        tree.up()
        pids = [tree.pid("a-1"), tree.pid("b-1")]
        tree.signal(signal.SIGKILL)
        assert eventually(lambda: all(map(is_gone, pids)), within_s=5.0)
