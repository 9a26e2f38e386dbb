"""How each driver asks one question and gets one value. A library is imported once a connection of it is given."""

import sys
from typing import Any

from pulse_runtime.job_errors import WrongConnection
from pulse_runtime.store import execute
from pulse_runtime.store.statement import Statement


def psycopg_cursor(cursor: Any, statement: Statement) -> Any:
    """Beside the caller's cursor, whose rows stay."""
    return execute.ask(cursor.connection, statement)


async def psycopg_async_cursor(cursor: Any, statement: Statement) -> Any:
    """See `psycopg_cursor`."""
    return await execute.aask(cursor.connection, statement)


async def asyncpg(connection: Any, statement: Statement) -> Any:
    """Outside of a transaction, asyncpg commits each statement by itself."""
    return await connection.fetchval(statement.text(_dollar), *statement.values)


def sqlalchemy(connection: Any, statement: Statement) -> Any:
    """A session or a connection: both begin a transaction if there is none, and the caller commits it."""
    return connection.execute(_clause(statement), statement.named()).scalar_one()


async def sqlalchemy_async(connection: Any, statement: Statement) -> Any:
    """See `sqlalchemy`."""
    return (await connection.execute(_clause(statement), statement.named())).scalar_one()


def django_alias(alias: str, statement: Statement) -> Any:
    """On Django's own connection of this thread, so inside `transaction.atomic` it is part of it."""
    if "django" not in sys.modules:
        raise WrongConnection(f"on={alias!r} would be an alias of Django, and Django is not in use. Give a connection")
    from django.db import connections  # type: ignore[import-untyped, unused-ignore]

    if alias not in connections:
        raise WrongConnection(f"on={alias!r} is not in Django's DATABASES, which has {', '.join(connections)}")
    if connections[alias].vendor != "postgresql":
        raise WrongConnection(f"on={alias!r} is {connections[alias].vendor}, and Pulse keeps its jobs in Postgres")
    with connections[alias].cursor() as cursor:
        cursor.execute(statement.text(execute.percent), statement.named())
        return cursor.fetchone()[0]


def _clause(statement: Statement) -> Any:
    from sqlalchemy import text

    return text(statement.text(_colon))


def _dollar(number: int, _: str) -> str:
    return f"${number}"


def _colon(_: int, name: str) -> str:
    return f":{name}"
