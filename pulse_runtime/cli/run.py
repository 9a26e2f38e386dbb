"""`pulse-runtime --handlers …`: the runtime itself."""

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pulse_runtime.durations import parse_s
from pulse_runtime.sizes import parse_bytes


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
    lease: str
    beat: str
    grace: str
    cleanup: str
    max_jobs: int | None
    max_memory: str | None
    hard_memory: str | None
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

    settings = config.load(dsn=flags.dsn)
    if settings.dsn.value is not None:
        return _start(flags, settings.dsn.value, migrate=flags.migrate)
    from pulse_runtime.cli.database import started_server, talk
    from pulse_runtime.embedded import Server

    server = Server(settings.home.value)
    dsn = started_server(server)
    talk(f"no DSN was given: an embedded Postgres in {settings.home.value}")
    try:
        return _start(flags, dsn, migrate=True)
    finally:
        server.stop(wait_s=10.0)


def _start(flags: Flags, dsn: str, *, migrate: bool) -> int:
    from pulse_runtime import runtime
    from pulse_runtime.settings import RuntimeSettings, parse_queues

    settings = RuntimeSettings(
        dsn=dsn,
        name=flags.name or f"{socket.gethostname()}/{os.environ.get('PULSE_NAME', '1')}",
        handlers=tuple(flags.handlers),
        queues=parse_queues(flags.queues),
        executors=flags.executors,
        concurrency=flags.concurrency,
        loop=flags.loop,
        lease_s=parse_s(flags.lease),
        beat_s=parse_s(flags.beat),
        grace_s=parse_s(flags.grace),
        cleanup_s=parse_s(flags.cleanup),
        max_jobs=flags.max_jobs,
        max_memory=None if flags.max_memory is None else parse_bytes(flags.max_memory),
        hard_memory=None if flags.hard_memory is None else parse_bytes(flags.hard_memory),
        schedules=flags.schedules,
        shards=flags.shards,
        shard=flags.shard,
        pooled=flags.pooled,
        reload=flags.reload,
        pretty={"json": False, "text": True}.get(flags.log),
    )
    if migrate:
        code = runtime.in_child(lambda: _migrate(dsn))
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
