"""Starting children: kind after kind until the tree is up, and then whoever is due again."""

import mmap
import socket
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from pulse_supervisor.obituaries import Obituaries
from pulse_supervisor.post import Post
from pulse_supervisor.roster import Roster
from pulse_supervisor.spec import Log, Seat
from pulse_supervisor.wiring import hand_over

TICKS = 5
"""So many are said in the time after which a child counts as stuck."""


class Starting:
    """`is_up` once every kind of the table has been READY. `failed` is told of a child that could not be forked."""

    def __init__(
        self,
        roster: Roster,
        obituaries: Obituaries,
        *,
        name: str,
        facts: Mapping[str, Any],
        log: Log,
        failed: Callable[[Post, OSError, float], None],
    ) -> None:
        self._roster = roster
        self._obituaries = obituaries
        self._name = name
        self._facts = dict(facts)
        self._log = log
        self._failed = failed
        self._up = 0

    @property
    def is_up(self) -> bool:
        return self._up == len(self._roster.kinds)

    def begin(self, now: float) -> None:
        """Have the kind whose turn it is started."""
        if not self.is_up:
            for post in self._roster.of_kind(self._roster.kinds[self._up]):
                post.due = now

    def climb(self, now: float) -> None:
        """On to the next kind as soon as everyone of this one is READY."""
        for kind in self._roster.kinds[self._up :]:
            if not all(post.ready for post in self._roster.of_kind(kind)):
                return
            self._up += 1
            self.begin(now)
            if self._up == len(self._roster.kinds):
                self._log("tree up")

    def due(self) -> float | None:
        """When `start_due` has something to do."""
        return min((due for _, due in self._waiting()), default=None)

    def start_due(self, now: float) -> None:
        """Everyone whose time has come."""
        for post, due in self._waiting():
            if due <= now:
                try:
                    self._start(post, now)
                except OSError as error:  # no more processes, descriptors or memory: others may give some back
                    self._failed(post, error, now)

    def _waiting(self) -> list[tuple[Post, float]]:
        """Not those whose last deaths nobody has dealt with: an answer to one of them brings them back here."""
        return [
            (post, post.due)
            for post in self._roster.posts
            if post.due is not None and not self._obituaries.too_many(post.peer)
        ]

    def _start(self, post: Post, now: float) -> None:
        with ExitStack() as ends:
            ours, theirs = socket.socketpair()
            control = ends.enter_context(theirs)
            ends.callback(lambda: None if post.control is not None else ours.close())
            wires, fars = {}, []
            for other in self._roster.linked(post):
                far, near = socket.socketpair()
                wires[other.peer] = (other.incarnation, ends.enter_context(near))
                fars.append((other, ends.enter_context(far)))
            seat = Seat(
                peer=post.peer,
                incarnation=post.incarnation + 1,
                control=control,
                wires=wires,
                box=mmap.mmap(-1, post.spec.box_bytes) if post.spec.box_bytes else None,
                tick_s=(post.spec.silent_s or 0.0) / TICKS,
                first=not self.is_up,
                facts=self._facts,
            )
            post.start(seat, ours, title=f"pulse: {post.peer} [{self._name}]", now=now)
            post.incarnation += 1
            for other, far in fars:
                hand_over(other, post, far)
        self._log("child started", child=str(post.peer), child_pid=post.pid, incarnation=post.incarnation)
