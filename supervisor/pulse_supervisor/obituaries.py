"""Deaths and those who are told of them, one after the other, each until it has answered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pulse_supervisor.control import Died, DiedSeen
from pulse_supervisor.post import Post


@dataclass
class Obituary:
    """A death. `waiting` are the kinds that are still to be told; the first of them is next, or was told and thinks."""

    death: Died
    waiting: list[str]
    told: tuple[str, int] | None = None
    """Kind and incarnation that has the news: one that dies before it answers is told again when it is back."""


class Obituaries:
    """All deaths that somebody still has to know of."""

    def __init__(self, find: Callable[[str], Post | None]) -> None:
        self._find = find
        self._open: list[Obituary] = []

    def __len__(self) -> int:
        return len(self._open)

    def add(self, death: Died, mourners: Sequence[str]) -> None:
        """Tell `mourners` in this order."""
        if mourners:
            self._open.append(Obituary(death, list(mourners)))

    def tell(self) -> None:
        """Whoever is there and has not been told, is."""
        for each in self._open:
            post = self._find(each.waiting[0])
            if post is not None and post.control is not None and post.ready:
                name = (post.spec.kind, post.incarnation)
                if each.told != name:
                    each.told = name
                    post.control.send(each.death)

    def seen(self, kind: str, answer: DiedSeen) -> None:
        """A mourner has done what the death asked of it: the next one's turn."""
        for each in list(self._open):
            same = (each.death.kind, each.death.number, each.death.incarnation) == (
                answer.kind,
                answer.number,
                answer.incarnation,
            )
            if same and each.waiting[0] == kind:
                each.waiting.pop(0)
                each.told = None
                if not each.waiting:
                    self._open.remove(each)

    def give_up(self, kind: str) -> int:
        """That kind will never answer again: how many deaths it does not know of."""
        lost = [each for each in self._open if kind in each.waiting]
        self._open = [each for each in self._open if kind not in each.waiting]
        return len(lost)
