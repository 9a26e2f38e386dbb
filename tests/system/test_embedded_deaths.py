"""Whoever is killed, the server is neither leaked nor lost."""

import contextlib
import os
import signal
import subprocess
import threading
from pathlib import Path

import psutil
import psycopg
import pytest
from embedded_kit import User, ask, end, eventually, is_gone, tell

from pulse_runtime.embedded import Server

pytest_plugins = ("fix_embedded",)


def kill(pid: int | None) -> None:
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: is_gone(pid), within_s=5.0)


def test_a_killed_user_takes_its_server_along(home: Path) -> None:
    with User(home) as user:
        said = user.said()
        family = [said["postmaster"], *(each.pid for each in psutil.Process(said["postmaster"]).children())]
        guardian = psutil.Process(said["postmaster"]).ppid()
        user.process.kill()
        assert eventually(lambda: all(map(is_gone, [guardian, *family])), within_s=5.0)
    with Server(home) as dsn:
        assert ask(dsn, "select 1") == 1


def test_a_user_killed_while_it_makes_the_cluster_leaves_nothing_that_matters(folder: Path) -> None:
    home = folder / "home"
    with User(home) as user:
        assert eventually(lambda: bool(list(home.glob("init-*/base"))), within_s=10.0)
        making = psutil.Process(user.process.pid).children(recursive=True)
        assert making
        user.process.kill()
        assert eventually(lambda: all(is_gone(each.pid) for each in making), within_s=5.0)
    server = Server(home, durable=False)
    assert ask(server.start(), "select 1") == 1
    assert not list(home.glob("init-*"))
    end(server)


def test_a_killed_guardian_takes_the_server_along_and_the_user_can_start_again(home: Path) -> None:
    server = Server(home)
    server.start()
    pid = server.postmaster_pid
    assert pid is not None
    kill(psutil.Process(pid).ppid())
    assert eventually(lambda: is_gone(pid), within_s=5.0)
    assert ask(server.start(), "select 1") == 1
    assert "was shut down" in server.log_file.read_text()
    server.stop(wait_s=10.0)


def test_a_guardian_killed_just_now_is_no_obstacle(home: Path) -> None:
    server = Server(home)
    server.start()
    guardian = psutil.Process(server.postmaster_pid).ppid()
    os.kill(guardian, signal.SIGKILL)
    server.start()
    assert eventually(lambda: bool(server.start()) and ask(server.dsn, "select 1") == 1, within_s=5.0)
    server.stop(wait_s=10.0)


def test_a_killed_server_comes_back_with_its_data(home: Path) -> None:
    server = Server(home)
    tell(server.start(), "create table kept (answer int)", "insert into kept values (42)")
    kill(server.postmaster_pid)
    assert server.postmaster_pid is None or eventually(lambda: server.postmaster_pid is None, within_s=5.0)
    assert ask(server.start(), "select answer from kept") == 42
    server.stop(wait_s=10.0)


def test_a_backend_that_never_looks_up_does_not_hold_back_the_next_start(home: Path) -> None:
    server = Server(home)
    dsn = server.start()
    tell(dsn, "create function spin() returns void language sql as 'select count(*) from generate_series(1, 1e12)'")
    with psycopg.connect(dsn) as connection:
        backend = connection.info.backend_pid
        spinning = threading.Thread(target=swallow, args=(connection,))
        spinning.start()
        assert eventually(
            lambda: ask(dsn, f"select state from pg_stat_activity where pid = {backend}") == "active", within_s=5.0
        )
        kill(server.postmaster_pid)
        assert ask(server.start(timeout_s=10.0), "select 1") == 1
        assert is_gone(backend)
        spinning.join()
    server.stop(wait_s=10.0)


def swallow(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    with contextlib.suppress(psycopg.Error):
        connection.execute("select count(*) from (select from generate_series(1, 1000000000) offset 0) endless")


def test_a_pid_file_that_names_someone_elses_process_is_no_obstacle(home: Path) -> None:
    server = Server(home)
    server.start()
    folder = Path(ask(server.dsn, "show unix_socket_directories"))
    files = [server.data / "postmaster.pid", folder / ".s.PGSQL.5432.lock"]
    left = [file.read_text().split("\n", 1)[1] for file in files]
    kill(server.postmaster_pid)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as someone:
        for file, rest in zip(files, left, strict=True):
            file.write_text(f"{someone.pid}\n{rest}")
        assert ask(server.start(timeout_s=10.0), "select 1") == 1
        assert someone.poll() is None
    server.stop(wait_s=10.0)


def test_a_newcomer_waits_for_a_shutdown_and_then_has_its_own_server(home: Path) -> None:
    for _ in range(3):
        first, second = Server(home), Server(home)
        first.start()
        pid = first.postmaster_pid
        first.stop()
        assert pid is not None
        assert ask(second.start(), "select 1") == 1
        second.stop()


def test_a_server_that_is_told_to_go_is_started_again(home: Path) -> None:
    server = Server(home)
    server.start()
    pid = server.postmaster_pid
    assert pid is not None
    os.kill(pid, signal.SIGINT)
    assert eventually(lambda: is_gone(pid), within_s=5.0)
    assert ask(server.start(), "select 1") == 1
    server.stop(wait_s=10.0)


@pytest.mark.long
def test_a_frozen_server_is_gone_five_seconds_after_its_user(home: Path) -> None:
    with User(home) as user:
        pid = user.said()["postmaster"]
        os.kill(pid, signal.SIGSTOP)
        user.process.kill()
        assert eventually(lambda: is_gone(pid), within_s=5.0)
    with Server(home) as dsn:
        assert ask(dsn, "select 1") == 1
