"""A durable Postgres of the benchmark's own, and databases in it that last as long as one measurement."""

import contextlib
import itertools
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from benchmarks.scenario import Setup
from pulse_runtime.embedded import Server
from pulse_runtime.store.connect import connect
from pulse_runtime.store.migrate import migrate

Connection = psycopg.Connection[Any]

BASELINE = Path(__file__).with_name("baseline.sql")
# Five million jobs fit into the buffers, and no checkpoint falls into a measurement unless a row asks for one: not by
# time, and not by size (the largest row writes about 3 GB between two). fsync and full_page_writes stay on.
SETTINGS = {"shared_buffers": "2GB", "max_wal_size": "16GB", "checkpoint_timeout": "1h"}
TEMPLATE = "bench_template"


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A running server whose template has both schemas: Pulse's and the baseline's."""

    dsn: str
    postmaster: int
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """The DSN of a new database with both schemas, both empty. Dropped afterwards, whoever is connected to it, so
        that neither its vacuum nor its pages trouble what is measured next."""
        name = f"bench_{next(self._numbers)}"
        with connected(self.dsn) as admin:
            _run(admin, "create database {} template {}", name, TEMPLATE)
        try:
            yield make_conninfo(self.dsn, dbname=name)
        finally:
            with connected(self.dsn) as admin:
                _run(admin, "drop database {} with (force)", name)

    @contextlib.contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection to a database of its own."""
        with self.database() as dsn, connected(dsn) as connection:
            yield connection


@contextlib.contextmanager
def running(setup: Setup) -> Iterator[Cluster]:
    """The `prepare` of the store's rows."""
    folder = Path(tempfile.mkdtemp(prefix="pulse-bench-"))
    server = Server(folder / "home", settings=SETTINGS)
    try:
        with server as dsn:
            setup.facts["postgres"] = _make_template(dsn)
            setup.facts["settings"] = str(SETTINGS)
            pid = server.postmaster_pid
            if pid is None:
                raise RuntimeError("the server that was just started is gone")
            yield Cluster(dsn=dsn, postmaster=pid)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def connected(dsn: str) -> Connection:
    """In autocommit, every statement prepared the first time it is sent."""
    connection: Connection = psycopg.connect(dsn, autocommit=True)
    connection.prepare_threshold = 0
    return connection


def _make_template(dsn: str) -> str:
    """Returns the server's version."""
    with connected(dsn) as admin:
        _run(admin, "create database {}", TEMPLATE)
    with connect(make_conninfo(dsn, dbname=TEMPLATE), actor="benchmark") as connection:
        migrate(connection)
    with connected(make_conninfo(dsn, dbname=TEMPLATE)) as connection:
        connection.execute(BASELINE.read_bytes(), prepare=False)
        return str(connection.execute("show server_version").fetchall()[0][0])


def _run(admin: Connection, statement: str, *names: str) -> None:
    admin.execute(sql.SQL(statement).format(*map(sql.Identifier, names)), prepare=False)
