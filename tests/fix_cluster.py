"""Postgres for tests: one cluster per session, one database per test."""

import contextlib
from collections.abc import Iterator
from typing import Any, Protocol

import psycopg
import pytest
from cluster_kit import TEMPLATE, Cluster
from embedded_kit import public_folder

from pulse_runtime.embedded import PostgresNotFound, find_binaries

Connection = psycopg.Connection[Any]


class Connect(Protocol):
    """Open one more connection; options are those of psycopg, and autocommit is on unless they say otherwise."""

    def __call__(self, **options: Any) -> Connection: ...


def pytest_report_header() -> str:
    """Which Postgres the tests are about."""
    try:
        found = find_binaries()
    except PostgresNotFound as error:
        return f"postgres: none ({error.problem})"
    return f"postgres: {found.major} ({found.source})"


@pytest.fixture(scope="session")
def server() -> Iterator[Cluster]:
    """The session's cluster. A test may restart it: every other test has its own database and no connection open."""
    with public_folder() as folder:
        cluster = Cluster(folder / "cluster")
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()


@pytest.fixture
def dsn(server: Cluster) -> Iterator[str]:
    """A database of this test's own, with the schema and no rows; user `pulse` is superuser."""
    with database(server, template=TEMPLATE) as dsn:
        yield dsn


@pytest.fixture
def empty_dsn(server: Cluster) -> Iterator[str]:
    """A database of this test's own, without the schema."""
    with database(server, template="template1") as dsn:
        yield dsn


@pytest.fixture
def connect(dsn: str) -> Iterator[Connect]:
    """Connections to this test's database, as many as it likes; they are closed when it ends."""
    with contextlib.ExitStack() as opened:

        def connect(**options: Any) -> Connection:
            connection = psycopg.connect(dsn, **{"autocommit": True, **options})
            opened.callback(connection.close)
            return connection

        yield connect


@pytest.fixture
def connection(connect: Connect) -> Connection:
    """One connection to this test's database, autocommit on."""
    return connect()


@contextlib.contextmanager
def database(server: Cluster, *, template: str, patience_s: float = 2.0) -> Iterator[str]:
    """A new database; whoever is still connected to it at the end, when the time is up, is thrown out and named."""
    name = server.create(template=template)
    yield server.dsn_of(name)
    with server.ending(name, within_s=patience_s) as left:
        if left:
            server.roll_back_prepared(name)
    if left:
        pytest.fail("the test left behind: " + "; ".join(left), pytrace=False)
