"""When running jobs must have ended: the next one, and those that are past it."""

import heapq
from collections.abc import Callable, Hashable

NEVER = float("inf")


class Deadlines:
    """`tell` hears the moment that the supervisor kills by, whenever it changes; 0 for none."""

    def __init__(self, tell: Callable[[float], None]) -> None:
        self._tell = tell
        self._told = NEVER
        self._moments: dict[Hashable, float] = {}
        self._heap: list[tuple[float, int, Hashable]] = []
        self._late: dict[Hashable, float] = {}
        self._count = 0

    @property
    def next(self) -> float:
        """When the next one passes."""
        return self._heap[0][0] if self._heap else NEVER

    def add(self, who: Hashable, moment: float) -> None:
        self._count += 1
        self._moments[who] = moment
        heapq.heappush(self._heap, (moment, self._count, who))
        self._update()

    def ended(self, who: Hashable) -> None:
        """It has ended, or is dealt with otherwise: nobody is to be killed for it."""
        if self._moments.pop(who, None) is not None:
            self._prune()
        elif self._late.pop(who, None) is None:
            return
        self._update()

    def passed(self, now: float) -> list[Hashable]:
        """Those whose time is up, told once; they count on until they have ended."""
        found = []
        while self._heap and self._heap[0][0] <= now:
            moment, _, who = heapq.heappop(self._heap)
            if self._moments.get(who) == moment:
                del self._moments[who]
                self._late[who] = moment
                found.append(who)
        self._prune()
        return found

    def _prune(self) -> None:
        """Entries of jobs that have ended are dropped when they come up, or all at once when they are most of it."""
        if len(self._heap) > 2 * len(self._moments) + 64:
            self._heap = [entry for entry in self._heap if self._moments.get(entry[2]) == entry[0]]
            heapq.heapify(self._heap)
        while self._heap and self._moments.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)

    def _update(self) -> None:
        earliest = min(self._late.values(), default=NEVER)
        earliest = min(earliest, self.next)
        if earliest != self._told:
            self._told = earliest
            self._tell(0.0 if earliest == NEVER else earliest)
