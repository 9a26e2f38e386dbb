"""Decides which occurrences of schedules are due. Until there are schedules, it only keeps its place in the tree."""

from pulse_supervisor import Drain, Event, Orphaned


class Scheduler:
    """Pure: it is told what is due and says what to fire."""

    def __init__(self) -> None:
        self.done: int | None = None

    def receive(self, event: Event, _: float) -> None:
        if isinstance(event, Drain | Orphaned):
            self.done = 0

    def wake(self, _: float) -> float | None:
        return None
