"""What a child and its supervisor say to each other."""

from typing import NamedTuple

from pulse_supervisor.wire import Message


class Peer(NamedTuple):
    """A place in the tree, whoever holds it now."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind}-{self.number}"


class Ready(Message, frozen=True):
    """child → supervisor: I can do my work."""


class Tick(Message, frozen=True):
    """child → supervisor: I still turn. Said by the hub, in `poll`."""


class Kill(Message, frozen=True):
    """child → supervisor: end that process now. `why` is told to those who are told of its death."""

    kind: str
    number: int
    incarnation: int
    why: str


class Rewire(Message, frozen=True):
    """child → supervisor: the wire between us broke although we both live; make a new one."""

    kind: str
    number: int
    incarnation: int


class Roll(Message, frozen=True):
    """child → supervisor: what the rolling children were made of has changed; replace them, as SIGHUP does."""


class DiedSeen(Message, frozen=True):
    """child → supervisor: I have done what this death asks of me."""

    kind: str
    number: int
    incarnation: int


class Drain(Message, frozen=True):
    """supervisor → child: finish what is in hand, take nothing new, then exit. `grace_s` is how long you have."""

    grace_s: float


class NewWire(Message, frozen=True):
    """supervisor → child, with a descriptor: your end of the wire to whoever holds that place now."""

    kind: str
    number: int
    incarnation: int


class Died(Message, frozen=True):
    """supervisor → child: that process has ended. Answer with DiedSeen.

    `how` says how it ended; `why` is the reason if it was killed on purpose; `box` is what its black box held.
    """

    kind: str
    number: int
    incarnation: int
    pid: int
    how: str
    why: str | None
    box: bytes


FromChild = Ready | Tick | Kill | Rewire | Roll | DiedSeen
FromSupervisor = Drain | NewWire | Died
