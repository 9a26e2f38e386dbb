"""From the settings to a connection, for the commands that need one."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from pulse_runtime import config
from pulse_runtime.embedded import Server
from pulse_runtime.embedded.cluster import newest_data
from pulse_runtime.store.connect import Connection, connect
from pulse_runtime.store.history import require
from pulse_runtime.store.migrate import migrate


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
    home = settings.home.value
    if newest_data(home) is None:
        talk(f"making a Postgres in {home} (once) ...")
    server = Server(home)
    try:
        with connect(server.start(), actor="cli") as connection:
            if prepare:
                migrate(connection, applied=lambda step: talk(f"applied {step.name}"))
            yield connection
    finally:
        server.stop(wait_s=0.0 if sys.exc_info()[0] else 10.0)
