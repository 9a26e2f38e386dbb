"""The housekeeping that goes on beside the work."""

import random

from stress.line import Line
from stress.record import Seen


class Keeper:
    """Finds lanes and promotes what is due."""

    def __init__(self, line: Line, dice: random.Random, seen: Seen, _: int) -> None:
        self._line, self._dice, self._seen = line, dice, seen

    def step(self) -> None:
        self._line.read("select pulse.discover()")
        self._line.read("select pulse.promote(%s)", self._dice.choice([1, 1000]))
        self._seen.stop.wait(0.01)
