"""Making wires, and handing their ends to those who live."""

import socket

from pulse_supervisor.control import NewWire, Peer
from pulse_supervisor.post import Post
from pulse_supervisor.roster import Roster

REWIRE_S = 1.0
"""Two peers that do not understand each other get a new wire this often, not as fast as they can break it."""


def hand_over(survivor: Post, other: Post, end: socket.socket) -> None:
    """Give a living child its end of a wire to another."""
    survivor.tell(NewWire(other.spec.kind, other.number, other.incarnation), end.detach())


class Rewiring:
    """New wires between two who both live, after a frame that could not be read."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._last: dict[frozenset[Peer], float] = {}
        self._asked: dict[frozenset[Peer], tuple[Post, int, Post, int]] = {}

    def ask(self, post: Post, peer: Peer, incarnation: int) -> None:
        """`post` has lost its wire to that incarnation of `peer`."""
        other = self._roster.find(peer)
        if other is not None and other in self._roster.linked(post):
            self._asked[frozenset((post.peer, peer))] = (post, post.incarnation, other, incarnation)

    def due(self) -> float | None:
        """When `advance` has something to do."""
        return min((self._last.get(pair, 0.0) + REWIRE_S for pair in self._asked), default=None)

    def advance(self, now: float) -> None:
        """Make those whose time has come."""
        for pair in list(self._asked):
            if self._last.get(pair, 0.0) + REWIRE_S <= now:
                self._last[pair] = now
                self._make(*self._asked.pop(pair))

    @staticmethod
    def _make(one: Post, incarnation: int, other: Post, others: int) -> None:
        """Unless one of them has died since: whoever came after it has a wire already."""
        if one.pid and other.pid and (one.incarnation, other.incarnation) == (incarnation, others):
            near, far = socket.socketpair()
            hand_over(one, other, near)
            hand_over(other, one, far)
