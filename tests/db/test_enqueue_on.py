"""`on=` with the real libraries: the job lives and dies with the caller's transaction."""

import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import django  # type: ignore[import-untyped]
import django.db.transaction  # type: ignore[import-untyped]
import psycopg
import pytest
import sqlalchemy as sa
from django.conf import settings as django_settings  # type: ignore[import-untyped]
from fix_cluster import Connection
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from pulse_runtime import Job, WrongConnection, aenqueue, aenqueue_many, enqueue, enqueue_many

JOBS = [Job("b", {"n": 1}), Job("c", delay="1h", priority=2, tenant="t")]


class Undone(Exception):  # noqa: N818
    """Raised in a transaction so that its library rolls it back."""


def kinds(connection: Connection) -> list[str]:
    found = connection.execute("select kind from pulse.log union all select kind from pulse.delayed order by 1")
    return [row[0] for row in found]


def url(dsn: str, driver: str) -> sa.URL:
    parts = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    query: dict[str, str] = {name: parts[name] for name in ("host", "port") if name in parts}
    return sa.URL.create(f"postgresql+{driver}", username=parts["user"], database=parts["dbname"], query=query)


@contextmanager
def psycopg_connection(dsn: str) -> Iterator[Any]:
    with psycopg.connect(dsn) as connection:
        yield connection


@contextmanager
def psycopg_cursor(dsn: str) -> Iterator[Any]:
    with psycopg.connect(dsn) as connection, connection.cursor() as cursor:
        yield cursor


@contextmanager
def sqlalchemy_connection(dsn: str) -> Iterator[Any]:
    engine = sa.create_engine(url(dsn, "psycopg"), poolclass=sa.NullPool)
    with engine.begin() as connection:
        yield connection


@contextmanager
def sqlalchemy_session(dsn: str) -> Iterator[Any]:
    engine = sa.create_engine(url(dsn, "psycopg"), poolclass=sa.NullPool)
    with Session(engine) as session, session.begin():
        yield session


@contextmanager
def sqlalchemy_scoped_session(dsn: str) -> Iterator[Any]:
    session = scoped_session(sessionmaker(sa.create_engine(url(dsn, "psycopg"), poolclass=sa.NullPool)))
    try:
        with session.begin():
            yield session
    finally:
        session.remove()


@contextmanager
def django_alias(dsn: str) -> Iterator[Any]:
    parts = conninfo_to_dict(dsn)
    names = {"NAME": "dbname", "USER": "user", "HOST": "host", "PORT": "port"}
    database = {ours: str(parts[theirs]) for ours, theirs in names.items() if theirs in parts}
    if not django_settings.configured:
        django_settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.dummy"}})
        django.setup()
    django.db.connections.settings = django.db.connections.configure_settings(
        {"default": {"ENGINE": "django.db.backends.postgresql", **database}}
    )
    try:
        with django.db.transaction.atomic():
            yield "default"
    finally:
        django.db.connections["default"].close()
        del django.db.connections["default"]


@asynccontextmanager
async def psycopg_async_connection(dsn: str) -> AsyncIterator[Any]:
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        yield connection


@asynccontextmanager
async def psycopg_async_cursor(dsn: str) -> AsyncIterator[Any]:
    async with await psycopg.AsyncConnection.connect(dsn) as connection, connection.cursor() as cursor:
        yield cursor


@asynccontextmanager
async def asyncpg_connection(dsn: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(**asyncpg_options(dsn))
    try:
        async with connection.transaction():
            yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def asyncpg_pooled(dsn: str) -> AsyncIterator[Any]:
    pool = asyncpg.create_pool(**asyncpg_options(dsn), min_size=1, max_size=1)
    async with pool, pool.acquire() as connection, connection.transaction():
        yield connection


@asynccontextmanager
async def sqlalchemy_async_connection(dsn: str) -> AsyncIterator[Any]:
    engine = create_async_engine(url(dsn, "asyncpg"), poolclass=sa.NullPool)
    async with engine.begin() as connection:
        yield connection


@asynccontextmanager
async def sqlalchemy_async_session(dsn: str) -> AsyncIterator[Any]:
    engine = create_async_engine(url(dsn, "psycopg"), poolclass=sa.NullPool)
    async with AsyncSession(engine) as session, session.begin():
        yield session


def asyncpg_options(dsn: str) -> dict[str, Any]:
    parts = conninfo_to_dict(dsn)
    names = {"host": "host", "port": "port", "user": "user", "database": "dbname"}
    return {ours: parts[theirs] for ours, theirs in names.items() if theirs in parts}


SYNC = [
    psycopg_connection,
    psycopg_cursor,
    sqlalchemy_connection,
    sqlalchemy_session,
    sqlalchemy_scoped_session,
    django_alias,
]
ASYNC = [
    psycopg_async_connection,
    psycopg_async_cursor,
    asyncpg_connection,
    asyncpg_pooled,
    sqlalchemy_async_connection,
    sqlalchemy_async_session,
]
Begin = Callable[[str], AbstractContextManager[Any]]
AsyncBegin = Callable[[str], AbstractAsyncContextManager[Any]]


@pytest.mark.parametrize("begin", SYNC)
def test_a_job_is_seen_by_others_once_the_callers_transaction_commits(
    begin: Begin, dsn: str, connection: Connection
) -> None:
    with begin(dsn) as on:
        first = enqueue("a", {"é": [1.5, None]}, on=on, priority=1, key="k", delay="1m", metadata={"m": 1})
        assert enqueue("a", on=on, key="k") == (first.id, False)
        assert all(handle.created for handle in enqueue_many(JOBS, on=on))
        assert kinds(connection) == []
    assert kinds(connection) == ["a", "b", "c"]


@pytest.mark.parametrize("begin", SYNC)
def test_a_job_goes_with_the_callers_rollback(begin: Begin, dsn: str, connection: Connection) -> None:
    with suppress(Undone), begin(dsn) as on:
        enqueue("a", on=on)
        enqueue_many(JOBS, on=on)
        raise Undone
    assert kinds(connection) == []


@pytest.mark.anyio
@pytest.mark.parametrize("begin", ASYNC)
async def test_an_awaited_job_is_seen_once_the_callers_transaction_commits(
    begin: AsyncBegin, dsn: str, connection: Connection
) -> None:
    async with begin(dsn) as on:
        first = await aenqueue("a", {"é": [1.5, None]}, on=on, priority=1, key="k", delay="1m", metadata={"m": 1})
        assert await aenqueue("a", on=on, key="k") == (first.id, False)
        assert all(handle.created for handle in await aenqueue_many(JOBS, on=on))
        assert kinds(connection) == []
    assert kinds(connection) == ["a", "b", "c"]


@pytest.mark.anyio
@pytest.mark.parametrize("begin", ASYNC)
async def test_an_awaited_job_goes_with_the_callers_rollback(
    begin: AsyncBegin, dsn: str, connection: Connection
) -> None:
    with suppress(Undone):
        async with begin(dsn) as on:
            await aenqueue("a", on=on)
            await aenqueue_many(JOBS, on=on)
            raise Undone
    assert kinds(connection) == []


@pytest.mark.anyio
@pytest.mark.parametrize("begin", ASYNC)
async def test_enqueue_on_an_asynchronous_connection_names_aenqueue(begin: AsyncBegin, dsn: str) -> None:
    async with begin(dsn) as on:
        with pytest.raises(WrongConnection, match="await aenqueue"):
            enqueue("a", on=on)


@pytest.mark.anyio
@pytest.mark.parametrize("begin", SYNC)
async def test_aenqueue_on_a_blocking_connection_names_enqueue(begin: Begin, dsn: str) -> None:
    if begin is django_alias:
        with pytest.raises(WrongConnection, match=r"call enqueue .* inside sync_to_async"):
            await aenqueue("a", on="default")
        return
    with begin(dsn) as on, pytest.raises(WrongConnection, match="call enqueue"):
        await aenqueue("a", on=on)


def test_what_is_no_connection_is_refused_with_what_is() -> None:
    with pytest.raises(
        WrongConnection, match=r"cannot be a builtins.object. It takes a connection or cursor of psycopg"
    ):
        enqueue("a", on=object())


def test_an_alias_that_django_does_not_know_is_named(dsn: str) -> None:
    with django_alias(dsn), pytest.raises(WrongConnection, match="'other' is not in Django's DATABASES"):
        enqueue("a", on="other")


def test_enqueue_loads_no_library_that_the_caller_has_not() -> None:
    script = "import sys, pulse_runtime; pulse_runtime.enqueue; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"asyncpg", "sqlalchemy", "django"} & set(said.stdout.split()) == set()
