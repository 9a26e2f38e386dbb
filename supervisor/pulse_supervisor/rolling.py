"""Rolling restart: one child at a time is drained, gone, back and READY; then the next."""

from pulse_supervisor.post import Post
from pulse_supervisor.roster import Roster
from pulse_supervisor.spec import Log


class Rolling:
    """Asked again while it rolls, it goes round again: those that are back may have the old code."""

    def __init__(self, roster: Roster, *, log: Log) -> None:
        self._roster = roster
        self._log = log
        self._queue: list[Post] = []
        self._leaving: int | None = None
        """The incarnation that the first of the queue is to lose; None: its turn has not begun."""

    def ask(self) -> None:
        """Replace everyone whose kind says so."""
        waiting = self._queue if self._leaving is None else self._queue[1:]
        new = [post for post in self._roster.posts if post.spec.rolling and post not in waiting]
        self._queue += new
        self._log("rolling restart", children=[str(post.peer) for post in self._queue])

    def replaces(self, post: Post) -> bool:
        """This one came in the place of one that was rolled away, and is not READY yet."""
        return self._queue[:1] == [post] and self._leaving is not None and self._leaving != post.incarnation

    def stop(self, why: str) -> None:
        """The new one refuses to start: the others go on as they are, and its place stays empty until the next try."""
        self._log("rolling restart stopped", why=why)
        self._queue, self._leaving = [], None

    def advance(self, now: float) -> None:
        """Take the next step if it is time."""
        while self._queue:
            post = self._queue[0]
            if self._leaving is None and not self._begin(post, now):
                return
            if not post.ready or post.incarnation == self._leaving:
                return
            self._queue.pop(0)
            self._leaving = None

    def _begin(self, post: Post, now: float) -> bool:
        if post.ready:
            post.drain(post.spec.grace_s, now)
        elif not post.pid and post.due is None:  # its last replacement refused to start
            post.due = now
        else:  # it is coming back by itself
            return False
        self._leaving = post.incarnation
        return True
