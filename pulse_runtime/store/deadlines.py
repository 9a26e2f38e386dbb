"""Deadlines that hold even when nobody answers.

A stopped backend, or a stopped server on a unix socket, keeps its connection open for ever: no TCP timeout sees it, and
psycopg's way to end a statement is to ask the same server to cancel it. Only our own end of the socket is ours to shut.
"""

import asyncio
import os
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Self

import psycopg

from pulse_runtime.errors import DatabaseSilent
from pulse_runtime.store.connect import AsyncConnection, Connection


@contextmanager
def within(connection: Connection, seconds: float, *, asked: str) -> Iterator[None]:
    """Everything in the block is answered within `seconds`, or the connection is closed and DatabaseSilent raised.

    `asked` completes "when asked to …". One thread per block (0.1 ms): for commands and producers, not for hot paths.
    """
    with _Cut(connection) as cut:
        timer = threading.Timer(seconds, cut.now)
        timer.daemon = True
        timer.start()
        try:
            yield
        except psycopg.OperationalError as error:
            if not cut.done:
                raise
            raise DatabaseSilent(actor=connection.actor, asked=asked, seconds=seconds) from error
        finally:
            timer.cancel()
            timer.join()
            # Also when the answer came in the same instant: it counts, but the connection is of no use any more.
            if cut.done:
                connection.close()


@asynccontextmanager
async def awithin(connection: AsyncConnection, seconds: float, *, asked: str) -> AsyncIterator[None]:
    """The same for asyncio, without a thread. Cancelling a task needs this too: it waits for the server otherwise."""
    with _Cut(connection) as cut:
        timer = asyncio.get_running_loop().call_later(seconds, cut.now)
        try:
            yield
        except psycopg.OperationalError as error:
            if not cut.done:
                raise
            raise DatabaseSilent(actor=connection.actor, asked=asked, seconds=seconds) from error
        finally:
            timer.cancel()
            if cut.done:
                await connection.close()


class _Cut:
    """Our end of the socket, to be shut from elsewhere. `done` says whether it was.

    A descriptor of its own: if the connection is closed meanwhile, its number may already be someone else's.
    """

    def __init__(self, connection: Connection | AsyncConnection) -> None:
        self._socket = socket.socket(fileno=os.dup(connection.fileno()))
        self.done = False

    def now(self) -> None:
        """Wakes whoever waits for the socket, with an end of file."""
        self.done = True
        with suppress(OSError):  # the other end was faster
            self._socket.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
