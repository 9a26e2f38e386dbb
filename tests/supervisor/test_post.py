"""A place in the tree, with a process of the test's own in it."""

import mmap
import signal
import socket
import subprocess
from collections.abc import Iterator

import pytest
from embedded_kit import eventually, is_gone

from pulse_supervisor import Child, Died, Wire
from pulse_supervisor.checks import Checks
from pulse_supervisor.control import FromChild
from pulse_supervisor.post import Post
from pulse_supervisor.roster import Roster


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def post_of(process: subprocess.Popen[bytes]) -> Post:
    post = Post(Child(kind="a", main=lambda _: 0), 1)
    post.pid = process.pid
    return post


def test_a_child_that_can_no_longer_be_told_anything_is_killed(sleeper: subprocess.Popen[bytes]) -> None:
    """Its wire is one that takes no long messages, which is as good as any other error of a socket's."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    post = post_of(sleeper)
    post.control = Wire(near, incoming=FromChild)
    with far:
        post.tell(Died("b", 1, 1, 4321, "segfault", None, bytes(16 << 20)))
        assert sleeper.wait(5.0) == -signal.SIGKILL
    assert post.why is not None
    assert post.why.startswith("its control wire broke: cannot write")
    post.control.close()


def test_a_box_is_not_held_against_its_owner_when_it_was_the_supervisor_that_was_stopped(
    sleeper: subprocess.Popen[bytes],
) -> None:
    late: list[float] = []
    spec = Child(kind="a", main=lambda _: 0, box_bytes=1, overdue=lambda _, now: "it is late" if now in late else None)
    roster = Roster([spec], [])
    (post,) = roster.posts
    post.pid, post.ready, post.box = sleeper.pid, True, mmap.mmap(-1, 1)
    killed: list[float] = []
    checks = Checks(roster, log=lambda *_, **__: killed.append(now))
    late += [110.0, 110.4, 111.4]
    for now in (100.0, 100.2, 110.0, 110.4, 110.8, 111.2, 111.4):
        checks.look(now)
    assert killed == [111.4], "it had gone on by 110.8"
    post.box.close()


def test_what_the_dead_asked_for_goes_to_nobody_who_has_their_number_now(sleeper: subprocess.Popen[bytes]) -> None:
    post = post_of(sleeper)
    post.waited = True
    post.kill(why="it asked for it with its last words")
    assert post.why == "it asked for it with its last words"
    assert not eventually(lambda: is_gone(sleeper.pid), within_s=0.1)
