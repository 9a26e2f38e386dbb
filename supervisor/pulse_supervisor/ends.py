"""Children that ended: what is kept of them, and whether they come back."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from pulse_supervisor import process
from pulse_supervisor.control import Died
from pulse_supervisor.exits import CONFIGURATION, Exit
from pulse_supervisor.obituaries import Obituaries
from pulse_supervisor.post import Post
from pulse_supervisor.rolling import Rolling
from pulse_supervisor.roster import Roster
from pulse_supervisor.spec import Log
from pulse_supervisor.stopping import Stopping


@dataclass(frozen=True)
class End:
    """How a life in a place went."""

    how: Exit
    asked: bool
    was_ready: bool
    lived_s: float


class Ends:
    """`before` is called with a child that has ended, while its last words can still be read; `stranger` with the pid
    of someone who was no child of the table."""

    def __init__(
        self,
        roster: Roster,
        obituaries: Obituaries,
        stopping: Stopping,
        rolling: Rolling,
        *,
        log: Log,
        before: Callable[[Post], None],
        stranger: Callable[[int], None],
    ) -> None:
        self._roster = roster
        self._obituaries = obituaries
        self._stopping = stopping
        self._rolling = rolling
        self._log = log
        self._before = before
        self._stranger = stranger

    def reap(self, *, booting: bool) -> None:
        """Everyone who has ended, strangers that we adopted among them."""
        while (found := process.reap(self._leads_group)) is not None:
            post = self._roster.of_pid(found[0])
            if post is None:
                self._stranger(found[0])
            else:
                self._on_end(post, Exit.of(found[1]), booting=booting)

    def not_started(self, post: Post, error: OSError, now: float) -> None:
        """It could not be forked: a strike, as if it had ended before READY."""
        self._log("child not started", child=str(post.peer), why=str(error))
        self._again(post, End(Exit(None, None), asked=False, was_ready=False, lived_s=0.0), str(error), now)

    def _leads_group(self, pid: int) -> bool:
        post = self._roster.of_pid(pid)
        return post is not None and post.spec.leads_group

    def _on_end(self, post: Post, how: Exit, *, booting: bool) -> None:
        post.waited = True
        self._before(post)
        now = time.monotonic()
        end = End(how, asked=post.expected, was_ready=post.ready, lived_s=now - post.started)
        pid, box = post.pid, post.gone()
        self._log(
            "child ended",
            child=str(post.peer),
            child_pid=pid,
            how=str(how),
            why=post.why,
            lived_s=round(end.lived_s, 3),
        )
        death = Died(post.spec.kind, post.number, post.incarnation, pid, str(how), post.why, box)
        self._obituaries.add(death, post.spec.mourners)
        self._decide(post, end, now, booting=booting)

    def _decide(self, post: Post, end: End, now: float, *, booting: bool) -> None:
        # What a child is forgiven its work may have done, and so says nothing about the tree.
        status = None if end.was_ready and post.spec.restart.forgiving else end.how.status
        refused = status == CONFIGURATION or (booting and not end.was_ready and status in post.spec.refusals)
        if not self._stopping.needs(post):
            self._stopping.ended_with(status or 0)
        elif refused and self._rolling.replaces(post) and self._others_live(post):
            self._rolling.stop(f"{post.peer} {end.how}")
        elif refused:
            self._stopping.give_up(status or 1, f"{post.peer} {end.how}", now)
        else:
            self._again(post, end, str(end.how), now)

    def _again(self, post: Post, end: End, how: str, now: float) -> None:
        """Only ends before READY and crash loops count; an end that was asked for does not."""
        if end.asked and end.was_ready:
            post.due = now
            return
        post.due = now + post.intensity.ended(lived_s=end.lived_s, was_ready=end.was_ready)
        if post.intensity.hopeless:
            post.due = None
            self._stopping.give_up(1, f"{post.peer} ended {post.intensity.ends} times in a row, the last: {how}", now)

    def _others_live(self, post: Post) -> bool:
        return any(other.ready for other in self._roster.of_kind(post.spec.kind))
