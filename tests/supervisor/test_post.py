"""A place in the tree, with a process of the test's own in it."""

import signal
import socket
import subprocess
from collections.abc import Iterator

import pytest
from embedded_kit import eventually, is_gone

from pulse_supervisor import Child, Died, Wire
from pulse_supervisor.control import FromChild
from pulse_supervisor.post import Post


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


def test_what_the_dead_asked_for_goes_to_nobody_who_has_their_number_now(sleeper: subprocess.Popen[bytes]) -> None:
    post = post_of(sleeper)
    post.waited = True
    post.kill(why="it asked for it with its last words")
    assert post.why == "it asked for it with its last words"
    assert not eventually(lambda: is_gone(sleeper.pid), within_s=0.1)
