"""Wires between living and dying processes: fresh ones for survivors, and an end for what cannot be understood."""

import signal
import time
from pathlib import Path

import pytest
from tree_kit import Tree, kind

QUICK = {"restart": {"free": 1000, "most": 1001}}


def pair(folder: Path) -> Tree:
    return Tree(folder, kind("a", **QUICK), kind("b", **QUICK), links=[("a", "b")])


def test_a_survivor_gets_a_fresh_wire_to_whoever_comes_back(tmp_path: Path) -> None:
    with pair(tmp_path) as tree:
        tree.up()
        for incarnation in (2, 3):
            tree.kill("b-1")
            assert tree.until("left", at="a-1")["incarnation"] == incarnation - 1
            tree.until("joined", at="a-1", peer="b-1", incarnation=incarnation)
            tree.order("a-1", f"send b-1 hello-{incarnation}")
            tree.until("said", at="b-1", by="a-1", text=f"hello-{incarnation}")
            tree.order("b-1", f"send a-1 welcome-{incarnation}")
            tree.until("said", at="a-1", by="b-1", text=f"welcome-{incarnation}")


def test_everyone_of_a_kind_has_a_wire_to_everyone_of_the_other(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a", count=2), kind("b", count=2), links=[("a", "b"), ("b", "b")]) as tree:
        tree.up()
        wanted = {("a-1", "b-1"), ("a-1", "b-2"), ("a-2", "b-1"), ("a-2", "b-2"), ("b-1", "b-2")}
        for one, other in wanted:
            tree.order(one, f"send {other} {one}")
            tree.until("said", at=other, by=one, text=one)
            tree.rewind()


def test_what_a_peer_said_before_it_died_is_told_before_its_end(tmp_path: Path) -> None:
    with pair(tmp_path) as tree:
        tree.up()
        tree.kill("a-1", signal.SIGSTOP)
        tree.order("b-1", "send a-1 last 1000 50")  # fits into the socket, which a-1 does not read yet
        tree.order("b-1", "exit 0")
        tree.until("began", at="b-1", incarnation=2)
        tree.kill("a-1", signal.SIGCONT)
        tree.until("left", at="a-1", peer="b-1", incarnation=1)
        assert len(tree.said("said", at="a-1", text="last")) == 50
        tree.rewind()
        tree.until("joined", at="a-1", peer="b-1", incarnation=2)


def test_a_frame_larger_than_any_socket_buffer_arrives(tmp_path: Path) -> None:
    with pair(tmp_path) as tree:
        tree.up()
        tree.order("a-1", f"send b-1 big {9 << 20} 2")
        tree.order("b-1", f"send a-1 big {20 << 20}")
        for _ in range(2):
            assert tree.until("said", at="b-1", text="big")["bytes"] == 9 << 20
        tree.rewind()
        assert tree.until("said", at="a-1", text="big")["bytes"] == 20 << 20


@pytest.mark.parametrize(
    ("data", "head"), [("03000000ffffff", "ffffff"), ("01000000c0", "c0"), ("f0ffffff01020304", "f0ffffff 01020304")]
)
def test_bytes_that_are_no_message_end_the_wire_and_not_the_tree(tmp_path: Path, data: str, head: str) -> None:
    with pair(tmp_path) as tree:
        tree.up().order("b-1", "send a-1 good")
        tree.until("said", at="a-1", text="good")
        tree.order("b-1", f"raw a-1 {data}")
        why = tree.until("left", at="a-1", peer="b-1")["why"]
        assert why.startswith("cannot be understood")
        assert why.endswith(f"it begins with {head}")
        tree.until("joined", at="a-1", peer="b-1", incarnation=1)
        tree.rewind()
        tree.until("left", at="b-1")
        tree.until("joined", at="b-1", peer="a-1")
        tree.order("b-1", "send a-1 again")
        tree.until("said", at="a-1", text="again")
        assert len(tree.said("child started")) == 2, "nobody had to die for it"


def test_two_who_do_not_understand_each_other_do_not_break_wires_as_fast_as_they_can(tmp_path: Path) -> None:
    with pair(tmp_path) as tree:
        tree.up().order("b-1", "raw a-1 ffffffff")
        tree.until("left", at="a-1")
        tree.until("joined", at="a-1")
        tree.rewind()
        tree.until("left", at="b-1")
        tree.until("joined", at="b-1")
        began = time.monotonic()
        tree.order("b-1", "raw a-1 ffffffff")
        tree.until("left", at="a-1")
        tree.until("joined", at="a-1", peer="b-1")
        assert time.monotonic() - began > 0.5


def test_a_frame_that_is_cut_by_a_death_is_told_with_its_head(tmp_path: Path) -> None:
    with pair(tmp_path) as tree:
        tree.up().order("b-1", "raw a-1 10000000aabbccdd")
        tree.order("b-1", "exit 0")
        why = tree.until("left", at="a-1")["why"]
        assert why == "cut in the middle of a frame, after 8 bytes: 10000000 aabbccdd"
        tree.until("joined", at="a-1", peer="b-1", incarnation=2)


def test_a_peer_that_does_not_read_loses_its_wire_and_is_killed_and_nobody_waits(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a"), kind("b", count=2, mourners=["a"]), links=[("a", "b")]) as tree:
        tree.up().order("b-1", "deaf")
        tree.until("deaf")
        tree.order("a-1", f"send b-1 load {8 << 20} 6")
        tree.order("a-1", "send b-2 still-here")
        tree.until("said", at="b-2", text="still-here")
        tree.rewind()
        assert "does not read" in tree.until("died", at="a-1", who="b-1")["why"]
        tree.rewind()
        tree.until("joined", at="a-1", peer="b-1", incarnation=2)


def test_a_peer_killed_with_unread_input_is_no_reason_for_a_second_wire(tmp_path: Path) -> None:
    with pair(tmp_path) as tree:
        tree.up().order("b-1", "deaf")
        tree.until("deaf")
        tree.order("a-1", "send b-1 unread")
        tree.order("a-1", "send a-9 nobody")  # read after the line before it
        tree.order("a-1", "kill b-1 1 enough")
        assert tree.until("left", at="a-1")["why"] == "closed"
        tree.until("joined", at="a-1", peer="b-1", incarnation=2)
        tree.order("b-1", "send a-1 hello")
        tree.until("said", at="a-1", text="hello")
        assert len(tree.said("joined", at="a-1")) == 2
