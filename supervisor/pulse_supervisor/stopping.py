"""Ending the tree: stage after stage, or all at once when told twice."""

from pulse_supervisor.obituaries import Obituaries
from pulse_supervisor.post import Post
from pulse_supervisor.roster import Roster
from pulse_supervisor.spec import Log


class Stopping:
    """`code` is what the tree ends with: the first child's status that is not 0, or the reason of giving up."""

    def __init__(self, roster: Roster, obituaries: Obituaries, *, log: Log) -> None:
        self._roster = roster
        self._obituaries = obituaries
        self._log = log
        self._todo = sorted({post.spec.stop_stage for post in roster.posts})
        self._reached: int | None = None
        self._mourn_until: float | None = None
        self._in_vain: frozenset[tuple[str, int, int]] = frozenset()
        self.code = 0
        self.begun = False
        self.hurried = False

    @property
    def over(self) -> bool:
        """Everyone is gone, and nobody comes back."""
        return self.begun and not self._todo and not self._roster.living()

    def needs(self, post: Post) -> bool:
        """It is not its turn to end yet: if it dies, it comes back."""
        return not self.hurried and (self._reached is None or post.spec.stop_stage > self._reached)

    def ended_with(self, status: int) -> None:
        """A child that was asked to end says how it went."""
        self.code = self.code or status

    def give_up(self, code: int, why: str, now: float) -> None:
        """End the tree for this reason, unless it ends already for another."""
        self._log("giving up", why=why, status=code)
        self.code = self.code or code
        self.begin(now)

    def begin(self, now: float) -> None:
        """Drain the first stage. Whoever is not needed for that and was not there yet does not come any more."""
        if not self.begun:
            self.begun = True
            self._next(now)

    def hurry(self, now: float) -> None:
        """Everyone at once, with no grace."""
        self.begin(now)
        self.hurried = True
        if self._todo:
            self._reached = self._todo[-1]
            self._todo = []
        for post in self._roster.posts:
            post.due = None
            post.drain(0.0, now, late="the tree was told twice to end")

    def advance(self, now: float) -> None:
        """Go on to the next stage when everyone of this one is gone, and those who stay know of every death."""
        if not self.begun:
            return
        for kind in self._roster.kinds:
            if self._roster.lost(kind):
                self._obituaries.give_up(kind)
        while self._todo and not self._someone_left() and not self._mourning(now):
            self._next(now)

    def due(self) -> float | None:
        """When `advance` has something to do though nothing happened."""
        return self._mourn_until

    def _next(self, now: float) -> None:
        self._mourn_until = None
        if self._todo:
            self._reached = self._todo.pop(0)
        for post in self._roster.posts:
            if not self.needs(post):
                post.due = None
                post.drain(post.spec.grace_s, now)

    def _someone_left(self) -> bool:
        return any(not self.needs(post) for post in self._roster.living())

    def _mourning(self, now: float) -> bool:
        """Someone who stays is still to be told of a death; that takes no longer than its own drain would."""
        if self._obituaries.untold <= self._in_vain:
            return False
        if self._mourn_until is None:
            self._mourn_until = now + max(post.spec.grace_s for post in self._roster.posts if self.needs(post))
        if now >= self._mourn_until:  # the same death is not waited for again at the next stage
            self._in_vain = self._obituaries.untold
        return now < self._mourn_until
