"""Executors on trio."""

import contextvars
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import trio

from pulse_runtime.execution.attempt import Interrupted
from pulse_runtime.execution.shell import Begin, Driven, Ended, Leave
from pulse_supervisor import Hub


def drive(hub: Hub, begin: Begin, leave: Leave) -> None:
    """Until it is done; then `leave`, while what still runs does."""
    trio.run(_drive, hub, begin, leave)


async def _drive(hub: Hub, begin: Begin, leave: Leave) -> None:
    async with trio.open_nursery() as nursery:
        shell = TrioShell(nursery, trio.lowlevel.current_trio_token())
        driven = begin(shell)
        nursery.start_soon(shell.call_back)
        nursery.start_soon(shell.keep_time, driven)
        nursery.start_soon(shell.read, hub, driven)
        hub.ready()
        await shell.over.wait()
        leave(shell.error)
        nursery.cancel_scope.cancel()


class TrioShell:
    """One for each run of trio. Jobs are tasks of its nursery."""

    def __init__(self, nursery: trio.Nursery, token: trio.lowlevel.TrioToken) -> None:
        self._nursery = nursery
        self._token = token
        self._fresh = contextvars.copy_context()
        self._callbacks: list[Callable[[], None]] = []
        self._called = trio.Event()
        self._asleep: trio.CancelScope | None = None
        self._wake_at = 0.0
        self.over = trio.Event()
        self.error: Exception | None = None

    async def read(self, hub: Hub, driven: Driven) -> None:
        """Turn whenever something has come."""
        while True:
            now = time.monotonic()
            with self._minding(driven):
                for event in hub.poll(0):
                    driven.receive(event, now)
            await trio.lowlevel.wait_readable(hub.fileno())

    async def keep_time(self, driven: Driven) -> None:
        """Turn whenever something is due."""
        while True:
            self._wake_at = float("inf")
            with self._minding(driven):
                driven.wake(time.monotonic())
            with trio.CancelScope() as self._asleep:
                self._asleep.deadline = self._moment(self._wake_at)
                await trio.sleep_forever()

    async def call_back(self) -> None:
        """What was put off until everybody has had a turn."""
        while True:
            await self._called.wait()
            self._called = trio.Event()
            callbacks, self._callbacks = self._callbacks, []
            for callback in callbacks:
                callback()

    def spawn(self, coroutine: Coroutine[Any, Any, Any], ended: Ended) -> "_Task":
        task = _Task(coroutine, ended)
        self._fresh.copy().run(self._nursery.start_soon, task.run)
        return task

    def soon(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)
        self._called.set()

    def call_from_thread(self, callback: Callable[[], None]) -> None:
        self._token.run_sync_soon(callback)

    def wake_at(self, moment: float) -> None:
        if moment < self._wake_at:
            self._wake_at = moment
            if self._asleep is not None:
                self._asleep.deadline = self._moment(moment)

    def broken(self, error: Exception) -> None:
        self.error = self.error or error
        self.over.set()

    @contextmanager
    def _minding(self, driven: Driven) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.broken(error)
        if driven.done:
            self.over.set()

    @staticmethod
    def _moment(moment: float) -> float:
        """By trio's clock, which begins anywhere."""
        return trio.current_time() + moment - time.monotonic()


class _Task:
    """A handler that runs."""

    __slots__ = ("_coroutine", "_ended", "_scope")

    def __init__(self, coroutine: Coroutine[Any, Any, Any], ended: Ended) -> None:
        self._coroutine = coroutine
        self._ended = ended
        self._scope = trio.CancelScope()

    def cancel(self) -> None:
        self._scope.cancel()

    async def run(self) -> None:
        result, error = None, None
        if self._scope.cancel_called:
            self._coroutine.close()
            self._ended(None, Interrupted())
            return
        try:
            with self._scope:
                try:
                    result = await self._coroutine
                except BaseException as raised:
                    error = raised
                    raise
        except BaseException as raised:  # the same, or what it was besides a cancel
            error = raised
        else:
            if error is not None:
                error = Interrupted().with_traceback(error.__traceback__)
        self._ended(result, error)
