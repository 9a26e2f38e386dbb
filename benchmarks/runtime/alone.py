"""An executor without a runtime around it: claims come when they are asked for, reports are durable at once."""

import asyncio
import gc
import mmap
import os
import time
from collections.abc import Callable
from typing import Any

import uvloop

from pulse_runtime.actors.executing import COLLECT
from pulse_runtime.actors.executor import Executor
from pulse_runtime.events import Log
from pulse_runtime.execution import black_box
from pulse_runtime.execution.asyncio_shell import AsyncioShell
from pulse_runtime.execution.black_box import BlackBox
from pulse_runtime.execution.running import Runner
from pulse_runtime.handlers import Handler, Registry
from pulse_runtime.messages import Batch, Claimed, Demand, Hello, Registered, Report, Settled
from pulse_runtime.settings import RuntimeSettings
from pulse_supervisor import Event, Peer, Said

CLAIMER, REPORTER = Peer("claimer", 1), Peer("reporter", 1)
CLAIM = 500
TOKEN = "01890a5d-ac96-774b-bcce-b302099a8057"
JOBS = b"[" + b",".join(b'["%s","noop",{"n":%d},1,0,25,0]' % (TOKEN.encode(), n) for n in range(CLAIM)) + b"]"


async def noop(n: int) -> None:
    del n


class World:
    """The office of the executor, and its hub: what it says is answered in the next turn."""

    def __init__(self, jobs: int) -> None:
        self._left = self._unclaimed = jobs
        self._events: list[Event] = [Said(CLAIMER, Registered(7))]
        self._reading, self._writing = os.pipe()
        self._claim = 0
        self.peers: dict[Peer, int] = {}
        self.over: Callable[[], None] = lambda: None
        self._answer()

    def fileno(self) -> int:
        return self._reading

    def poll(self, _: float) -> list[Event]:
        os.read(self._reading, 1)
        events, self._events = self._events, []
        return events

    def send(self, _: Peer, message: Any) -> None:
        if isinstance(message, Demand) and self._unclaimed > 0:
            self._unclaimed -= CLAIM
            self._claim += 1
            self._events.append(Said(CLAIMER, Claimed(message.request, [Batch(self._claim, TOKEN, JOBS, "default")])))
        elif isinstance(message, Report):
            self._left -= message.mask.count("1")
            self._events.append(Said(REPORTER, Settled([message.number])))
        else:
            return
        self._answer()
        if self._left <= 0:
            self.over()

    def broadcast(self, *_: object) -> None: ...
    def kill(self, *_: object) -> None: ...
    def seen(self, *_: object) -> None: ...

    def close(self) -> None:
        os.close(self._reading)
        os.close(self._writing)

    def _answer(self) -> None:
        if len(self._events) == 1:
            os.write(self._writing, b"!")


def cpu_us_per_job(jobs: int) -> float:
    """Of this process; `jobs` is a multiple of CLAIM. With the collector of garbage set as an executor sets it."""
    world, before = World(jobs), gc.get_threshold()
    gc.set_threshold(*COLLECT)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_run(world)) / jobs * 1e6
    finally:
        gc.set_threshold(*before)
        world.close()


async def _run(world: World) -> float:
    """Seconds."""
    registry, over = Registry(), asyncio.Event()
    registry.add(Handler(noop, "noop", {}))
    world.over = over.set
    shell = AsyncioShell(asyncio.get_running_loop())
    settings, box = RuntimeSettings(dsn="", name="alone"), BlackBox(mmap.mmap(-1, black_box.size_for(100)))
    hello, log = Hello(0, os.getpid(), "", ["noop"]), Log("executor-1", quiet=True)
    executor = Executor(world, shell, box, Runner(registry), hello, settings, log, kill_me=print)
    began = time.process_time()
    shell.drive(world, executor)  # type: ignore[arg-type]  # as much of a hub as it needs
    await over.wait()
    used = time.process_time() - began
    asyncio.get_running_loop().remove_reader(world.fileno())
    return used
