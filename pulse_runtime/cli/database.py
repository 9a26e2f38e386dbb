"""From the settings to a connection, for the commands that need one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from pulse_runtime import config
from pulse_runtime.embedded import PostgresDidNotStart, PostgresNotFound, Server
from pulse_runtime.embedded.cluster import newest_data
from pulse_runtime.errors import NoDatabase
from pulse_runtime.store.connect import Connection, connect
from pulse_runtime.store.history import require
from pulse_runtime.store.migrate import migrate
from pulse_sql import Migration


def talk(line: str) -> None:
    """Say something to the person, on stderr: stdout is for data."""
    click.echo(line, err=True)


@contextmanager
def database(dsn: str | None, *, prepare: bool) -> Iterator[Connection]:
    """A connection to the database of the settings. An embedded one is started, and gone afterwards.

    With `prepare`, the schema is ours: an embedded database is migrated, another one is checked.
    """
    settings = config.load(dsn=dsn)
    if settings.dsn.value is not None:
        with connect(settings.dsn.value, actor="cli") as connection:
            if prepare:
                require(connection)
            yield connection
        return
    with embedded(settings.home.value, actor="cli") as connection:
        if prepare:
            tell_migrate(connection)
        yield connection


@contextmanager
def embedded(home: Path, *, actor: str) -> Iterator[Connection]:
    """A connection to the embedded server in `home`, which is started, and gone afterwards."""
    if newest_data(home) is None:
        talk(f"making a Postgres in {home} (once) ...")
    server = Server(home)
    try:
        with connect(started_server(server), actor=actor) as connection:
            yield connection
    finally:
        server.stop(wait_s=10.0)


def started_server(server: Server) -> str:
    """To whoever asked for a database, no binaries and no server are the same: exit code 5."""
    try:
        return server.start()
    except (PostgresNotFound, PostgresDidNotStart) as error:
        raise NoDatabase(str(error)) from error


def tell_migrate(connection: Connection) -> list[Migration]:
    """Migrate, and tell each step."""
    return migrate(connection, applied=lambda step: talk(f"applied {step.name}"))
