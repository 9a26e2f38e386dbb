"""Deaths and those who are told of them, one after the other, each until it has answered."""

from collections.abc import Sequence
from dataclasses import dataclass

from pulse_supervisor.control import Died, DiedSeen, Peer
from pulse_supervisor.roster import Roster

MOST_UNTOLD = 16
"""A place with so many deaths that are not dealt with stays empty until some are: they are kept in memory."""


@dataclass
class Obituary:
    """A death. `waiting` are the kinds that are still to be told; the first of them is next, or was told and thinks."""

    death: Died
    waiting: list[str]
    told: int = 0
    """The incarnation that has the news: one that dies before it answers is told again when it is back."""

    def is_of(self, other: Died | DiedSeen) -> bool:
        mine = self.death
        return (mine.kind, mine.number, mine.incarnation) == (other.kind, other.number, other.incarnation)


class Obituaries:
    """All deaths that somebody still has to know of."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._open: list[Obituary] = []

    @property
    def untold(self) -> frozenset[tuple[str, int, int]]:
        """Deaths that somebody has still to deal with: kind, number and incarnation."""
        return frozenset((each.death.kind, each.death.number, each.death.incarnation) for each in self._open)

    def add(self, death: Died, mourners: Sequence[str]) -> None:
        """Tell `mourners` in this order."""
        if mourners:
            self._open.append(Obituary(death, list(mourners)))

    def too_many(self, peer: Peer) -> bool:
        """Nobody has dealt with the last deaths of that place."""
        return sum((each.death.kind, each.death.number) == peer for each in self._open) >= MOST_UNTOLD

    def tell(self) -> None:
        """Whoever is there and has not been told, is."""
        for each in self._open:
            post = self._roster.of_kind(each.waiting[0])[0]
            if post.ready and each.told != post.incarnation:
                each.told = post.incarnation
                post.tell(each.death)

    def seen(self, kind: str, answer: DiedSeen) -> None:
        """A mourner has done what the death asked of it: the next one's turn."""
        for each in self._open:
            if each.is_of(answer) and each.waiting[0] == kind and each.told:
                self._done(each)
                break
        self._forget()

    def give_up(self, kind: str) -> None:
        """That kind will never answer again: the others are told without it."""
        for each in self._open:
            if each.waiting[0] == kind:
                each.told = 0
            each.waiting = [mourner for mourner in each.waiting if mourner != kind]
        self._forget()

    @staticmethod
    def _done(obituary: Obituary) -> None:
        obituary.waiting.pop(0)
        obituary.told = 0

    def _forget(self) -> None:
        self._open = [each for each in self._open if each.waiting]
