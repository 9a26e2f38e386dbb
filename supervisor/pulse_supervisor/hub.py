"""A child's side: all its wires in one place. What comes in are events; what goes out never blocks."""

import selectors
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pulse_supervisor.control import Died, DiedSeen, Drain, FromSupervisor, Kill, NewWire, Peer, Ready, Rewire
from pulse_supervisor.spec import Seat
from pulse_supervisor.wire import Message, Wire, WireFull


@dataclass(frozen=True)
class Said:
    """A message from a peer."""

    peer: Peer
    message: Any


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


class Hub:
    """Wires to peers and to the supervisor. `incoming` says for each kind of peer what it may send."""

    def __init__(self, seat: Seat, incoming: Mapping[str, Any]) -> None:
        self.peer = seat.peer
        self.incarnation = seat.incarnation
        self._incoming = incoming
        self._selector = selectors.DefaultSelector()
        self._control = Wire(seat.control, incoming=FromSupervisor)
        self._selector.register(self._control, selectors.EVENT_READ)
        self._wires: dict[Peer, tuple[int, Wire]] = {}
        self._next: dict[Peer, tuple[int, Wire]] = {}
        self._writing: set[Wire] = set()
        self._events: list[Event] = []
        for peer, (incarnation, sock) in seat.wires.items():
            self._join(peer, incarnation, sock)

    def fileno(self) -> int:
        """Readable when `poll(0)` would find something: for those who have a loop of their own."""
        return self._selector.fileno()  # type: ignore[attr-defined, no-any-return]

    @property
    def peers(self) -> dict[Peer, int]:
        """Who has a wire to us, and its incarnation."""
        return {peer: incarnation for peer, (incarnation, _) in self._wires.items()}

    def poll(self, timeout_s: float | None) -> list[Event]:
        """What has happened; waits for it for so long (None: for ever). Callbacks of `watch` run in here."""
        if self._events:
            timeout_s = 0
        for key, mask in self._selector.select(timeout_s):
            if isinstance(key.fileobj, Wire):
                self._turn(key.fileobj, mask)
            else:
                key.data(mask)
        events, self._events = self._events, []
        return events

    def send(self, peer: Peer, message: Message) -> None:
        """To whoever holds the place now. Nobody there: nothing happens, and `Joined` will come."""
        if peer in self._wires:
            incarnation, wire = self._wires[peer]
            try:
                wire.send(message)
            except WireFull as error:
                self._lose(peer, str(error))
                self.kill(peer, incarnation, f"it does not read its wire to {self.peer}: {error}")
                return
            self._watch_output(wire)

    def broadcast(self, kind: str, message: Message) -> None:
        """To everyone of a kind."""
        for peer in [each for each in self._wires if each.kind == kind]:
            self.send(peer, message)

    def ready(self) -> None:
        """Tell the supervisor that we can do our work."""
        self._tell(Ready())

    def kill(self, peer: Peer, incarnation: int, why: str) -> None:
        """Ask the supervisor to end that process."""
        self._tell(Kill(peer.kind, peer.number, incarnation, why))

    def seen(self, death: Died) -> None:
        """Tell the supervisor that we have done what a death asked of us."""
        self._tell(DiedSeen(death.kind, death.number, death.incarnation))

    def watch(self, sock: int, events: int, callback: Callable[[int], None]) -> None:
        """Call back when a descriptor of the caller's own is ready, from inside `poll`; 0 events: no longer."""
        known = sock in self._selector.get_map()
        if not events:
            if known:
                self._selector.unregister(sock)
        elif known:
            self._selector.modify(sock, events, callback)
        else:
            self._selector.register(sock, events, callback)

    def flush(self, timeout_s: float) -> bool:
        """Write what is left to write, for the last words of a process. Whether all was."""
        import time

        end = time.monotonic() + timeout_s
        while self._writing and time.monotonic() < end:
            for key, mask in self._selector.select(0.05):
                if isinstance(key.fileobj, Wire):
                    self._turn(key.fileobj, mask)
        return not self._writing

    def close(self) -> None:
        """Close every wire; peers read an end of file."""
        for _, wire in [*self._wires.values(), *self._next.values()]:
            wire.close()
        self._control.close()
        self._selector.close()

    def _tell(self, message: Message) -> None:
        self._control.send(message)
        self._watch_output(self._control)

    def _turn(self, wire: Wire, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            wire.flush()
            self._watch_output(wire)
        if mask & selectors.EVENT_READ:
            if wire is self._control:
                self._listen()
            else:
                self._read(wire)

    def _read(self, wire: Wire) -> None:
        peer = next((peer for peer, (_, each) in self._wires.items() if each is wire), None)
        if peer is None:
            return
        self._events += [Said(peer, message) for message in wire.receive()]
        if wire.ended is not None:
            self._lose(peer, wire.ended)

    def _listen(self) -> None:
        for message in self._control.receive():
            if isinstance(message, NewWire):
                sock = socket.socket(fileno=self._control.fds.popleft())
                self._join(Peer(message.kind, message.number), message.incarnation, sock)
            else:
                self._events.append(message)
        if self._control.ended is not None:
            self._selector.unregister(self._control)
            self._writing.discard(self._control)
            self._events.append(Orphaned())

    def _join(self, peer: Peer, incarnation: int, sock: socket.socket) -> None:
        if peer in self._wires:  # what the old one still says comes first
            self._read(self._wires[peer][1])
            self._lose(peer, "replaced", told=False)
        wire = Wire(sock, incoming=self._incoming[peer.kind])
        self._wires[peer] = (incarnation, wire)
        self._selector.register(wire, selectors.EVENT_READ)
        self._events.append(Joined(peer, incarnation))

    def _lose(self, peer: Peer, why: str, *, told: bool = True) -> None:
        found = self._wires.pop(peer, None)
        if found is None:
            return
        incarnation, wire = found
        self._selector.unregister(wire)
        self._writing.discard(wire)
        wire.close()
        self._events.append(Left(peer, incarnation, why))
        if told and why.startswith("cannot"):
            self._tell(Rewire(peer.kind, peer.number))

    def _watch_output(self, wire: Wire) -> None:
        if wire.wants_to_write == (wire in self._writing):
            return
        if wire.wants_to_write:
            self._writing.add(wire)
            self._selector.modify(wire, selectors.EVENT_READ | selectors.EVENT_WRITE)
        else:
            self._writing.discard(wire)
            self._selector.modify(wire, selectors.EVENT_READ)
