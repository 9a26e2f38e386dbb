"""The connections that `on=` takes, each by the driver that it belongs to.

A driver is recognised by the module of the connection's class, so nothing is imported that the caller has not. No
adapter commits, rolls back or connects: the transaction is the caller's.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from pulse_runtime.job_errors import WrongConnection
from pulse_runtime.producers import adapters
from pulse_runtime.store import execute
from pulse_runtime.store.statement import Statement

__all__ = ["asynchronous", "synchronous"]

_SYNC: dict[tuple[str, str], Callable[[Any, Statement], Any]] = {
    ("psycopg", "Connection"): execute.ask,
    ("psycopg", "Cursor"): adapters.psycopg_cursor,
    ("psycopg", "ServerCursor"): adapters.psycopg_cursor,
    ("sqlalchemy", "Connection"): adapters.sqlalchemy,
    ("sqlalchemy", "Session"): adapters.sqlalchemy,
    ("sqlalchemy", "scoped_session"): adapters.sqlalchemy,
    ("builtins", "str"): adapters.django_alias,
}
_ASYNC: dict[tuple[str, str], Callable[[Any, Statement], Awaitable[Any]]] = {
    ("psycopg", "AsyncConnection"): execute.aask,
    ("psycopg", "AsyncCursor"): adapters.psycopg_async_cursor,
    ("psycopg", "AsyncServerCursor"): adapters.psycopg_async_cursor,
    ("asyncpg", "Connection"): adapters.asyncpg,
    ("asyncpg", "PoolConnectionProxy"): adapters.asyncpg,
    ("sqlalchemy", "AsyncConnection"): adapters.sqlalchemy_async,
    ("sqlalchemy", "AsyncSession"): adapters.sqlalchemy_async,
    ("sqlalchemy", "async_scoped_session"): adapters.sqlalchemy_async,
}
_TAKEN = (
    "It takes a connection or cursor of psycopg, a connection of asyncpg, a session or connection of SQLAlchemy, "
    "or the alias of a Django database"
)


def synchronous(on: object) -> Callable[[Any, Statement], Any]:
    """The adapter for `on` in a call that blocks. Raises WrongConnection."""
    for name in _names(on):
        if name in _SYNC:
            return _SYNC[name]
        if name in _ASYNC:
            raise WrongConnection(f"on= is asynchronous ({_called(on)}): await aenqueue or aenqueue_many instead")
    raise WrongConnection(f"on= cannot be {_called(on)}. {_TAKEN}")


def asynchronous(on: object) -> Callable[[Any, Statement], Awaitable[Any]]:
    """The adapter for `on` in a call that is awaited. Raises WrongConnection."""
    for name in _names(on):
        if name in _ASYNC:
            return _ASYNC[name]
        if name in _SYNC:
            hint = ", inside sync_to_async" if isinstance(on, str) else ""
            raise WrongConnection(
                f"on= is not asynchronous ({_called(on)}): call enqueue or enqueue_many instead{hint}"
            )
    raise WrongConnection(f"on= cannot be {_called(on)}. {_TAKEN}")


def _names(on: object) -> list[tuple[str, str]]:
    """Package and name of the class and of those it was derived from, nearest first."""
    return [(each.__module__.partition(".")[0], each.__name__) for each in type(on).__mro__]


def _called(on: object) -> str:
    return f"the text {on!r}" if isinstance(on, str) else f"a {type(on).__module__}.{type(on).__qualname__}"
