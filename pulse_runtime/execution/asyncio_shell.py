"""Executors on asyncio, with uvloop where there is one."""

import asyncio
import contextvars
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from pulse_runtime.execution.attempt import Interrupted
from pulse_runtime.execution.shell import Begin, Driven, Ended, Leave
from pulse_supervisor import Hub


def drive(hub: Hub, begin: Begin, leave: Leave) -> None:
    """Until it is done; then `leave`, while what still runs does."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        loop = runner.get_loop()
        driving = loop.create_task(_drive(hub, begin, leave))
        while not driving.done():
            try:
                loop.run_until_complete(driving)
            except (SystemExit, KeyboardInterrupt):
                # From a task that a handler has started: asyncio tells whoever awaits it, and stops the loop besides.
                continue


async def _drive(hub: Hub, begin: Begin, leave: Leave) -> None:
    loop = asyncio.get_running_loop()
    shell = AsyncioShell(loop)
    done = shell.drive(hub, begin(shell))
    hub.ready()
    error = await done
    loop.remove_reader(hub.fileno())
    leave(error)


class AsyncioShell:
    """One for each loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._fresh = contextvars.copy_context()
        """What every job begins with: nothing ever runs in it."""
        self._ours = contextvars.copy_context()
        """Callbacks run in it, and with them what people's policies and types set."""
        self._timer: asyncio.TimerHandle | None = None
        self._timed = float("inf")
        self._wake: Callable[[], None] = lambda: None
        self._over: asyncio.Future[Exception | None] = loop.create_future()

    def drive(self, hub: Hub, driven: Driven) -> asyncio.Future[Exception | None]:
        """Turn whenever something has come, or is due; the answer is there when that is over: what is broken."""

        def turn() -> None:
            now = time.monotonic()
            for event in hub.poll(0):
                driven.receive(event, now)

        def wake() -> None:
            self._timer, self._timed = None, float("inf")
            driven.wake(time.monotonic())

        def minded(callback: Callable[[], None]) -> None:
            try:
                callback()
            except Exception as error:
                self.broken(error)
            if driven.done and not self._over.done():
                self._over.set_result(None)

        self._wake = partial(minded, wake)
        self._loop.add_reader(hub.fileno(), minded, turn)
        minded(turn)
        minded(wake)
        return self._over

    def broken(self, error: Exception) -> None:
        if not self._over.done():
            self._over.set_result(error)

    def spawn(self, coroutine: Coroutine[Any, Any, Any], ended: Ended) -> "_Task":
        task = _Task(coroutine, ended)
        task.native = self._loop.create_task(task.run(), context=self._fresh.copy())
        return task

    def soon(self, callback: Callable[[], None]) -> None:
        self._loop.call_soon(callback, context=self._ours)

    def call_from_thread(self, callback: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(callback, context=self._ours)

    def wake_at(self, moment: float) -> None:
        if moment < self._timed:
            if self._timer is not None:
                self._timer.cancel()
            self._timed = moment
            self._timer = self._loop.call_later(max(0.0, moment - time.monotonic()), self._wake, context=self._ours)


class _Task:
    """A handler that runs."""

    __slots__ = ("_begun", "_canceled", "_coroutine", "_ended", "native")

    def __init__(self, coroutine: Coroutine[Any, Any, Any], ended: Ended) -> None:
        self._coroutine = coroutine
        self._ended = ended
        self._begun = False
        self._canceled = False
        self.native: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        if not self._canceled:
            self._canceled = True
            if (
                self._begun and self.native is not None
            ):  # a task that is cancelled before it begins would not run at all
                self.native.cancel()

    async def run(self) -> None:
        self._begun = True
        if self._canceled:
            self._coroutine.close()
            self._ended(None, Interrupted())
            return
        try:
            result = await self._coroutine
        except asyncio.CancelledError as error:
            self._ended(None, self._meant_by(error))
        except BaseException as error:
            self._ended(None, error)
        else:
            self._ended(result, None)

    def _meant_by(self, error: asyncio.CancelledError) -> BaseException:
        """A handler can also raise it of its own accord: that is a failure."""
        return Interrupted().with_traceback(error.__traceback__) if self._canceled else error


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes uvloop's; None for asyncio's own."""
    try:
        import uvloop
    except ImportError:  # there is none for this platform
        return None
    return uvloop.new_event_loop
