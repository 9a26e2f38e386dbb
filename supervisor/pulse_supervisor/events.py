"""What a child learns from its hub."""

from dataclasses import dataclass, field
from typing import Any

from pulse_supervisor.control import Died, Drain, Peer


@dataclass(frozen=True)
class Said:
    """A message from a peer."""

    peer: Peer
    message: Any
    incarnation: int = field(default=0, compare=False)
    """Of the one who said it, who may have been replaced since."""


@dataclass(frozen=True)
class Joined:
    """Someone new holds that place, and has a wire to us."""

    peer: Peer
    incarnation: int


@dataclass(frozen=True)
class Left:
    """The wire to that peer has ended; everything it sent was told before. `why` is for the log."""

    peer: Peer
    incarnation: int
    why: str


@dataclass(frozen=True)
class Orphaned:
    """The supervisor is gone: finish what is in hand, and exit within two seconds."""


Event = Said | Joined | Left | Drain | Died | Orphaned
