"""Children that end: how soon they are back, when not, and what is known of the dead."""

import os
import resource
import signal
import time
from pathlib import Path

import psutil
import pytest
from embedded_kit import eventually
from tree_kit import Tree, kind

from pulse_supervisor import Restart
from pulse_supervisor.exits import Exit
from pulse_supervisor.intensity import Intensity

AT_ONCE = {"free": 1000, "most": 1001}


def test_a_killed_child_is_replaced_within_50_ms(tmp_path: Path) -> None:
    took = []
    with Tree(tmp_path, kind("a", restart=AT_ONCE)) as tree:
        tree.up()
        for incarnation in range(2, 12):
            killed = time.monotonic()
            tree.kill("a-1")
            tree.until("began", at="a-1", incarnation=incarnation)
            took.append(time.monotonic() - killed)
    assert sorted(took)[len(took) // 2] < 0.05, took


def test_a_crash_loop_is_slowed_down_and_then_given_up_with_the_reason(tmp_path: Path) -> None:
    rule = {"free": 2, "first_s": 0.05, "longest_s": 0.1, "most": 5}
    with Tree(tmp_path, kind("a"), kind("b", restart=rule)) as tree:
        tree.up()
        tree.rewind()
        for incarnation in range(1, 6):
            tree.until("child started", child="b-1", incarnation=incarnation)
            tree.until("child ready", child="b-1")
            tree.order("b-1", "exit 9")
        assert tree.ended() == 1
        assert tree.said("giving up")[0]["why"] == "b-1 ended 5 times in a row, the last: exited with status 9"
        assert len(tree.said("drain", at="a-1")) == 1, "the others are drained"


def test_an_end_before_ready_counts_three_and_a_long_life_wipes_out() -> None:
    strikes = Intensity(Restart(free=3, first_s=0.1, longest_s=1.0, most=10, lived_s=30.0))
    assert [strikes.ended(lived_s=1.0, was_ready=True) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert strikes.ended(lived_s=0.0, was_ready=False) == pytest.approx(0.4)
    assert strikes.ended(lived_s=0.0, was_ready=False) == 1.0
    assert not strikes.hopeless
    assert strikes.ended(lived_s=30.0, was_ready=True) == 0.0
    assert strikes.strikes == 1
    for _ in range(9):
        strikes.ended(lived_s=1.0, was_ready=True)
    assert strikes.hopeless


def test_who_is_killed_now_and_then_is_always_back_at_once_and_a_crash_loop_is_one_all_the_same() -> None:
    now_and_then, loop = Intensity(Restart()), Intensity(Restart())
    assert {now_and_then.ended(lived_s=6.0, was_ready=True) for _ in range(100)} == {0.0}
    assert not now_and_then.hopeless
    waits = [loop.ended(lived_s=4.0, was_ready=True) for _ in range(20)]
    assert max(waits) == 10.0
    assert loop.hopeless


def test_ends_after_ready_of_a_child_that_is_forgiven_slow_it_down_and_are_no_reason_to_give_up() -> None:
    strikes = Intensity(Restart(free=3, first_s=0.1, longest_s=1.0, most=10, forgiving=True))
    waits = [strikes.ended(lived_s=1.0, was_ready=True) for _ in range(50)]
    assert waits[:3] == [0.0] * 3
    assert waits[3] == pytest.approx(0.1)
    assert waits[-1] == 1.0
    assert not strikes.hopeless
    for _ in range(4):
        strikes.ended(lived_s=0.0, was_ready=False)
    assert strikes.hopeless, "one that cannot even start is"


def test_no_status_of_a_child_that_is_forgiven_ends_the_tree_or_becomes_its_own(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a", restart={"forgiving": True}, script={"drain": "exit 3"})) as tree:
        tree.up().order("a-1", "exit 78")
        tree.until("began", at="a-1", incarnation=2)
        tree.until("child ready")
        tree.signal(signal.SIGTERM)
        assert tree.ended() == 0


def test_ends_are_told_in_words() -> None:
    assert str(Exit.of(0)) == "exited with status 0"
    assert str(Exit.of(78 << 8)) == "exited with status 78"
    assert str(Exit.of(signal.SIGKILL)) == "killed by SIGKILL"
    assert str(Exit.of(signal.SIGSEGV)) == "segfault"
    assert str(Exit.of(signal.SIGRTMIN + 1)) == "killed by signal 35"


@pytest.mark.parametrize(
    ("order", "how"), [("exit 0", "exited with status 0"), ("segfault", "segfault"), ("raise", "exited with status 70")]
)
def test_a_child_that_ends_by_itself_comes_back_and_its_mourner_knows_how_it_ended(
    tmp_path: Path, order: str, how: str
) -> None:
    with Tree(tmp_path, kind("a"), kind("b", mourners=["a"])) as tree:
        tree.up().order("b-1", order)
        assert tree.until("died", at="a-1")["how"] == how
        tree.rewind()
        tree.until("began", at="b-1", incarnation=2)


def test_a_black_box_can_be_read_after_its_owner_was_killed(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a"), kind("b", box_bytes=64, mourners=["a"])) as tree:
        tree.up().order("b-1", "mark lastword")
        tree.until("marked")
        tree.kill("b-1")
        death = tree.until("died", at="a-1", who="b-1")
        assert (death["how"], death["box"]) == ("killed by SIGKILL", "lastword")
        tree.rewind()
        tree.until("began", at="b-1", incarnation=2)
        tree.kill("b-1")
        assert tree.until("died", at="a-1", who="b-1", incarnation=2)["box"] == "\0" * 8, "each life has its own"


def test_a_box_that_is_larger_than_a_socket_holds_reaches_the_mourner(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a"), kind("b", count=2, box_bytes=2 << 20, mourners=["a"])) as tree:
        tree.up()
        for name in ("b-1", "b-2"):
            tree.order(name, f"mark {name}")
            tree.until("marked", at=name)
        tree.kill("a-1", signal.SIGSTOP)
        for name in ("b-1", "b-2"):
            tree.kill(name)
            tree.until("child ended", child=name)
        tree.kill("a-1", signal.SIGCONT)
        for name in ("b-1", "b-2"):
            assert tree.until("died", at="a-1", who=name)["box"].startswith(name)


def test_a_child_whose_box_says_that_it_is_overdue_is_killed_by_name(tmp_path: Path) -> None:
    rule = {"free": 0, "most": 1}  # a strike would end the tree
    with Tree(tmp_path, kind("a"), kind("b", box_bytes=8, watched=True, mourners=["a"], restart=rule)) as tree:
        tree.up().order("b-1", "mark late")
        death = tree.until("died", at="a-1", who="b-1")
        assert (death["how"], death["why"]) == ("killed by SIGKILL", "it is late")
        tree.rewind()
        tree.until("began", at="b-1", incarnation=2)


def test_mourners_are_told_in_order_each_after_the_one_before_has_answered(tmp_path: Path) -> None:
    silent = {"silent_mourner": True}
    with Tree(tmp_path, kind("a", script=silent), kind("b"), kind("c", mourners=["a", "b"])) as tree:
        tree.up().kill("c-1")
        tree.until("died", at="a-1", who="c-1")
        tree.until("child ready", child="c-1")
        assert not tree.said("died", at="b-1")
        tree.order("a-1", "seen")
        tree.until("died", at="b-1", who="c-1", incarnation=1)


def test_a_mourner_that_dies_before_it_answers_is_told_again(tmp_path: Path) -> None:
    silent = {"silent_mourner": True}
    with Tree(tmp_path, kind("a", script=silent), kind("b"), kind("c", mourners=["a", "b"])) as tree:
        tree.up().kill("c-1")
        first = tree.until("died", at="a-1")
        tree.kill("a-1")
        again = tree.until("died", at="a-1")
        assert (again["pid"] != first["pid"], again["who"], again["incarnation"]) == (True, "c-1", 1)
        tree.order("a-1", "seen")
        tree.until("died", at="b-1", who="c-1")


def test_a_place_whose_deaths_nobody_deals_with_waits(tmp_path: Path) -> None:
    silent = {"silent_mourner": True}
    with Tree(tmp_path, kind("a", script=silent), kind("b", restart=AT_ONCE, mourners=["a"]), kind("c")) as tree:
        tree.up()
        for incarnation in range(1, 17):
            tree.order("a-1", f"kill b-1 {incarnation} enough")
            tree.until("died", at="a-1", incarnation=incarnation)
        tree.kill("c-1")
        tree.until("child started", child="c-1")  # it came back later, and at once
        assert not tree.said("child started", child="b-1", incarnation=17)
        tree.order("a-1", "seen")
        tree.until("began", at="b-1", incarnation=17)


def test_a_group_goes_with_its_leader(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a", leads_group=True)) as tree:
        tree.up().order("a-1", "spawn")
        program = tree.until("spawned")["program"]
        os.kill(tree.pid("a-1"), signal.SIGKILL)
        assert eventually(lambda: not psutil.pid_exists(program), within_s=2.0), "killed, and reaped as well"


def test_strangers_are_adopted_and_reaped(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a")) as tree:
        tree.up().order("a-1", "stray")
        program = tree.until("strayed")["program"]
        assert psutil.Process(program).ppid() == tree.process.pid
        assert eventually(lambda: not psutil.pid_exists(program), within_s=5.0)


@pytest.mark.parametrize(("said", "head"), [("ffffffff", "ffffffff"), ("01000000c0", "c0")])
def test_a_child_that_talks_nonsense_to_the_supervisor_is_replaced(tmp_path: Path, said: str, head: str) -> None:
    with Tree(tmp_path, kind("a")) as tree:
        tree.up().order("a-1", f"raw_control {said}")
        assert tree.until("control wire broke")["why"].endswith(f"it begins with {head}")
        tree.until("began", at="a-1", incarnation=2)


def test_a_child_that_dies_in_the_middle_of_a_word_to_the_supervisor_died_of_what_killed_it(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a"), kind("b", mourners=["a"])) as tree:
        tree.up().order("b-1", "raw_control 10000000aabb\nexit 9")
        death = tree.until("died", at="a-1", who="b-1")
        assert (death["how"], death["why"]) == ("exited with status 9", None)


def test_a_child_that_closes_its_control_wire_and_lives_on_is_ended(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a")) as tree:
        tree.up().order("a-1", "close")
        assert tree.until("child ended")["why"] == "it closed its control wire and did not end"


def test_a_child_that_cannot_be_forked_is_tried_again(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("a", restart={"longest_s": 0.05, "most": 1000})) as tree:
        tree.up()
        pid = tree.process.pid
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, hard))
        tree.kill("a-1")
        assert "Too many open files" in tree.until("child not started")["why"]
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
        tree.until("began", at="a-1", incarnation=2)


def resident(process: psutil.Process) -> int:
    """KiB, counted page by page: the kernel's running count may be off by megabytes where there are many cores."""
    lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Rss:"))


def test_two_hundred_restarts_leave_nothing_behind(tmp_path: Path) -> None:
    box = kind("b", box_bytes=1 << 16, mourners=["a"], leads_group=True, restart={"free": 0, "most": 1})
    with Tree(tmp_path, kind("a"), box, links=[("a", "b")]) as tree:
        tree.up()
        watched = [psutil.Process(tree.process.pid), psutil.Process(tree.pid("a-1"))]
        tree.rewind()
        for incarnation in range(1, 231):
            tree.until_all(
                ("child ready", {"child": "b-1"}),
                ("joined", {"at": "a-1", "peer": "b-1", "incarnation": incarnation}),
            )
            if incarnation == 30:
                descriptors = [each.num_fds() for each in watched]
                memory = [resident(each) for each in watched]
            tree.order("a-1", f"kill b-1 {incarnation} again")
        tree.until_all(("child ready", {"child": "b-1"}), ("joined", {"at": "a-1", "peer": "b-1", "incarnation": 231}))
        assert [each.num_fds() for each in watched] == descriptors
        grown = [resident(each) - before for each, before in zip(watched, memory, strict=True)]
        assert max(grown) < 1024, grown
        titles = {each.cmdline()[0] for each in watched[0].children(recursive=True)}
        assert titles == {"pulse: a-1 [test]", "pulse: b-1 [test]", "pulse: guard [test]"}


def test_a_child_that_is_stopped_is_found_silent_and_replaced(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("mixer", silent_s=0.5), kind("lamp")) as tree:
        tree.up()
        tree.kill("lamp-1", signal.SIGSTOP)  # it may be silent
        tree.kill("mixer-1", signal.SIGSTOP)
        assert tree.until("child killed", child="mixer-1")["why"].startswith("silent for")
        tree.until("child ready", child="mixer-1")
        assert tree.said("child killed", child="lamp-1") == []
        tree.kill("lamp-1", signal.SIGCONT)


def test_a_supervisor_that_was_stopped_itself_finds_nobody_silent(tmp_path: Path) -> None:
    with Tree(tmp_path, kind("mixer", silent_s=0.5, count=3)) as tree:
        tree.up()
        tree.signal(signal.SIGSTOP)
        assert eventually(lambda: psutil.Process(tree.process.pid).status() == psutil.STATUS_STOPPED, within_s=5)
        time.sleep(1.0)  # longer than a child may be silent
        tree.signal(signal.SIGCONT)
        time.sleep(1.0)
        tree.signal(signal.SIGTERM)
        assert tree.ended() == 0
        assert tree.said("child killed") == []
