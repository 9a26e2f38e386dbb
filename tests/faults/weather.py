"""What the network between a client and Postgres is like now. Only the proxy's own thread changes it."""

import asyncio
import random

from faults.counts import Counts
from faults.traps import Trap


class Weather:
    """Every link asks it before it passes anything on."""

    def __init__(self, *, seed: int, counts: Counts) -> None:
        self.dice = random.Random(seed)
        self.counts = counts
        self.passing = asyncio.Event()  # clear: a black hole
        self.hearing = asyncio.Event()  # clear: half-open, what the server says is lost
        self.traps: list[Trap] = []
        self.clear_up()

    def clear_up(self) -> None:
        self.delay_s = self.jitter_s = 0.0
        self.notifies = True  # else notifications are lost
        self.traps.clear()
        self.passing.set()
        self.hearing.set()

    def lateness_s(self) -> float:
        """How long the next bytes take."""
        if self.delay_s == self.jitter_s == 0.0:
            return 0.0
        self.counts.add("delayed")
        return max(0.0, self.delay_s + self.dice.uniform(-self.jitter_s, self.jitter_s))

    async def let_pass(self) -> None:
        """Return when the network carries something."""
        if not self.passing.is_set():
            self.counts.add("held")
            await self.passing.wait()

    def spring(self, statement: str) -> Trap | None:
        """The trap that this statement springs, if any; it is no longer set then."""
        trap = next((each for each in self.traps if each.matches(statement)), None)
        if trap:
            self.traps.remove(trap)
        return trap
