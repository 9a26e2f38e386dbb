"""How psycopg asks one question and gets one value."""

from typing import Any

from psycopg import AsyncCursor, Cursor
from psycopg.rows import tuple_row

from pulse_runtime.store.statement import Statement


def ask(connection: Any, statement: Statement) -> Any:
    """Through a cursor of our own class: the caller's cursor and row factories may mean something else by it."""
    with Cursor(connection, row_factory=tuple_row) as cursor:
        row = cursor.execute(statement.text(percent).encode(), statement.named()).fetchone()
    return row and row[0]


async def aask(connection: Any, statement: Statement) -> Any:
    """See `ask`."""
    async with AsyncCursor(connection, row_factory=tuple_row) as cursor:
        await cursor.execute(statement.text(percent).encode(), statement.named())
        row = await cursor.fetchone()
    return row and row[0]


def percent(_: int, name: str) -> str:
    """A placeholder of psycopg, and of Django's cursors."""
    return f"%({name})s"
