"""How soon a child that ended is started again, and when to give up."""

from dataclasses import dataclass, field

BEFORE_READY = 3


@dataclass(frozen=True, kw_only=True)
class Restart:
    """The restart rule of a kind. An end that was asked for is no strike; every `strike_s` of a life wipe one out, and
    `lived_s` all: who is killed now and then is always back at once.

    An end before READY counts three, because it will come again; one after it counts one, because a job may have caused
    it and the next may not.
    """

    free: int = 3
    """So many strikes cost no wait: a killed child is back at once."""
    first_s: float = 0.1
    """The first wait after that; each further strike doubles it."""
    longest_s: float = 10.0
    most: int = 20
    """So many strikes, and the tree gives up."""
    forgiving: bool = False
    """Ends after READY slow it down and, whatever their status, are no reason to give up: for a child that its work may
    end again and again."""
    strike_s: float = 5.0
    lived_s: float = 30.0


@dataclass
class Intensity:
    """Strikes against one place in the tree."""

    rule: Restart = field(default_factory=Restart)
    strikes: int = 0
    grave: int = 0
    """Those of them for which the tree may give up."""
    ends: int = 0

    def ended(self, *, lived_s: float, was_ready: bool) -> float:
        """Count an end nobody asked for; the answer is how long to wait before the next start."""
        if was_ready:
            self._forgive(lived_s)
        self.ends += 1
        weight = 1 if was_ready else BEFORE_READY
        self.strikes += weight
        self.grave = 0 if was_ready and self.rule.forgiving else self.grave + weight
        beyond = self.strikes - self.rule.free
        return 0.0 if beyond <= 0 else float(min(self.rule.longest_s, self.rule.first_s * 2.0 ** min(beyond - 1, 60)))

    def _forgive(self, lived_s: float) -> None:
        rule = self.rule
        wiped_out = self.strikes if lived_s >= rule.lived_s else int(lived_s / rule.strike_s)
        self.strikes = max(self.strikes - wiped_out, 0)
        self.grave = max(self.grave - wiped_out, 0)
        if not self.strikes:
            self.ends = 0

    @property
    def hopeless(self) -> bool:
        """Started again and again without ever living."""
        return self.grave >= self.rule.most
