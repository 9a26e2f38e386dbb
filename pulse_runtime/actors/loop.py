"""Driving an actor until it is done."""

import time
from collections.abc import Sequence
from typing import Protocol

from pulse_runtime.events import Log
from pulse_supervisor import Died, Event, Hub, Left, Message, Peer


class Office(Protocol):
    """What an actor acts through: a `Hub`, or a recorder in tests."""

    @property
    def peers(self) -> dict[Peer, int]: ...
    def send(self, peer: Peer, message: Message) -> None: ...
    def broadcast(self, kind: str, message: Message) -> None: ...
    def kill(self, peer: Peer, incarnation: int, why: str) -> None: ...
    def seen(self, death: Died) -> None: ...


def tell_loss(event: Event, log: Log) -> None:
    """A wire that ended otherwise than with a life: by bytes that are no message, shown by how they begin."""
    if isinstance(event, Left) and not event.why.startswith(("closed", "replaced")):
        log("wire lost", peer=str(event.peer), why=event.why)


class Actor(Protocol):
    """`done` is the exit status once there is nothing more to do."""

    done: int | None

    def receive(self, event: Event, now: float) -> None: ...

    def wake(self, now: float) -> float | None:
        """Do what is due; the answer is when something is next."""
        ...


class Line(Protocol):
    """A `store.line.Line`, told here by what is asked of it: most actors have none, and do without psycopg."""

    def wake(self, now: float) -> float | None: ...
    def close(self) -> None: ...


def run(actor: Actor, hub: Hub, log: Log, lines: Sequence[Line] = ()) -> int:
    """`wake` runs after every batch, so work piles up exactly when the actor is busy and leaves when it is idle."""
    while actor.done is None:
        now = time.monotonic()
        moments = [actor.wake(now), *(line.wake(now) for line in lines)]
        due = min((moment for moment in moments if moment is not None), default=now + 1.0)
        for event in hub.poll(max(0.0, min(due - now, 1.0))):
            tell_loss(event, log)
            actor.receive(event, time.monotonic())
    hub.flush(1.0)
    for line in lines:
        line.close()
    return actor.done
