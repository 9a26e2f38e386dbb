"""Handlers that end in every way that a handler can choose. On any loop, because they use anyio."""

import sys
import threading
import time
from typing import Any

import anyio

from pulse_runtime import Cancel, Context, Fail, Retry, Snooze, job


@job
async def child(n: int = 0) -> None:
    """What others enqueue."""


@job(keep_result=True)
async def parent(ctx: Context) -> dict[str, Any]:
    """Succeed with two follow-ups and a result."""
    ctx.enqueue(child.call(n=1))
    ctx.progress(1, 2, "half of it")
    await anyio.sleep(0.001)
    ctx.enqueue("child", {"n": 2}, key="second")
    return {"queue": ctx.queue, "attempt": ctx.attempt}


@job(retry=Retry.fixed("0.1s"))
def shaky(ctx: Context) -> None:
    """Fail at first, after a follow-up that nobody must see."""
    ctx.enqueue("child", {"n": 10 * ctx.attempt})
    if ctx.attempt == 1:
        raise ConnectionError("at first")


@job
async def sleepy(ctx: Context) -> None:
    """Snooze twice."""
    if ctx.attempt < 3:
        raise Snooze(0.1)


@job
async def unwanted(ctx: Context) -> None:
    """Cancel itself, and say so to someone."""
    ctx.enqueue("child", {"n": 30})
    raise Cancel("nobody wants it")


@job
def hopeless() -> None:
    """Fail for good."""
    raise Fail("it can never work")


@job(retry=Retry(never=KeyError))
async def picky() -> None:
    """Fail as it must never be retried."""
    raise KeyError("no such customer")


@job
async def patient(ctx: Context) -> None:
    """Wait until it is cancelled, clean up, and try to say so to someone."""
    try:
        await anyio.sleep_forever()
    finally:
        ctx.enqueue("child", {"n": 40})
        ctx.progress(1, note="cleaned up")


@job
async def follows(ctx: Context) -> None:
    """Enqueue what there may be once only."""
    ctx.enqueue("child", {"n": 50}, key="held")


@job
async def exits() -> None:
    """Try to end its process."""
    sys.exit(0)


@job
def exits_in_a_thread() -> None:
    """Try the same where it would end a thread."""
    sys.exit(0)


@job(keep_result=True)
async def odd() -> object:
    """Return what is no JSON."""
    return object()


@job(keep_result=True)
async def large() -> str:
    """Return 50 MB."""
    return "x" * 50_000_000


@job
async def typed(n: int) -> None:
    """Want a number."""


@job(keep_result=True)
async def calls_a_program() -> str:
    """Run a program, and hear how it ends."""
    return (await anyio.run_process(["echo", "hello"])).stdout.decode().strip()


@job(timeout="0.2s", retry=Retry(attempts=1))
async def slow() -> None:
    """Take too long."""
    await anyio.sleep_forever()


@job(timeout="0.2s", retry=Retry(attempts=1))
def stuck(seconds: float) -> None:
    """Take too long in a thread, which nobody can end."""
    time.sleep(seconds)


@job(timeout="0.2s", retry=Retry(attempts=1))
async def stubborn() -> None:
    """Take too long, and mind no cancelling."""
    while True:
        try:
            await anyio.sleep_forever()
        except BaseException:
            continue


@job
def neighbour(seconds: float) -> str:
    """Take a while in a thread."""
    time.sleep(seconds)
    return threading.current_thread().name
