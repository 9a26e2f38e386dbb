"""Where a run happens: in a database of its own, unless it is told to stay in the one that is given."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from pulse_runtime import config
from pulse_runtime.cli.database import started_server, talk
from pulse_runtime.embedded import Server
from pulse_runtime.store.connect import Connection, connect
from pulse_runtime.store.history import require
from pulse_runtime.store.scratch import scratch

OTHERWISE = (
    "or add --here: then the run uses the database of the DSN, and its jobs stay there until retention removes them"
)


class Place(NamedTuple):
    """A database with our schema, and names that nobody else uses."""

    dsn: str
    queue: str
    runtime: str


@contextmanager
def place(dsn: str | None, *, here: bool) -> Iterator[Place]:
    """Nothing of the run is left afterwards; with `here`, its jobs are."""
    own = f"loadgen-{os.urandom(4).hex()}"
    with _server(dsn) as found:
        if here:
            with connect(found, actor="loadgen") as connection:
                require(connection)
            yield Place(found, own, own)
        else:
            with scratch(found, prefix="pulse_loadgen", otherwise=OTHERWISE) as made:
                yield Place(made, own, own)


def described(connection: Connection) -> tuple[str, bool]:
    """The server's version, and whether its commits survive the machine: else the figures are of something else."""
    question = (
        "select current_setting('server_version'), current_setting('fsync') = 'on' "
        "and current_setting('synchronous_commit') <> 'off'"
    )
    version, durable = connection.execute(question).fetchall()[0]
    return str(version), bool(durable)


@contextmanager
def _server(dsn: str | None) -> Iterator[str]:
    """The DSN of the settings, or the embedded server, which is started and gone afterwards."""
    settings = config.load(dsn=dsn)
    if settings.dsn.value is not None:
        yield settings.dsn.value
        return
    server = Server(settings.home.value)
    try:
        talk(f"no DSN was given: an embedded Postgres in {settings.home.value}")
        yield started_server(server)
    finally:
        server.stop(wait_s=10.0)
