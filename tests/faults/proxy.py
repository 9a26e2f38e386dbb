"""A proxy between a runtime and Postgres that makes the network as bad as a test wants it.

Its sockets acknowledge what they receive, whatever it does with it: no fault here is seen by TCP_USER_TIMEOUT or
keepalives. A black hole of this proxy is thus worse than one of a network: only a deadline of the client's own ends it.

It lives in a thread of the test's process: whoever blocks there with the interpreter's lock held
(as `pgconn.get_result` does) blocks it too.
"""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Self

from faults.counts import Counts
from faults.exchange import Exchange
from faults.places import Door, Upstream
from faults.traps import COMMIT, Trap

__all__ = ["COMMIT", "FaultProxy"]
_CONTROL_S = 10.0


class FaultProxy:
    """`with FaultProxy(dsn) as proxy:` and connect to `proxy.dsn`. Everything random comes from the seed.

    Every control has taken effect when it returns. `did` counts: connections, cut, delayed, held, lost replies,
    lost notifications, swallowed.
    """

    def __init__(self, dsn: str, *, seed: int = 0, tcp: bool | None = None) -> None:
        """`tcp`: listen on loopback, not at a unix socket; unless said, as the DSN's server does."""
        self._upstream = Upstream(dsn)
        self._door = Door(tcp=self._upstream.is_tcp if tcp is None else tcp)
        self._seed = seed
        self.dsn = self._door.dsn(dsn)
        self.did = Counts()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live()), name="fault proxy")
        self._ready = threading.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(_CONTROL_S), "the proxy did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._exchange.loop.call_soon_threadsafe(self._exchange.over.set)
        self._thread.join()
        self._door.remove()
        if self._exchange.bugs:
            raise self._exchange.bugs[0]

    def delay(self, ms: float, *, jitter_ms: float = 0.0) -> None:
        """Every byte takes so long in either direction, more or less; their order stays."""

        async def change() -> None:
            self._exchange.weather.delay_s, self._exchange.weather.jitter_s = ms / 1000, jitter_ms / 1000

        self._do(change())

    def black_hole(self) -> None:
        """Everything is accepted and nothing comes through. What is on its way goes on when it heals."""

        async def change() -> None:
            self._exchange.weather.passing.clear()

        self._do(change())

    def half_open(self) -> None:
        """The client's messages go on, the server's are lost. Links that lost one are cut when it heals."""

        async def change() -> None:
            self._exchange.weather.hearing.clear()

        self._do(change())

    def drop_listen(self) -> None:
        """Notifications are lost; everything else goes on."""

        async def change() -> None:
            self._exchange.weather.notifies = False

        self._do(change())

    def reset(self, *, share: float = 1.0) -> None:
        """Cut the connections there are, or a share of them by the dice. Statements under way go on in the server."""
        dice = self._exchange.weather.dice
        self._do(self._exchange.cut(lambda _: dice.random() < share))

    def refuse(self) -> None:
        """New connections are refused; those there are stay."""
        self._do(self._exchange.shut())

    def swallow(self, text: str) -> Trap:
        """Let the server carry out one statement that contains `text` (COMMIT: one that commits), and when it has
        answered, which it does when all is committed, cut the client off in place of the reply."""
        trap = Trap(text)

        async def change() -> None:
            self._exchange.weather.traps.append(trap)

        self._do(change())
        return trap

    def heal(self) -> None:
        """A perfect network again, without traps."""

        async def change() -> None:
            await self._exchange.cut(lambda link: link.is_damaged)
            self._exchange.weather.clear_up()
            await self._exchange.open()

        self._do(change())

    async def _live(self) -> None:
        exchange = Exchange(self._door, self._upstream, seed=self._seed, counts=self.did)
        await exchange.live(self._begin)

    def _begin(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._ready.set()

    def _do(self, change: Coroutine[Any, Any, None]) -> None:
        """In the proxy's thread, where the links live."""
        asyncio.run_coroutine_threadsafe(change, self._exchange.loop).result(_CONTROL_S)
