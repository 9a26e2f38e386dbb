"""Who is alive: collects the beats of executors, and has only those extended that beat."""

from dataclasses import dataclass

from pulse_runtime.actors.loop import Office
from pulse_runtime.events import Log
from pulse_runtime.messages import Beat, Extend, Held, Refused
from pulse_supervisor import Drain, Event, Joined, Left, Orphaned, Peer, Said

REPORTER = Peer("reporter", 1)
IMPORT_S = 60.0
"""An executor may take so long until its first beat: it imports user code."""


@dataclass
class Pulse:
    """The last we heard of an executor; `executor` is 0 until it is registered, which may take as long as the database
    is away. It beats all the same."""

    incarnation: int
    heard: float
    executor: int = 0
    claims: tuple[int, ...] = ()
    fresh: bool = False


class Heartbeat:
    """An executor that is silent is not extended, and killed before its lease lapses."""

    def __init__(self, office: Office, *, beat_s: float, silence_s: float, log: Log) -> None:
        self._office = office
        self._beat_s = beat_s
        self._silence_s = silence_s
        self._log = log
        self._pulses: dict[Peer, Pulse] = {}
        self._extend_at = 0.0
        self._woken = 0.0
        self.done: int | None = None

    def receive(self, event: Event, now: float) -> None:
        if isinstance(event, Said) and isinstance(event.message, Beat):
            pulse = self._pulses.setdefault(event.peer, Pulse(event.incarnation, now))
            pulse.executor, pulse.claims = event.message.executor, tuple(event.message.claims)
            pulse.heard, pulse.fresh = now, True
        elif isinstance(event, Said) and isinstance(event.message, Refused):
            self._refuse(event.message)
        elif isinstance(event, Joined) and event.peer == REPORTER:
            self._again(now)
        elif isinstance(event, Joined) and event.peer.kind == "executor":
            self._pulses[event.peer] = Pulse(event.incarnation, now + IMPORT_S)
        elif isinstance(event, Left):
            self._pulses.pop(event.peer, None)
        elif isinstance(event, Drain | Orphaned):
            self._extend(now)
            self.done = 0

    def wake(self, now: float) -> float | None:
        if now - self._woken > self._silence_s:  # it was we who were stopped: they may have beaten, or be stopped too
            for pulse in self._pulses.values():
                pulse.heard = max(pulse.heard, now)
        self._woken = now
        if now >= self._extend_at:
            self._extend(now)
        for peer, pulse in list(self._pulses.items()):
            if now - pulse.heard >= self._silence_s:
                self._office.kill(peer, pulse.incarnation, f"silent for {now - pulse.heard:.1f} s")
                self._pulses.pop(peer)
        return min([self._extend_at, *(pulse.heard + self._silence_s for pulse in self._pulses.values())])

    def _again(self, now: float) -> None:
        """What the last reporter was told, and may not have written, is not left to the next beat."""
        for pulse in self._pulses.values():
            pulse.fresh = pulse.fresh or now - pulse.heard <= self._beat_s
        self._extend_at = now

    def _extend(self, now: float) -> None:
        """Beats within one interval become one extension."""
        self._extend_at = now + self._beat_s
        held = [
            Held(each.executor, list(each.claims)) for each in self._pulses.values() if each.fresh and each.executor
        ]
        if held:
            self._office.send(REPORTER, Extend(held))
        for pulse in self._pulses.values():
            pulse.fresh = False

    def _refuse(self, message: Refused) -> None:
        for peer, pulse in self._pulses.items():
            if pulse.executor in message.executors:
                self._log("executor refused", executor=pulse.executor, child=str(peer))
                self._office.send(peer, message)
