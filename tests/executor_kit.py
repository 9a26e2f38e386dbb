"""An executor on a real loop, with the test at the other ends of its wires: what it is given, and what it reports."""

import mmap
import select
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import UUID, uuid4

import msgspec
import uvloop

from pulse_runtime.actors.executor import Executor
from pulse_runtime.events import Log
from pulse_runtime.execution import asyncio_shell, black_box, trio_shell
from pulse_runtime.execution.black_box import BlackBox
from pulse_runtime.execution.running import Runner
from pulse_runtime.handlers import Handler, HandlerOptions, Registry
from pulse_runtime.messages import (
    Batch,
    Beat,
    CancelRunning,
    Claimed,
    Demand,
    Hello,
    Progress,
    Registered,
    Report,
    Settled,
)
from pulse_runtime.settings import RuntimeSettings
from pulse_runtime.topology import incoming
from pulse_supervisor import Drain, Hub, Message, Peer, Seat, Wire
from pulse_supervisor.control import FromChild, Kill

ME = Peer("executor", 1)
LOOPS = ("uvloop", "trio")
_DRIVES = {"uvloop": asyncio_shell.drive, "trio": trio_shell.drive}
_PEERS = {"claimer": Hello | Demand, "reporter": Report | Progress, "heartbeat": Beat}
PATIENCE_S = 10.0
uvloop.new_event_loop().close()  # libuv makes a pipe for the whole process with the first one: no test leaks it


def job(kind: str, args: Any = None, **more: Any) -> list[Any]:
    """A delivery as `pulse.wire` writes it; `more` is one of `usual`, meta, or rare."""
    usual: dict[str, Any] = {"id": str(uuid4()), "attempt": 1, "charged": 0, "max_attempts": 25, "suspect": 0}
    meta = more.pop("meta", None)
    said = {name: more.pop(name, value) for name, value in usual.items()}
    job_id, *budget = said.values()
    head = [job_id, kind, {} if args is None else args, *budget]
    return [*head, more, meta] if more or meta is not None else head


def handler(function: Callable[..., Any], kind: str | None = None, **options: Any) -> Handler[..., Any]:
    """What `@job` makes, in no registry."""
    return Handler(function, kind or function.__name__, HandlerOptions(**options))  # type: ignore[typeddict-item]


@dataclass
class How:
    """How a delivery ended; `ending` is None for success."""

    ending: str | None = None
    error: str | None = None
    delay_ms: int | None = None
    result: Any = None
    follow_ups: list[Any] = field(default_factory=list)


class Heard(Log):
    """Keeps what is said."""

    def __init__(self, actor: str, *, quiet: bool) -> None:
        super().__init__(actor, quiet=quiet)
        self.lines: list[dict[str, Any]] = []

    def __call__(self, event: str, **fields: Any) -> None:
        self.lines.append({"event": event, **fields})


class Stage:
    """`with Stage(handler(f), loop="trio") as stage: stage.run(job("f"))`"""

    def __init__(self, *handlers: Handler[..., Any], loop: str = "uvloop", **settings: Any) -> None:
        self._registry = Registry()
        for each in handlers:
            self._registry.add(each)
        self._loop = loop
        self._settings = RuntimeSettings(**{"dsn": "", "name": "test", "concurrency": 10, "loop": loop, **settings})
        self._claim = 0
        self._tokens: dict[int, UUID] = {}
        self.ended: dict[tuple[int, int], How] = {}
        self.reports: list[Report] = []
        self.demands: list[Demand] = []
        self.kills: list[Kill] = []
        self.progress: list[Progress] = []
        self.settling = True
        self.beats = 0
        self.over = threading.Event()
        self.broken: Exception | None = None

    def __enter__(self) -> Self:
        ours, theirs = zip(*(socket.socketpair() for _ in range(4)), strict=True)
        self._control = Wire(ours[0], incoming=FromChild)
        self._wires = {
            kind: Wire(sock, incoming=types) for (kind, types), sock in zip(_PEERS.items(), ours[1:], strict=True)
        }
        self.box = mmap.mmap(-1, black_box.size_for(self._settings.concurrency))
        wires = {Peer(kind, 1): (1, sock) for kind, sock in zip(_PEERS, theirs[1:], strict=True)}
        seat = Seat(peer=ME, incarnation=3, control=theirs[0], wires=wires, box=self.box)
        self._thread = threading.Thread(target=self._drive, args=(seat,), name="executor")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._control.send(Drain(0.0))
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "the executor did not end"
        for wire in (self._control, *self._wires.values()):
            wire.close()
        self.box.close()

    def _drive(self, seat: Seat) -> None:
        hub = Hub(seat, incoming("executor"))
        hello = Hello(0, 4321, "1", list(self._registry))
        log = Heard("executor-1", quiet=True)
        self._lines = log.lines
        box = BlackBox(seat.box)  # type: ignore[arg-type]

        def kill_me(why: str) -> None:
            hub.kill(hub.peer, hub.incarnation, why)

        def begin(shell: Any) -> Executor:
            return Executor(hub, shell, box, Runner(self._registry), hello, self._settings, log, kill_me=kill_me)

        def leave(error: Exception | None) -> None:
            self.broken = error
            self.over.set()

        _DRIVES[self._loop](hub, begin, leave)
        hub.flush(1.0)
        hub.close()

    # --- what a test does

    def run(self, *jobs: list[Any], queue: str = "default") -> list[How]:
        """Deliver these as one claim, and wait for the ends of all."""
        claim = self.deliver(*jobs, queue=queue)
        self.until(lambda: all((claim, position) in self.ended for position in range(len(jobs))))
        return [self.ended[claim, position] for position in range(len(jobs))]

    def deliver(self, *jobs: list[Any], queue: str = "default") -> int:
        return self.deliver_text(msgspec.json.encode(list(jobs)), queue=queue)

    def deliver_text(self, jobs: bytes, *, queue: str = "default") -> int:
        """Deliver them when they are asked for. The number of their claim."""
        self.until(lambda: bool(self.demands))
        self._claim += 1
        batch = Batch(self._claim, str(uuid4()), jobs, queue)
        self.say("claimer", Claimed(self.demands.pop().request, [batch]))
        return self._claim

    def cancel(self, claim: int, position: int = 0, reason: str = "") -> None:
        self.say("claimer", CancelRunning(claim, position, reason))

    def drain(self, grace_s: float) -> None:
        self._control.send(Drain(grace_s))

    def say(self, kind: str, message: Message) -> None:
        self._wires[kind].send(message)

    def said(self, event: str) -> list[dict[str, Any]]:
        """Lines of its log."""
        return [line for line in self._lines if line["event"] == event]

    def states(self, claim: int) -> bytes:
        """Of the jobs of a claim, as the black box has them."""
        found = black_box.read(self.box[:]).claims
        return next((each.states for each in found if each.claim == claim), b"")

    def until(self, true: Callable[[], bool], *, within_s: float = PATIENCE_S) -> None:
        """Hear what the executor says until something is true."""
        end = time.monotonic() + within_s
        while not true():
            left = end - time.monotonic()
            assert left > 0, f"it did not come true; ended: {repr(self.ended)[:2000]}"
            self._hear(min(left, 0.02))

    def _hear(self, wait_s: float) -> None:
        wires = [self._control, *self._wires.values()]
        for ready in select.select(wires, [wire for wire in wires if wire.wants_to_write], [], wait_s)[:2]:
            for wire in ready:
                wire.flush()
        for wire in wires:
            for message in wire.receive():
                self._heard(message)

    def _heard(self, message: Any) -> None:
        if isinstance(message, Hello):
            self.say("claimer", Registered(7))
        elif isinstance(message, Beat):
            self.beats += 1
        elif isinstance(message, Demand):
            self.demands.append(message)
        elif isinstance(message, Kill):
            self.kills.append(message)
        elif isinstance(message, Progress):
            self.progress.append(message)
        elif isinstance(message, Report):
            self.reports.append(message)
            self._note(message)
            if self.settling:
                self.say("reporter", Settled([message.number]))

    def settle(self) -> None:
        """Say that everything reported so far is durable."""
        self.say("reporter", Settled([each.number for each in self.reports]))

    def _note(self, report: Report) -> None:
        for position, bit in enumerate(report.mask):
            if bit == "1":
                self.ended[report.claim, position] = How()
        for each in report.endings:
            self.ended[report.claim, each.position] = How(each.ending, each.error, each.delay_ms)
            self._note_follow_ups(each.follow_ups)
        for claim, position, result in msgspec.json.decode(f"[{report.results}]"):
            self.ended[claim, position].result = result
        self._note_follow_ups(report.follow_ups)

    def _note_follow_ups(self, text: str) -> None:
        for claim, position, follow_up in msgspec.json.decode(f"[{text}]"):
            self.ended[claim, position].follow_ups.append(follow_up)
