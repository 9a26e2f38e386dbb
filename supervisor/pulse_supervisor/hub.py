"""A child's side: all its wires in one place. What comes in are events; what goes out never blocks."""

import selectors
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

from pulse_supervisor.control import Died, DiedSeen, FromSupervisor, Kill, NewWire, Peer, Ready, Rewire, Roll, Tick
from pulse_supervisor.events import Event, Joined, Left, Orphaned, Said
from pulse_supervisor.mailbox import Mailbox
from pulse_supervisor.spec import Seat
from pulse_supervisor.wire import Message, Wire, WireFull


class Hub:
    """Wires to peers and to the supervisor. `incoming` says for each kind of peer what it may send."""

    def __init__(self, seat: Seat, incoming: Mapping[str, Any]) -> None:
        self.peer = seat.peer
        self.incarnation = seat.incarnation
        self._incoming = incoming
        self._selector = selectors.DefaultSelector()
        self._events = Mailbox()
        self._selector.register(self._events, selectors.EVENT_READ, lambda _: None)
        self._orphaned = False
        self._tick_s = seat.tick_s
        self._ticked = 0.0
        self._control = Wire(seat.control, incoming=FromSupervisor)
        self._selector.register(self._control, selectors.EVENT_READ)
        self._wires: dict[Peer, tuple[int, Wire]] = {}
        self._owners: dict[Wire, Peer] = {}
        self._writing: set[Wire] = set()
        for peer, (incarnation, sock) in seat.wires.items():
            self._join(peer, incarnation, sock)

    def fileno(self) -> int:
        """Readable when `poll(0)` would find something: for those who have a loop of their own."""
        return self._selector.fileno()

    @property
    def peers(self) -> dict[Peer, int]:
        """Who has a wire to us, and its incarnation."""
        return {peer: incarnation for peer, (incarnation, _) in self._wires.items()}

    def poll(self, timeout_s: float | None) -> list[Event]:
        """What has happened; waits for it for so long (None: for ever). Callbacks of `watch` run in here.

        With `Child.silent_s` it returns, with nothing if need be, often enough to say that we still turn.
        """
        if self._tick_s:
            timeout_s = self._tick_s if timeout_s is None else min(timeout_s, self._tick_s)
            self._tick(time.monotonic())
        self._events.quiet = True
        try:
            for key, mask in self._selector.select(0 if self._events else timeout_s):
                if isinstance(key.fileobj, Wire):
                    self._turn(key.fileobj, mask)
                elif self._selector.get_map().get(key.fd) is key:  # no longer, if a callback before it said so
                    key.data(mask)
        finally:
            self._events.quiet = False
        return self._events.take()

    def send(self, peer: Peer, message: Message) -> None:
        """To whoever holds the place now. Nobody there: nothing happens, and `Joined` will come.

        A peer that does not read loses its wire and is killed.
        """
        if peer in self._wires:
            incarnation, wire = self._wires[peer]
            try:
                wire.send(message)
            except WireFull as error:
                self._lose(peer, str(error))
                self.kill(peer, incarnation, f"it does not read its wire to {self.peer}: {error}")
                return
            self._after_output(wire)

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

    def roll(self) -> None:
        """Ask the supervisor for a rolling restart."""
        self._tell(Roll())

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
        end = time.monotonic() + timeout_s
        while self._writing and (left := end - time.monotonic()) > 0:
            # Those wires only, or a descriptor of the caller's would keep it spinning. It reads too, because a peer
            # that flushes to us at the same time must get on.
            with selectors.DefaultSelector() as waiting:
                for wire in self._writing:
                    waiting.register(wire, selectors.EVENT_READ | selectors.EVENT_WRITE)
                ready = waiting.select(left)
            for key, mask in ready:
                self._turn(key.fileobj, mask)  # type: ignore[arg-type]
        return not self._writing

    def close(self) -> None:
        """Close every wire; peers read an end of file."""
        for _, wire in self._wires.values():
            wire.close()
        self._control.close()
        self._selector.close()
        self._events.close()

    def _tick(self, now: float) -> None:
        if now >= self._ticked + self._tick_s:
            self._ticked = now
            self._tell(Tick())

    def _tell(self, message: Message) -> None:
        try:
            self._control.send(message)
        except WireFull as error:  # a supervisor that has not read for so long does not supervise
            self._control.give_up(str(error))
        self._after_output(self._control)

    def _turn(self, wire: Wire, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            wire.flush()
            self._after_output(wire)
        if mask & selectors.EVENT_READ:
            self._read(wire)

    def _read(self, wire: Wire) -> None:
        if wire is self._control:
            for message in wire.receive():
                self._told(message)
        elif wire in self._owners:  # otherwise it was replaced in this very turn
            self._events_of(wire, wire.receive())
        self._mind_end(wire)

    def _events_of(self, wire: Wire, messages: list[Any]) -> None:
        for message in messages:
            peer = self._owners[wire]
            self._events.put(Said(peer, message, self._wires[peer][0]))

    def _told(self, message: Any) -> None:
        if isinstance(message, NewWire):
            sock = socket.socket(fileno=self._control.fds.popleft())
            self._join(Peer(message.kind, message.number), message.incarnation, sock)
        else:
            self._events.put(message)

    def _join(self, peer: Peer, incarnation: int, sock: socket.socket) -> None:
        if peer in self._wires:  # what the old one still says comes first
            old = self._wires[peer][1]
            self._events_of(old, old.receive(everything=True))
            self._lose(peer, old.ended or "replaced")
        wire = Wire(sock, incoming=self._incoming[peer.kind])
        self._wires[peer] = (incarnation, wire)
        self._owners[wire] = peer
        self._selector.register(wire, selectors.EVENT_READ)
        self._events.put(Joined(peer, incarnation))

    def _mind_end(self, wire: Wire) -> None:
        if wire.ended is None:
            return
        if wire in self._owners:
            peer = self._owners[wire]
            incarnation = self._lose(peer, wire.ended)
            if wire.broken:
                self._tell(Rewire(peer.kind, peer.number, incarnation))
        elif wire is self._control and not self._orphaned:
            self._orphaned = True
            self._selector.unregister(wire)
            self._writing.discard(wire)
            self._events.put(Orphaned())

    def _lose(self, peer: Peer, why: str) -> int:
        incarnation, wire = self._wires.pop(peer)
        del self._owners[wire]
        self._selector.unregister(wire)
        self._writing.discard(wire)
        wire.close()
        self._events.put(Left(peer, incarnation, why))
        return incarnation

    def _after_output(self, wire: Wire) -> None:
        self._mind_end(wire)
        if wire.wants_to_write != (wire in self._writing):
            if wire.wants_to_write:
                self._writing.add(wire)
                self._selector.modify(wire, selectors.EVENT_READ | selectors.EVENT_WRITE)
            else:
                self._writing.discard(wire)
                self._selector.modify(wire, selectors.EVENT_READ)
