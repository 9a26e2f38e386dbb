"""Pulse's own connections, for calls that are given none: one per thread, and two per event loop, of each process."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import msgspec
import psycopg

from pulse_runtime.config import load
from pulse_runtime.errors import NoDatabase, PulseError
from pulse_runtime.job_errors import WrongConnection
from pulse_runtime.store import execute
from pulse_runtime.store.connect import aconnect, connect
from pulse_runtime.store.deadlines import awithin, within
from pulse_runtime.store.errors import NotMigrated
from pulse_runtime.store.held import Held
from pulse_runtime.store.refusals import explained
from pulse_runtime.store.statement import Statement

_ACTOR = "producer"


class Manner(msgspec.Struct, frozen=True):
    """How a question is asked: what it may cost to ask it twice, and how long its answer may take."""

    asked: str
    """Completes "when asked to …"."""
    lost: Callable[[str], PulseError]
    """What to raise when the connection was lost before the answer came."""
    again: bool = False
    """Whether to ask once more on a new connection before that."""
    within_s: float | None = None
    """DatabaseSilent after this long. None: wait for ever, as for a key that another transaction holds."""


def ask(statement: Statement, manner: Manner) -> Any:
    """The answer to `statement`, committed.

    Raises NoDatabase when nothing was sent, what the manner says when the answer was lost, DatabaseSilent when it did
    not come in time, NotMigrated when there is no schema, and InvalidTransition.
    """
    for more in (True, False) if manner.again else (False,):
        held = _of_this_thread()
        with _explained(held, manner, more=more), _in_time(held, manner):
            return execute.ask(held.connection, statement)
    raise AssertionError("the second time always answers or raises")


async def aask(statement: Statement, manner: Manner) -> Any:
    """The same, on a connection of the running event loop."""
    for more in (True, False) if manner.again else (False,):
        mine = await _of_this_loop(bounded=manner.within_s is not None)
        # One at a time, so that a deadline is about the server and not about those before us, and cuts off nobody else.
        async with nullcontext() if manner.within_s is None else mine.turn:
            held = await mine.open()
            with _explained(held, manner, more=more):
                async with _ain_time(held, manner):
                    return await execute.aask(held.connection, statement)
    raise AssertionError("the second time always answers or raises")


def close() -> None:
    """Close this thread's connection, if there is one. The next question opens another."""
    held = _threads.__dict__.pop("held", None)
    if held is not None:
        held.drop()


async def aclose() -> None:
    """Close the connections of the running event loop, if there are any; the end of the loop does so too."""
    for bounded in (False, True):
        mine = _loops.pop((asyncio.get_running_loop(), bounded), None)
        if mine is not None:
            await mine.life.aclose()


class _Loop:
    """What an event loop has: a connection, and a lock so that many calls at the start open one."""

    def __init__(self) -> None:
        self.held: Held | None = None
        self.opening = asyncio.Lock()
        self.turn = asyncio.Lock()
        self.life = self._until_shutdown()

    async def open(self) -> Held:
        """The connection; a new one if there is none that lives."""
        async with self.opening:
            if self.held is None or not self.held.is_usable():
                self.held = Held(await aconnect(_dsn(), actor=_ACTOR))
            return self.held

    async def _until_shutdown(self) -> AsyncGenerator[None]:
        """A loop that ends closes the generators that began in it: the only word it gives to a library."""
        try:
            yield
        finally:
            if self.held is not None:
                self.held.drop()


_threads = threading.local()
# Questions with a deadline have a connection of their own: an enqueue may wait for a key for as long as it takes.
_loops: dict[tuple[asyncio.AbstractEventLoop, bool], _Loop] = {}


def _of_this_thread() -> Held:
    held: Held | None = getattr(_threads, "held", None)
    if held is None or not held.is_usable():
        held = _threads.held = Held(connect(_dsn(), actor=_ACTOR))
    return held


async def _of_this_loop(*, bounded: bool) -> _Loop:
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        raise WrongConnection(
            "Pulse's own connections need asyncio. Run the blocking call in a thread instead: enqueue for aenqueue"
        ) from None
    if (running, bounded) not in _loops:
        for each in [each for each in _loops if each[0].is_closed()]:
            del _loops[each]
        mine = _loops[running, bounded] = _Loop()
        await anext(mine.life)
    return _loops[running, bounded]


def _dsn() -> str:
    dsn = load().dsn.value
    if dsn is None:
        raise NoDatabase(
            "there is no DSN, and producers start no database of their own. Set PULSE_DSN; "
            "enqueue also takes a connection with on="
        )
    return dsn


def _in_time(held: Held, manner: Manner) -> Any:
    if manner.within_s is None:
        return nullcontext()
    return within(held.connection, manner.within_s, asked=manner.asked)


def _ain_time(held: Held, manner: Manner) -> Any:
    if manner.within_s is None:
        return nullcontext()
    return awithin(held.connection, manner.within_s, asked=manner.asked)


@contextmanager
def _explained(held: Held, manner: Manner, *, more: bool) -> Iterator[None]:
    """Say what the driver means to someone who never saw the connection. With `more` to try, a loss is no error."""
    try:
        with explained():
            yield
    except psycopg.errors.InvalidSchemaName:
        raise NotMigrated(["0001_ground"]) from None
    except psycopg.OperationalError as error:
        if not held.connection.closed:
            raise
        if not more:
            raise manner.lost(" ".join(str(error).split())) from error
