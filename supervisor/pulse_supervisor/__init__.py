"""Processes and wires. Knows nothing of jobs."""

from pulse_supervisor.control import Died, Drain, Peer
from pulse_supervisor.events import Event, Joined, Left, Orphaned, Said
from pulse_supervisor.exits import CONFIGURATION, Exit
from pulse_supervisor.hub import Hub
from pulse_supervisor.intensity import Restart
from pulse_supervisor.spec import Child, Link, Seat
from pulse_supervisor.tree import Supervisor
from pulse_supervisor.wire import Message, Wire, WireFull

__all__ = [
    "CONFIGURATION",
    "Child",
    "Died",
    "Drain",
    "Event",
    "Exit",
    "Hub",
    "Joined",
    "Left",
    "Link",
    "Message",
    "Orphaned",
    "Peer",
    "Restart",
    "Said",
    "Seat",
    "Supervisor",
    "Wire",
    "WireFull",
]
