"""Who exists, and who talks to whom. Read this first; then `messages.py`."""

import functools
import operator
from dataclasses import dataclass
from typing import Any

from pulse_runtime import messages as m
from pulse_supervisor import Link, Message


@dataclass(frozen=True)
class Wire:
    """A direction between two kinds of actors, and what it carries."""

    source: str
    target: str
    carries: tuple[type[Message], ...]


def wire(source: str, target: str, *carries: type[Message]) -> Wire:
    return Wire(source, target, carries)


ACTORS = ("claimer", "reporter", "heartbeat", "scheduler", "watchdog", "executor")
"""In the order of the start. All but the executors are one each. Only claimer and reporter know Postgres."""

WIRES = (
    #    from         to           carries
    wire("executor",  "claimer",   m.Hello, m.Demand),
    wire("claimer",   "executor",  m.Registered, m.Claimed, m.CancelRunning),
    wire("executor",  "reporter",  m.Report, m.Progress),
    wire("reporter",  "executor",  m.Settled),
    wire("executor",  "heartbeat", m.Beat),
    wire("heartbeat", "executor",  m.Refused),
    wire("heartbeat", "reporter",  m.Extend),
    wire("reporter",  "heartbeat", m.Refused),
    wire("watchdog",  "reporter",  m.Watch, m.Reap, m.Maintain, m.Audit),
    wire("reporter",  "watchdog",  m.Watched, m.Maintained, m.Audited),
    wire("scheduler", "claimer",   m.Idle),
    wire("claimer",   "scheduler", m.Due),
    wire("scheduler", "reporter",  m.Fire),
    wire("reporter",  "scheduler", m.Fired),
)  # fmt: skip
"""Besides, everyone has a control wire to the supervisor (pulse_supervisor.control): READY, drain, deaths, kills."""

STOPS = (("scheduler", "watchdog", "claimer"), ("executor",), ("heartbeat",), ("reporter",))
"""The order of a drain: nothing new is claimed, executors finish, reports are flushed."""

MOURNERS = ("claimer", "reporter")
"""Who is told of an executor's death, in this order: the claimer answers after its last claim for it, then the reporter
settles what the black box says was finished and gives back the rest."""


def links() -> tuple[Link, ...]:
    """One pair of sockets serves both directions."""
    pairs = {frozenset((wire.source, wire.target)): (wire.source, wire.target) for wire in WIRES}
    return tuple(Link(*pair) for pair in pairs.values())


def incoming(actor: str) -> dict[str, Any]:
    """For each kind of peer, the type of what it may send to `actor`."""
    peers = {wire.source for wire in WIRES if wire.target == actor} | {
        wire.target for wire in WIRES if wire.source == actor
    }
    return {peer: _union(peer, actor) for peer in peers}


def _union(source: str, target: str) -> Any:
    carried = [each for wire in WIRES if (wire.source, wire.target) == (source, target) for each in wire.carries]
    return functools.reduce(operator.or_, carried) if carried else Nothing


class Nothing(Message, frozen=True):
    """What is carried by a direction that carries nothing."""


def picture() -> str:
    """The topology as text for the docs; a test fails when the page is stale."""
    rows = [
        f"| {wire.source} → {wire.target} | {', '.join(each.__name__ for each in wire.carries)} |" for wire in WIRES
    ]
    return "\n".join(["| wire | carries |", "|---|---|", *rows]) + "\n"
