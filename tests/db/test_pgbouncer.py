"""Everything works through PgBouncer in transaction mode, where every transaction may get another session."""

import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from cluster_kit import Cluster
from embedded_kit import eventually
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pulse_runtime.embedded.root import choose_identity
from pulse_runtime.errors import NoDatabase
from pulse_runtime.store.connect import connect
from pulse_runtime.store.history import require, status
from pulse_runtime.store.migrate import migrate

PGBOUNCER = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")

pytestmark = pytest.mark.skipif(PGBOUNCER is None, reason="cannot run here: pgbouncer is not installed")


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        return int(taken.getsockname()[1])


def answers(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def pooled_dsn(server: Cluster, empty_dsn: str, folder: Path) -> Iterator[str]:
    """The empty database, through a pooler that has two sessions for everybody."""
    there = conninfo_to_dict(empty_dsn)
    port = free_port()
    (folder / "users").write_text('"pulse" ""\n')
    (folder / "ini").write_text(
        f"[databases]\n* = host={there['host']} port={there['port']} user=pulse\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\npool_mode = transaction\n"
        f"default_pool_size = 2\nauth_type = trust\nauth_file = {folder / 'users'}\n"
    )
    assert PGBOUNCER is not None
    # PgBouncer refuses to be root, and another account cannot reach the socket: it runs as the server does.
    command = choose_identity(data=folder).command(Path(PGBOUNCER), folder / "ini", death_signal=signal.SIGKILL)
    with (folder / "log").open("w") as log:
        pooler = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        assert eventually(lambda: answers(port), within_s=5.0), (folder / "log").read_text()
        yield make_conninfo(host="127.0.0.1", port=port, user="pulse", dbname=there["dbname"])
    finally:
        pooler.kill()
        pooler.wait()


def test_migrations_and_questions_pass_through_a_pooler(pooled_dsn: str) -> None:
    with connect(pooled_dsn, actor="test") as connection:
        migrate(connection)
        require(connection)
        assert {step.state for step in status(connection)} == {"applied"}


def test_ten_connections_share_two_sessions_and_prepare_nothing(pooled_dsn: str) -> None:
    with ExitStack() as opened:
        connections = [opened.enter_context(connect(pooled_dsn, actor=f"test{number}")) for number in range(10)]
        sessions = set()
        for turn in range(8):  # psycopg would prepare at the fifth
            for connection in connections:
                row = connection.execute("select pg_backend_pid(), %s::int", (turn,)).fetchone()
                assert row
                sessions.add(row[0])
        assert len(sessions) <= 2
        prepared = connections[0].execute("select count(*) from pg_prepared_statements").fetchone()
        assert prepared == (0,)


def test_the_pooler_is_one_that_refuses_startup_options(pooled_dsn: str) -> None:
    with pytest.raises(NoDatabase, match="unsupported startup parameter"):
        connect(make_conninfo(pooled_dsn, options="-c statement_timeout=1"), actor="test")
