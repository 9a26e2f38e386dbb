"""`pulse-runtime --handlers …`: the runtime itself."""

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pulse_runtime.settings import RuntimeSettings


@dataclass(frozen=True, kw_only=True)
class Flags:
    """What the command line said."""

    dsn: str | None
    handlers: Sequence[str]
    queues: str
    executors: int
    concurrency: int
    loop: str
    name: str | None
    lease: float
    """Seconds, as those that follow."""
    beat: float
    grace: float
    cleanup: float
    max_jobs: int | None
    max_memory: int | None
    hard_memory: int | None
    schedules: Literal["sync", "strict"]
    shards: int | None
    shard: int | None
    migrate: bool
    pooled: bool
    reload: bool
    log: str


def start(flags: Flags) -> int:
    """Run until told to stop; an embedded Postgres is started if there is no DSN."""
    from pulse_runtime import config
    from pulse_runtime.settings import check

    settings, found = _settings(flags), config.load(dsn=flags.dsn)
    check(settings)  # before a server is started, or a database migrated, for what cannot work
    if found.dsn.value is not None:
        return _start(replace(settings, dsn=found.dsn.value), migrate=flags.migrate)
    from pulse_runtime.cli.database import started_server, talk
    from pulse_runtime.embedded import Server

    server = Server(found.home.value)
    dsn = started_server(server)
    talk(f"no DSN was given: an embedded Postgres in {found.home.value}")
    try:
        return _start(replace(settings, dsn=dsn), migrate=True)
    finally:
        server.stop(wait_s=10.0)


def _settings(flags: Flags) -> "RuntimeSettings":
    from pulse_runtime.settings import RuntimeSettings, parse_queues

    return RuntimeSettings(
        dsn="",
        name=flags.name or f"{socket.gethostname()}/{os.environ.get('PULSE_NAME', '1')}",
        handlers=tuple(flags.handlers),
        queues=parse_queues(flags.queues),
        executors=flags.executors,
        concurrency=flags.concurrency,
        loop=flags.loop,
        lease_s=flags.lease,
        beat_s=flags.beat,
        grace_s=flags.grace,
        cleanup_s=flags.cleanup,
        max_jobs=flags.max_jobs,
        max_memory=flags.max_memory,
        hard_memory=flags.hard_memory,
        schedules=flags.schedules,
        shards=flags.shards,
        shard=flags.shard,
        pooled=flags.pooled,
        reload=flags.reload,
        pretty={"json": False, "text": True}.get(flags.log),
    )


def _start(settings: "RuntimeSettings", *, migrate: bool) -> int:
    from pulse_runtime import runtime

    if migrate:
        code = runtime.in_child(lambda: _migrate(settings.dsn))
        if code:
            return code
    return runtime.run(settings)


def _migrate(dsn: str) -> int:
    """In a child: psycopg is not for the process that forks."""
    from pulse_runtime.cli.database import talk, tell_migrate
    from pulse_runtime.errors import PulseError
    from pulse_runtime.store.connect import connect

    try:
        with connect(dsn, actor="cli") as connection:
            tell_migrate(connection)
    except PulseError as error:
        talk(f"error: {error}")
        return error.exit_code
    return 0
