"""As whom the server runs: an ordinary user, root in a namespace, root without one."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from embedded_kit import NOBODY, User, ask, end, eventually, is_gone, public_folder, user_environment

from pulse_runtime.embedded import PostgresDidNotStart, Server
from pulse_runtime.embedded.root import Identity, choose_identity

pytest_plugins = ("fix_embedded",)

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="cannot run here: only root can become someone else")


def uid_of(pid: int | None) -> int:
    return psutil.Process(pid).uids().effective


@pytest.fixture
def ordinary() -> list[str]:
    """The command with which a Python script runs as an ordinary user."""
    if os.geteuid() != 0:
        return [sys.executable]
    nobody = Identity("setuid", NOBODY, NOBODY)
    # The interpreter of the tests may be in /root, where nobody may go; the system's is as good.
    for folder in (Path(sys.executable).parent, Path("/usr/local/bin"), Path("/usr/bin")):
        command = nobody.command(folder / f"python3.{sys.version_info.minor}")
        check = [*command, "-c", "import pulse_runtime.embedded"]
        if subprocess.run(check, env=user_environment(), cwd="/", capture_output=True).returncode == 0:
            return command
    pytest.skip("cannot run here: there is no Python that an ordinary user may execute")


def test_an_ordinary_user_runs_it_as_itself(ordinary: list[str]) -> None:
    with public_folder() as folder:
        home = folder / "home"
        home.mkdir()
        if os.geteuid() == 0:
            os.chown(home, NOBODY, NOBODY)
        with User(home, python=ordinary) as user:
            said = user.said()
            assert said["uid"] == uid_of(said["postmaster"]) != 0
            assert ask(said["dsn"], "select current_user") == "pulse"
            user.process.kill()
            assert eventually(lambda: is_gone(said["postmaster"]), within_s=5.0)


def test_a_home_without_the_right_to_write_is_a_clear_error(
    ordinary: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    with public_folder() as folder:
        folder.chmod(0o555)
        with User(folder / "home", python=ordinary) as user:
            assert user.process.wait() == 1
        folder.chmod(0o755)
    assert "home cannot be used: [Errno 13] Permission denied" in capfd.readouterr().err


@as_root
def test_root_runs_it_in_a_namespace_and_keeps_its_files(home: Path) -> None:
    server = Server(home)
    if choose_identity(data=server.data).mode != "namespace":
        pytest.skip("cannot run here: user namespaces are not available")
    dsn = server.start()
    inside = Path(f"/proc/{server.postmaster_pid}/uid_map").read_text().split()
    assert inside == [str(NOBODY), "0", "1"]
    assert uid_of(server.postmaster_pid) == 0
    assert ask(dsn, "select 1") == 1
    server.stop(wait_s=10.0)
    assert {each.stat().st_uid for each in home.rglob("*")} == {0}


@as_root
def test_root_without_namespaces_runs_it_as_another_account_who_then_owns_the_data(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULSE_PG_ROOT", "setuid")
    server = Server(home)
    dsn = server.start()
    pid = server.postmaster_pid
    assert uid_of(pid) == server.data.stat().st_uid != 0
    assert ask(dsn, "select 1") == 1
    assert pid is not None
    os.kill(psutil.Process(pid).ppid(), 9)
    assert eventually(lambda: is_gone(pid), within_s=5.0), "the death signal did not survive the change of user"
    monkeypatch.delenv("PULSE_PG_ROOT")
    server.start()
    assert uid_of(server.postmaster_pid) == server.data.stat().st_uid != 0
    server.stop(wait_s=10.0)


@as_root
def test_root_without_namespaces_can_make_the_cluster_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULSE_PG_ROOT", "setuid")
    with public_folder() as folder:
        server = Server(folder / "home", durable=False)
        assert ask(server.start(), "select 1") == 1
        end(server)


@as_root
def test_a_home_that_the_other_account_cannot_reach_is_explained(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULSE_PG_ROOT", "setuid")
    folder.chmod(0o700)
    with pytest.raises(PostgresDidNotStart, match="set PULSE_HOME to a folder whose parents everybody may pass"):
        Server(folder / "home").start()
