"""What is looked at though nothing happened: deadlines, READY in time, and black boxes."""

import math
from collections.abc import Iterator

from pulse_supervisor.post import Post
from pulse_supervisor.roster import Roster
from pulse_supervisor.spec import Log

CHECK_S = 0.2
CONFIRM_S = 0.6
"""Who is found silent is listened to for so much longer: it may be us who were stopped."""
STOPPED_S = 1.0
"""We look far more often while there are boxes to look into. Between two looks that are so far apart we were stopped,
and perhaps everyone was: boxes are not held against their owners until they have had a moment to go on."""


class Checks:
    """Kills whoever is late, and says why."""

    def __init__(self, roster: Roster, *, log: Log) -> None:
        self._roster = roster
        self._log = log
        self._looked = math.inf
        self._lenient_until = 0.0

    def due(self, now: float) -> Iterator[float]:
        """When to look again."""
        for post in self._roster.living():
            if post.why is not None or post.pidfd < 0 or post.spec.overdue is not None:
                yield now + CHECK_S
            if post.deadline is not None:
                yield post.deadline
            if not post.ready:
                yield post.started + post.spec.ready_s
            elif post.spec.silent_s is not None:
                yield now + CHECK_S if post.silent is not None else post.heard + post.spec.silent_s

    def look(self, now: float) -> None:
        """Once, at everyone."""
        if now - self._looked > STOPPED_S:
            self._lenient_until = now + CONFIRM_S
        self._looked = now
        for post in self._roster.living():
            if post.why is not None:  # killed already, and on its way
                continue
            if post.deadline is not None and now >= post.deadline:
                self._kill(post, post.late)
            elif not post.ready and now - post.started >= post.spec.ready_s:
                self._kill(post, f"it was not ready within {post.spec.ready_s:g} s")
            elif (why := self._overdue(post, now) or self._silent(post, now)) is not None:
                post.expected = True
                self._kill(post, why)

    def _overdue(self, post: Post, now: float) -> str | None:
        if post.box is None or post.spec.overdue is None or now < self._lenient_until:
            return None
        with memoryview(post.box) as held:
            return post.spec.overdue(held, now)

    def _silent(self, post: Post, now: float) -> str | None:
        limit = post.spec.silent_s
        if limit is None or not post.ready or now - post.heard < limit:
            return None
        if post.silent is None:
            post.silent = now
        return f"silent for {now - post.heard:.1f} s" if now - post.silent >= CONFIRM_S else None

    def _kill(self, post: Post, why: str) -> None:
        self._log("child killed", child=str(post.peer), child_pid=post.pid, by="supervisor", why=why)
        post.kill(why=why)
