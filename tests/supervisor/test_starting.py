"""How a tree comes up, and what a child finds when it begins."""

import threading
from pathlib import Path

import psutil
import pytest
from tree_kit import Tree, kind

from pulse_supervisor import Child, Link, Seat, Supervisor
from pulse_supervisor.process import fork


def sockets(pid: int) -> set[str]:
    return {target for link in Path(f"/proc/{pid}/fd").iterdir() if (target := str(link.readlink())).startswith("sock")}


def test_each_kind_is_ready_before_the_next_begins(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("first", count=2, script={"starts": ["nothing"]}), kind("second")) as tree:
        tree.until("began")
        tree.until("began")
        tree.order("first-1", "ready")
        tree.until("child ready", child="first-1")
        assert not tree.said("began", at="second-1")
        tree.order("first-2", "ready")
        tree.until("child ready", child="first-2")
        assert tree.until("began", at="second-1")["first"] is True
        tree.up()


def test_every_process_has_a_title(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("mixer", count=2)) as tree:
        tree.up()
        pids = (tree.process.pid, tree.pid("mixer-1"), tree.pid("mixer-2"))
        titles = {psutil.Process(pid).cmdline()[0] for pid in pids}
    assert titles == {"pulse: supervisor [test]", "pulse: mixer-1 [test]", "pulse: mixer-2 [test]"}


def test_a_child_has_no_socket_but_its_own(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a"), kind("b", count=2), links=[("a", "b")]) as tree:
        tree.up()
        tree.kill("b-1")
        pid = tree.until("child started", child="b-1", incarnation=2)["child_pid"]
        for joined in ({"at": "a-1", "peer": "b-1", "incarnation": 2}, {"at": "b-1", "peer": "a-1", "pid": pid}):
            tree.rewind()  # either may come first
            tree.until("joined", **joined)
        held = {name: sockets(tree.pid(name)) for name in ("a-1", "b-1", "b-2")}
        ours = sockets(tree.process.pid)
    assert {name: len(each) for name, each in held.items()} == {"a-1": 3, "b-1": 2, "b-2": 2}
    assert len(set().union(ours, *held.values())) == len(ours) + 7, "somebody holds another's"
    assert len(ours) == 3 + 2  # the control wires, and the signals'


def test_a_child_does_not_share_the_memory_of_its_neighbours_box(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a", count=3, box_bytes=64)) as tree:
        tree.up()
        tree.order("a-3", "boxes")
        assert tree.until("boxes")["count"] == 1


def test_a_child_that_is_not_ready_in_time_is_killed_and_started_again(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("slow", ready_s=0.1, script={"starts": ["deaf", "ready"]})) as tree:
        assert tree.until("child ended")["why"] == "it was not ready within 0.1 s"
        tree.until("child ready", child="slow-1")


@pytest.mark.parametrize("start", ["exit 78", "ready"])
def test_a_configuration_error_ends_the_tree_and_is_never_restarted(tmp_path: Path, start: str) -> None:
    with Tree(tmp_path, kind("a"), kind("b", script={"starts": [start]})) as tree:
        if start == "ready":
            tree.up()
            tree.order("b-1", "exit 78")
        assert tree.ended() == 78
        assert tree.said("giving up")[0]["why"] == "b-1 exited with status 78"
        assert len(tree.said("began", at="b-1")) == 1


def test_a_refusal_ends_the_tree_at_its_first_boot_only(tmp_path: Path) -> None:
    first, later = tmp_path / "first", tmp_path / "later"
    first.mkdir()
    later.mkdir()
    with Tree(first, kind("a", refusals=[3], script={"starts": ["exit 3"]})) as tree:
        assert tree.ended() == 3
        assert len(tree.said("began")) == 1
    with Tree(later, kind("a", refusals=[3], script={"starts": ["ready", "exit 3", "ready"]})) as tree:
        tree.up().kill("a-1")
        assert tree.until("began", at="a-1", incarnation=3)["first"] is False


def test_a_program_that_a_child_starts_can_be_terminated(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a")) as tree:
        tree.up()
        tree.order("a-1", "spawn")
        tree.order("a-1", "terminate")
        assert tree.until("terminated")["status"] == -15


def test_a_process_with_threads_does_not_fork() -> None:
    leave = threading.Event()
    thread = threading.Thread(target=leave.wait, name="the one that waits")
    thread.start()
    try:
        with pytest.raises(RuntimeError, match=r"threads running: .*the one that waits"):
            fork(lambda: 0, title="never")
    finally:
        leave.set()
        thread.join()


def body(_: Seat) -> int:
    return 0


@pytest.mark.parametrize(
    ("children", "links", "problem"),
    [
        ([Child(kind="a", main=body), Child(kind="a", main=body)], [], "twice in the table: a"),
        ([Child(kind="a", main=body)], [Link("a", "b")], "'b', which is not in the table"),
        ([Child(kind="a", main=body, mourners=("b",))], [], "'b' cannot be told"),
        ([Child(kind="a", main=body, mourners=("b",)), Child(kind="b", main=body, count=2)], [], "one of it"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(children: list[Child], links: list[Link], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Supervisor(children, links, name="never", log=print)
