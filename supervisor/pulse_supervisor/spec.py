"""The table of children: what there is, how many, and what happens when one ends."""

import mmap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pulse_supervisor.control import Peer
from pulse_supervisor.intensity import Restart

if TYPE_CHECKING:
    import socket


Log = Callable[..., None]
"""Called with what happened and the details by name: `log("child ended", child="mixer-1", how="segfault")`."""


@dataclass(frozen=True, kw_only=True)
class Child:
    """One kind of child. The order of the table is that of the start: each kind is READY before the next begins."""

    kind: str
    main: "Callable[[Seat], int | None]"
    """Runs in the child; its result is the exit status (None is 0)."""
    count: int = 1
    restart: Restart = field(default_factory=Restart)
    ready_s: float = 10.0
    """Without READY by then it is killed."""
    silent_s: float | None = None
    """Killed when its hub was not polled for so long, because it is stopped or stuck; None: it may be."""
    grace_s: float = 5.0
    """How long a drain may take."""
    stop_stage: int = 0
    """Kinds of a lower stage are drained, and gone, before those of a higher one begin to."""
    rolling: bool = False
    """SIGHUP replaces them, one at a time."""
    killed_with_us: bool = False
    """Dies at once with the supervisor (PR_SET_PDEATHSIG); the others see their control wire end."""
    leads_group: bool = False
    """Has a process group of its own, which is killed with it."""
    oom_score_adj: int = 0
    box_bytes: int = 0
    """Size of its black box: memory that it shares with the supervisor and that outlives it."""
    overdue: Callable[[memoryview, float], str | None] | None = None
    """Asked every 0.2 s with the box and the monotonic time: a reason to kill it, or None."""
    mourners: tuple[str, ...] = ()
    """Kinds, of which there is one each, that are told of its death: in this order, each after the one before it has
    answered."""
    refusals: tuple[int, ...] = (78,)
    """Exit statuses that end the tree with the same status when they come before the tree is up; 78 always does,
    except in a rolling restart while others of its kind live: then the rolling stops."""


@dataclass(frozen=True)
class Link:
    """Everyone of `one` has a wire to everyone of `other`."""

    one: str
    other: str


@dataclass(kw_only=True)
class Seat:
    """What a child finds when it begins."""

    peer: Peer
    incarnation: int
    control: "socket.socket"
    wires: "dict[Peer, tuple[int, socket.socket]]"
    """For each peer that lives: its incarnation and our end of the wire."""
    box: mmap.mmap | None = None
    tick_s: float = 0.0
    """How often the supervisor wants to hear that it turns; 0: never."""
    first: bool = False
    """The tree is coming up for the first time: what is wrong now is a reason not to start."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the tree's maker wants every child to know."""
