"""One server and several users, who come and go in any order."""

import os
from pathlib import Path

from embedded_kit import User, ask, end, eventually, is_gone

from pulse_runtime.embedded import Server

pytest_plugins = ("fix_embedded",)


def test_the_server_stays_until_its_last_user_leaves(home: Path) -> None:
    ours = Server(home)
    dsn = ours.start()
    with User(home) as other:
        pid = other.said()["postmaster"]
        assert pid == ours.postmaster_pid
        ours.stop(wait_s=10.0)
        assert ask(dsn, "select 1") == 1
    assert eventually(lambda: is_gone(pid), within_s=5.0)


def test_users_who_start_it_at_the_same_moment_get_one_server(folder: Path) -> None:
    home = folder / "home"
    users = [User(home) for _ in range(3)]
    said = [user.said() for user in users]
    assert len({each["postmaster"] for each in said}) == 1
    assert len({each["dsn"] for each in said}) == 1
    for user in users:
        user.leave()
    end(Server(home))
    assert eventually(lambda: is_gone(said[0]["postmaster"]), within_s=5.0)


def test_a_forked_child_keeps_the_server_when_its_parent_is_gone(home: Path) -> None:
    with User(home, how="fork") as user:
        said = user.said()
        user.process.wait()
        assert said["me"] != user.process.pid
        server = Server(home)
        server.stop(wait_s=0.3)
        assert ask(said["dsn"], "select 1") == 1
    assert eventually(lambda: is_gone(said["postmaster"]), within_s=5.0)


def test_a_forked_child_that_forgets_does_not_keep_it(home: Path) -> None:
    with User(home, how="forget") as user:
        said = user.said()
        user.process.wait()
        assert eventually(lambda: is_gone(said["postmaster"]), within_s=5.0)
        assert not is_gone(said["me"])


def test_forgetting_in_a_child_leaves_the_parents_share(home: Path) -> None:
    server = Server(home)
    dsn = server.start()
    child = os.fork()
    if child == 0:
        server.forget()
        os._exit(0)
    os.waitpid(child, 0)
    Server(home).stop(wait_s=0.3)
    assert ask(dsn, "select 1") == 1
    server.stop(wait_s=10.0)


def test_a_program_that_a_user_started_does_not_keep_it(home: Path) -> None:
    with User(home, how="exec") as user:
        said = user.said()
        user.process.wait()
        assert eventually(lambda: is_gone(said["postmaster"]), within_s=5.0)
