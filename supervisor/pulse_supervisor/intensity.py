"""How soon a child that ended is started again, and when to give up."""

from dataclasses import dataclass

LIVED_S = 30.0
FREE = 3
MOST = 20
LONGEST_S = 10.0


@dataclass
class Intensity:
    """Strikes against one place in the tree. A life of 30 s wipes them out.

    An end before READY counts three, because it will come again; one soon after it counts one, because a job may have
    caused it and the next may not. The first three are free: a killed child is back at once.
    """

    strikes: int = 0

    def ended(self, *, lived_s: float, was_ready: bool) -> float:
        """Count an end nobody asked for; the answer is how long to wait before the next start."""
        if was_ready and lived_s >= LIVED_S:
            self.strikes = 0
        self.strikes += 1 if was_ready else 3
        beyond = self.strikes - FREE
        return 0.0 if beyond <= 0 else float(min(LONGEST_S, 0.1 * 2 ** (beyond - 1)))

    @property
    def hopeless(self) -> bool:
        """Started again and again without ever living."""
        return self.strikes >= MOST
