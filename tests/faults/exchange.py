"""The inside of a proxy: a door, the links that came through it, and the weather they live in. One loop, one thread."""

import asyncio
from collections.abc import Callable

from faults.counts import Counts
from faults.link import Link
from faults.places import Door, Upstream
from faults.weather import Weather


class Exchange:
    """Lets clients in until `over` is set, and then cuts whoever is still there."""

    def __init__(self, door: Door, upstream: Upstream, *, seed: int, counts: Counts) -> None:
        self.loop = asyncio.get_running_loop()
        self.weather = Weather(seed=seed, counts=counts)
        self.over = asyncio.Event()
        self.bugs: list[BaseException] = []
        self._door, self._upstream = door, upstream
        self._links: dict[asyncio.Task[None], Link] = {}
        self._accepting: asyncio.Task[None] | None = None

    async def live(self, ready: Callable[["Exchange"], None]) -> None:
        await self.open()
        ready(self)
        await self.over.wait()
        await self.shut()
        await self.cut(lambda _: True)

    async def open(self) -> None:
        self._accepting = self._accepting or asyncio.create_task(self._accept())
        await asyncio.sleep(0)  # until it listens

    async def shut(self) -> None:
        if self._accepting:
            self._accepting.cancel()
            await asyncio.wait([self._accepting])  # else its listener would be closed while it is watched
            self._accepting = None
        self._door.shut()

    async def cut(self, chosen: Callable[[Link], bool]) -> None:
        tasks = [task for task, link in self._links.items() if chosen(link)]
        for task in tasks:
            self.weather.counts.add("cut")
            self._links[task].reset()
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _accept(self) -> None:
        listener = self._door.open()
        while True:
            client, _ = await self.loop.sock_accept(listener)
            self.weather.counts.add("connections")
            link = Link(client, self._upstream, self.weather)
            task = asyncio.create_task(link.run())
            self._links[task] = link
            task.add_done_callback(self._gone)

    def _gone(self, task: asyncio.Task[None]) -> None:
        self._links.pop(task).close()  # here, because a task that is cancelled early never runs
        bug = None if task.cancelled() else task.exception()
        if bug:
            self.bugs.append(bug)
