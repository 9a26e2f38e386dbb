"""One client's connection through the proxy, and the server's end of it."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Coroutine
from typing import Any

from faults.channel import Channel
from faults.conversation import Conversation, Turn
from faults.frames import Frame, Frames
from faults.places import Upstream
from faults.traps import Trap
from faults.weather import Weather

_NO_LINGER = struct.pack("ii", 1, 0)  # closing sends RST


class Cut(Exception):  # noqa: N818 (an order, not an error)
    """End the link at once."""


class Link:
    """Passes messages on, whole ones only, until one end closes or someone cuts it."""

    def __init__(self, client: socket.socket, upstream: Upstream, weather: Weather) -> None:
        self._client = client
        self._upstream = upstream
        self._server = upstream.socket()
        self._weather = weather
        self._asked, self._answered = Frames(opening=True), Frames(opening=False)
        self._conversation = Conversation()
        self._swallowing: tuple[Trap, str, Turn] | None = None
        self._silent = False  # a reply is being swallowed
        self.is_damaged = False  # bytes are missing: it cannot go on when the weather clears up

    async def run(self) -> None:
        """Raises what is a mistake of the proxy's own; whatever the ends do is no error."""
        tasks: list[asyncio.Task[None]] = []
        try:
            await self._weather.let_pass()
            await asyncio.get_running_loop().sock_connect(self._server, self._upstream.address)
            tasks += [asyncio.create_task(each) for each in self._directions()]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()
        except Cut:
            self.reset()
        except OSError:
            pass
        finally:
            await _end(tasks)

    def reset(self) -> None:
        """Make the client see a reset, not an orderly end, when this is closed."""
        if self._client.family != socket.AF_UNIX:
            self._client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)

    def close(self) -> None:
        self._client.close()
        self._server.close()

    def _directions(self) -> list[Coroutine[Any, Any, None]]:
        up = Channel(self._client, self._server, weather=self._weather, treat=self._to_server)
        down = Channel(self._server, self._client, weather=self._weather, treat=self._to_client)
        return [up.read(), down.read(), self._up(up), self._down(down)]

    async def _up(self, channel: Channel) -> None:
        try:
            await channel.write()
        except OSError:  # the server is gone, which nobody hears of while the link is half-open
            await self._weather.hearing.wait()

    async def _down(self, channel: Channel) -> None:
        await channel.write()
        await self._weather.hearing.wait()

    def _to_server(self, data: bytes) -> bytes:
        if not data:
            return self._asked.rest
        return b"".join(frame.raw for frame in self._asked.feed(data) if self._goes_up(frame))

    def _goes_up(self, frame: Frame) -> bool:
        if frame.asks_for_encryption:
            with contextlib.suppress(BlockingIOError):  # one byte always fits
                self._client.send(b"N")
            return False
        for statement, turn in self._conversation.asked(frame):
            trap = None if self._swallowing else self._weather.spring(statement)
            if trap:
                self._swallowing = (trap, statement, turn)
        return True

    def _to_client(self, data: bytes) -> bytes:
        rest = b"" if data else self._answered.rest
        return b"".join(frame.raw for frame in self._answered.feed(data) if self._goes_down(frame)) + rest

    def _goes_down(self, frame: Frame) -> bool:
        turn = self._conversation.answered(frame)
        if not self._weather.hearing.is_set():
            self._weather.counts.add("lost replies")
            self.is_damaged = True
            return False
        if frame.letter == b"A" and not self._weather.notifies:
            self._weather.counts.add("lost notifications")
            return False
        return not self._is_swallowed(frame, turn)

    def _is_swallowed(self, frame: Frame, turn: Turn | None) -> bool:
        if not self._swallowing:
            return False
        trap, statement, swallowed = self._swallowing
        self._silent = self._silent or turn is swallowed
        if turn is swallowed and frame.letter == b"Z":
            self._weather.counts.add("swallowed")
            trap.spring(statement, swallowed)
            raise Cut
        return self._silent


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for each in tasks:
        each.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
