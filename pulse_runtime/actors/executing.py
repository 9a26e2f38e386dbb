"""The executor's process: imports the handlers, turns asyncio's loop, and drives the executor with it."""

import asyncio
import os
import time

from pulse_runtime.actors.executor import Executor
from pulse_runtime.black_box import BlackBox
from pulse_runtime.errors import PulseError
from pulse_runtime.events import Log
from pulse_runtime.handlers import registry
from pulse_runtime.holding import Holdings
from pulse_runtime.identity import start_of
from pulse_runtime.loading import load
from pulse_runtime.messages import Hello
from pulse_runtime.running import Runner
from pulse_runtime.settings import RuntimeSettings
from pulse_runtime.topology import incoming
from pulse_supervisor import Hub, Seat

TICK_S = 0.2


def main(seat: Seat) -> int:
    settings: RuntimeSettings = seat.facts["settings"]
    log = Log(str(seat.peer), pretty=settings.pretty)
    try:
        load(settings.handlers)
    except PulseError as error:
        log("refused to start", why=str(error))
        return error.exit_code
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_turn(seat, settings, log))


async def _turn(seat: Seat, settings: RuntimeSettings, log: Log) -> int:
    assert seat.box is not None  # noqa: S101
    hub, box = Hub(seat, incoming("executor")), BlackBox(seat.box)
    hello = Hello(0, os.getpid(), start_of(os.getpid()), list(registry))
    executor = Executor(
        hub, Holdings(box), Runner(registry), hello, concurrency=settings.concurrency, sign=box.sign, log=log
    )

    def turn() -> None:
        now = time.monotonic()
        for event in hub.poll(0):
            executor.receive(event, now)

    loop = asyncio.get_running_loop()
    loop.add_reader(hub.fileno(), turn)
    turn()
    hub.ready()
    tick = min(TICK_S, settings.beat_s)
    while not executor.done.is_set():
        executor.beat(time.monotonic())
        try:
            await asyncio.wait_for(executor.done.wait(), tick)
        except TimeoutError:
            continue
    loop.remove_reader(hub.fileno())
    hub.flush(0.5)
    os._exit(0)  # running handlers, threads among them, end with us: the black box tells who they were
