"""What is asked of the database once, when the tree first comes up. Here, and only here, an actor may wait."""

from pulse_runtime.errors import Refused
from pulse_runtime.events import Log
from pulse_runtime.identity import Identity, lives
from pulse_runtime.settings import RuntimeSettings
from pulse_runtime.store.connect import Connection, connect
from pulse_runtime.store.deadlines import within
from pulse_runtime.store.history import require
from pulse_runtime.store.rebase import require_own_xids

PATIENCE_S = 8.0


class Namesake(Refused):
    """Another runtime of this name is running."""

    def __init__(self, name: str, where: str) -> None:
        super().__init__(
            f"a runtime called {name!r} is running already ({where}). Stop it first, or give this one another --name"
        )
        self.name = name


def check_database(settings: RuntimeSettings) -> None:
    """Schema, transaction ids and pause switch are as they should be, or the runtime does not start: fail safe."""
    with (
        connect(settings.dsn, actor=f"claimer {settings.name}") as connection,
        within(connection, PATIENCE_S, asked="check the schema and the pause switch"),
    ):
        require(connection)
        require_own_xids(connection)
        connection.execute("select paused_at from pulse.dispatch").fetchone()


def take_over(settings: RuntimeSettings, identity: Identity, log: Log) -> None:
    """End the executors of this runtime's last life, if they are dead. Raises Namesake if one lives."""
    nothing = ", ".join(["'{}'"] * 8)
    bury = f"select pulse.bury(%s, 'its runtime was restarted', {nothing}, 'lost')".encode()
    with (
        connect(settings.dsn, actor=f"reporter {settings.name}") as connection,
        within(connection, PATIENCE_S, asked="look for an earlier life of this runtime"),
    ):
        dead = _dead(connection, settings.name, identity)
        for executor in dead:
            connection.execute(bury, (executor,))
    if dead:
        log("took over", executors=dead)


def _dead(connection: Connection, name: str, identity: Identity) -> list[int]:
    dead = []
    rows = connection.execute(
        "select id, host, boot_id, pid, pid_start, beats from pulse.namesakes(%s)", (name,)
    ).fetchall()
    for executor, host, boot_id, pid, pid_start, _ in rows:
        if host != identity.host:
            raise Namesake(name, f"on {host}, or it died there a moment ago: its lease lapses by itself")
        if boot_id == identity.boot_id and lives(pid, pid_start):
            raise Namesake(name, f"executor pid {pid}")
        dead.append(executor)
    return dead
