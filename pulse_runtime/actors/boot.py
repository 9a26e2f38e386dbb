"""What is asked of the database once, when the tree first comes up. Here, and only here, an actor may wait."""

import time
from typing import NamedTuple

from pulse_runtime.errors import Refused
from pulse_runtime.events import Log
from pulse_runtime.identity import Identity, is_sibling, lives
from pulse_runtime.settings import RuntimeSettings
from pulse_runtime.store.connect import Connection, connect
from pulse_runtime.store.deadlines import within
from pulse_runtime.store.history import require
from pulse_runtime.store.rebase import require_own_xids

PATIENCE_S = 8.0
DYING_S = 3.0
"""Executors of a supervisor that was killed a moment ago may still be on their way out."""


class Namesake(Refused):
    """Another runtime of this name is running."""

    def __init__(self, name: str, where: str) -> None:
        super().__init__(
            f"a runtime called {name!r} is running already ({where}). Stop it first, or give this one another --name"
        )
        self.name = name


class WrongIsolation(Refused):
    """Sessions begin with an isolation level under which guarded statements would see what was true before."""

    def __init__(self, level: str) -> None:
        super().__init__(
            f"default_transaction_isolation is {level!r} here, and Pulse needs 'read committed'. "
            "Set it for the role that runs Pulse: alter role … set default_transaction_isolation = 'read committed'"
        )
        self.level = level


def check_database(settings: RuntimeSettings) -> None:
    """Schema, transaction ids and pause switch are as they should be, or the runtime does not start: fail safe."""
    with (
        connect(settings.dsn, actor=f"claimer {settings.name}") as connection,
        within(connection, PATIENCE_S, asked="check the schema and the pause switch"),
    ):
        require(connection)
        require_own_xids(connection)
        connection.execute("select paused_at from pulse.dispatch").fetchone()
        isolation = connection.execute("show default_transaction_isolation").fetchone()
        if isolation and isolation[0] != "read committed":
            raise WrongIsolation(isolation[0])


def take_over(settings: RuntimeSettings, identity: Identity, log: Log) -> None:
    """End the executors of this runtime's last life, if they are dead. Raises Namesake if one lives.

    Whether a process of this host lives is asked of the kernel. Those of another host are watched for a lease time.
    Executors of our own tree are none of its last life: we may be the second reporter of a tree that still comes up.
    """
    nothing = ", ".join(["'{}'"] * 8)
    bury = f"select pulse.bury(%s, 'its runtime was restarted', {nothing}, 'lost')".encode()
    with connect(settings.dsn, actor=f"reporter {settings.name}") as connection:
        found = [each for each in _namesakes(connection, settings.name) if not _is_ours(each, identity)]
        _see_gone(settings, [each for each in found if _is_here(each, identity)])
        _see_stand_still(connection, settings, [each for each in found if each.host != identity.host], log)
        for each in found:
            with within(connection, PATIENCE_S, asked="give back the jobs of this runtime's last life"):
                connection.execute(bury, (each.executor,))
    if found:
        log("took over", executors=[each.executor for each in found])


class _Executor(NamedTuple):
    executor: int
    host: str
    boot_id: str
    pid: int
    pid_start: str
    beats: int


def _namesakes(connection: Connection, name: str) -> list[_Executor]:
    question = b"select id, host, boot_id, pid, pid_start, beats from pulse.namesakes(%s)"
    with within(connection, PATIENCE_S, asked="look for an earlier life of this runtime"):
        return [_Executor(*row) for row in connection.execute(question, (name,)).fetchall()]


def _is_here(each: _Executor, identity: Identity) -> bool:
    return (each.host, each.boot_id) == (identity.host, identity.boot_id)


def _is_ours(each: _Executor, identity: Identity) -> bool:
    return _is_here(each, identity) and is_sibling(each.pid, each.pid_start)


def _see_gone(settings: RuntimeSettings, here: list[_Executor]) -> None:
    """Returns when no process of theirs lives."""
    end = time.monotonic() + DYING_S
    while here := [each for each in here if lives(each.pid, each.pid_start)]:
        if time.monotonic() >= end:
            raise Namesake(settings.name, f"executor pid {here[0].pid}")
        time.sleep(0.02)


def _see_stand_still(connection: Connection, settings: RuntimeSettings, afar: list[_Executor], log: Log) -> None:
    """Returns when they have not beaten for a lease time, by our own clock; or were ended by someone else."""
    if afar:
        log("waiting", why=f"this runtime was last seen on {afar[0].host}", wait_s=settings.lease_s)
    end = time.monotonic() + settings.lease_s
    while afar and (left_s := end - time.monotonic()) > 0:
        time.sleep(min(settings.beat_s, left_s))
        now = {each.executor: each.beats for each in _namesakes(connection, settings.name)}
        afar = [each for each in afar if each.executor in now]
        for each in afar:
            if now[each.executor] != each.beats:
                raise Namesake(settings.name, f"on {each.host}")
