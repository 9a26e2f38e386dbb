"""One direction of a link: what was read waits until it is due and the network carries it."""

import asyncio
import socket
from collections.abc import Callable

from faults.weather import Weather

_READ_BYTES = 65536
_MOST_WAITING = 64  # reads; then the sender is no longer read from, as with any full pipe

Treat = Callable[[bytes], bytes]
"""What to pass on of what came; it is called with nothing at the end."""


class Channel:
    """Ends when its source has ended and everything before has been passed on."""

    def __init__(self, source: socket.socket, sink: socket.socket, *, weather: Weather, treat: Treat) -> None:
        self._source, self._sink = source, sink
        self._weather = weather
        self._treat = treat
        self._waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_MOST_WAITING)

    async def read(self) -> None:
        """Take in what comes, for `write`, and then stay: it is `write` that ends a channel."""
        loop, due = asyncio.get_running_loop(), 0.0
        while True:
            try:
                data = await loop.sock_recv(self._source, _READ_BYTES)
            except OSError:  # reset by the peer
                data = b""
            due = max(due, loop.time() + self._weather.lateness_s())
            await self._waiting.put((due, data))
            if not data:
                await asyncio.Event().wait()

    async def write(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due, data = await self._waiting.get()
            if due > loop.time():
                await asyncio.sleep(due - loop.time())
            await self._weather.let_pass()
            await loop.sock_sendall(self._sink, self._treat(data))
            if not data:
                return
