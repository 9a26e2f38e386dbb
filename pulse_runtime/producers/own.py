"""Pulse's own connections, for producers that give none: one per thread, and one per event loop, of each process."""

import asyncio
import contextlib
import os
import select
import threading
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import psycopg

from pulse_runtime.config import load
from pulse_runtime.errors import NoDatabase
from pulse_runtime.producers import adapters
from pulse_runtime.producers.errors import EnqueueUnsure, WrongConnection
from pulse_runtime.store.connect import aconnect, connect
from pulse_runtime.store.enqueue import Statement
from pulse_runtime.store.errors import NotMigrated

_ACTOR = "producer"


def ask(statement: Statement) -> Any:
    """The answer to `statement`, committed.

    Raises NoDatabase when nothing was sent, EnqueueUnsure when it was, and NotMigrated when there is no schema.
    """
    held = getattr(_threads, "held", None)
    if held is None or not held.is_usable():
        held = _threads.held = _Held(connect(_dsn(), actor=_ACTOR))
    with _explained(held.connection):
        return adapters.psycopg_connection(held.connection, statement)


async def aask(statement: Statement) -> Any:
    """The same, on the connection of the running event loop."""
    held = await _of_this_loop()
    with _explained(held.connection):
        return await adapters.psycopg_async_connection(held.connection, statement)


def close() -> None:
    """Close this thread's connection, if there is one. The next `enqueue` opens another."""
    held = _threads.__dict__.pop("held", None)
    if held is not None:
        held.drop()


async def aclose() -> None:
    """Close the connection of the running event loop, if there is one; the end of the loop does so too."""
    mine = _loops.pop(asyncio.get_running_loop(), None)
    if mine is not None:
        await mine.life.aclose()


class _Held:
    """A connection that is closed when nobody has it any more: with its thread, or with its event loop."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.pid = os.getpid()

    def is_usable(self) -> bool:
        """Whether it is this process's, and alive. One that is busy is: its user will hear otherwise."""
        if self.pid != os.getpid():
            return False
        return not self.connection.closed and (self.connection.lock.locked() or not _is_dead(self.connection))

    def drop(self) -> None:
        """Close it; in a forked child without a word to the server, which would end the parent's session."""
        if self.connection.closed:
            return
        if self.pid != os.getpid():
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, self.connection.pgconn.socket)
            os.close(nowhere)
        self.connection.pgconn.finish()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at the interpreter's end anything may be gone
            self.drop()


class _Loop:
    """What an event loop has: a connection, and a lock so that many calls at the start open one."""

    def __init__(self) -> None:
        self.held: _Held | None = None
        self.opening = asyncio.Lock()
        self.life = self._until_shutdown()

    async def _until_shutdown(self) -> AsyncGenerator[None]:
        """A loop that ends closes the generators that began in it: the only word it gives to a library."""
        try:
            yield
        finally:
            if self.held is not None:
                self.held.drop()


_threads = threading.local()
_loops: dict[asyncio.AbstractEventLoop, _Loop] = {}


async def _of_this_loop() -> _Held:
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        raise WrongConnection("without on=, aenqueue needs asyncio. Run enqueue in a thread instead") from None
    if running not in _loops:
        for each in [each for each in _loops if each.is_closed()]:
            del _loops[each]
        mine = _loops[running] = _Loop()
        await anext(mine.life)
    mine = _loops[running]
    async with mine.opening:
        if mine.held is None or not mine.held.is_usable():
            mine.held = _Held(await aconnect(_dsn(), actor=_ACTOR))
        return mine.held


def _dsn() -> str:
    dsn = load().dsn.value
    if dsn is None:
        raise NoDatabase(
            "there is no DSN, and enqueue starts no database of its own. Set PULSE_DSN, or give a connection with on="
        )
    return dsn


def _is_dead(connection: Any) -> bool:
    """Whether an idle connection was ended by the other side. It may have said why before, so all of it is read."""
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    while poll.poll(0):
        try:
            connection.pgconn.consume_input()
        except psycopg.OperationalError:
            return True
    return False


@contextlib.contextmanager
def _explained(connection: Any) -> Iterator[None]:
    """Say what an error of the driver means to a producer who never saw the connection."""
    try:
        yield
    except psycopg.errors.InvalidSchemaName:
        raise NotMigrated(["0001_ground"]) from None
    except psycopg.OperationalError as error:
        if connection.closed:
            raise EnqueueUnsure(" ".join(str(error).split())) from error
        raise
