"""The demo's handlers and schedules: what an application's own module looks like."""

import asyncio
import time

from pulse_runtime import Context, Retry, job
from pulse_runtime.declare import cron, every


class Declined(Exception):  # noqa: N818
    """The bank said no."""


@job
async def receipt(order: int) -> None:  # noqa: ARG001
    """Async handlers share the executor's loop."""
    await asyncio.sleep(0.01)


@job
def picture(order: int) -> None:  # noqa: ARG001
    """Handlers that block have threads."""
    time.sleep(0.03)


@job(retry=Retry.fixed("1s", attempts=5))
async def charge(ctx: Context, order: int) -> None:
    """Fails at first for every tenth order, and is tried again a second later."""
    if order % 10 == 0 and ctx.attempt == 1:
        raise Declined("no answer from the bank")


@every("2s")
@job
async def stock_check() -> None:
    """A schedule of its own code: exactly one job every two seconds."""
    await asyncio.sleep(0.005)


@cron("* * * * *")
@job
async def minute_report() -> None:
    """And one at every full minute."""
