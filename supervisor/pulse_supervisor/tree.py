"""The supervisor: starts the children of a table, watches them, starts them again, and ends them in order.

It has no threads and no event loop, and imports nothing that has: a process that forks must not.
"""

import contextlib
import faulthandler
import mmap
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pulse_supervisor import process
from pulse_supervisor.control import Died, DiedSeen, Drain, Kill, NewWire, Peer, Ready, Rewire
from pulse_supervisor.exits import CONFIGURATION, Exit
from pulse_supervisor.obituaries import Obituaries
from pulse_supervisor.post import Post
from pulse_supervisor.spec import Child, Link, Seat
from pulse_supervisor.wire import WireFull

CHECK_S = 0.2
HURRY_S = 2.0

Log = Callable[..., None]


class Supervisor:
    """`run` returns the exit status of the whole: 0 after a drain, 78 for a configuration error, 1 when giving up."""

    def __init__(
        self,
        children: Sequence[Child],
        links: Sequence[Link] = (),
        *,
        name: str,
        log: Log,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self._name = name
        self._log = log
        self._links = tuple(links)
        self._facts = dict(facts or {})
        self._posts = [Post(spec, number) for spec in children for number in range(1, spec.count + 1)]
        self._order = [spec.kind for spec in children]
        self._stages = sorted({spec.stop_stage for spec in children})
        self._obituaries = Obituaries(self._first_of)
        self._selector = selectors.DefaultSelector()
        self._up = 0
        """How many kinds of the table have been READY once."""
        self._stage: int | None = None
        """Which stage of the stop is under way; None while the tree runs."""
        self._hurry: float | None = None
        self._rolling: list[Post] = []
        self._code = 0

    def run(self) -> int:
        """Until the last child is gone."""
        process.adopt_orphans()
        with self._signals():
            self._start_next_kind(time.monotonic())
            while not self._over():
                self._step()
        self._log("tree ended", status=self._code)
        return self._code

    # --- one turn

    def _step(self) -> None:
        for key, _ in self._selector.select(self._patience(time.monotonic())):
            if key.data == "signals":
                self._on_signals()
            elif key.data is not None and key.data[0] == "control":
                self._on_control(key.data[1])
        self._reap()
        now = time.monotonic()
        self._check(now)
        self._obituaries.tell()
        self._advance(now)

    def _patience(self, now: float) -> float:
        moments = [post.due for post in self._posts if post.due is not None]
        moments += [post.deadline for post in self._posts if post.deadline is not None]
        moments += [now + CHECK_S] if any(post.pid for post in self._posts) else []
        return max(0.0, min(moments, default=now + CHECK_S) - now)

    def _advance(self, now: float) -> None:
        """Whatever is due: the next kind of the start, a restart, the next stage of the stop, the next of a rolling restart."""
        if self._stage is not None:
            self._advance_stop(now)
        elif self._up < len(self._order) and self._is_up(self._order[self._up]):
            self._up += 1
            if self._up == len(self._order):
                self._log("tree up")
            self._start_next_kind(now)
        for post in self._posts:
            if post.due is not None and post.due <= now:
                self._start(post, now)
        self._advance_rolling(now)

    def _is_up(self, kind: str) -> bool:
        return all(post.ready for post in self._posts if post.spec.kind == kind)

    def _start_next_kind(self, now: float) -> None:
        if self._up < len(self._order):
            for post in self._posts:
                if post.spec.kind == self._order[self._up]:
                    post.due = now

    # --- starting

    def _start(self, post: Post, now: float) -> None:
        post.incarnation += 1
        ours, theirs = socket.socketpair()
        wires = {}
        for other in self._linked(post):
            far, near = socket.socketpair()
            wires[other.peer] = (other.incarnation, near)
            self._hand_over(other, post, far)
        seat = Seat(
            peer=post.peer,
            incarnation=post.incarnation,
            control=theirs,
            wires=wires,
            box=mmap.mmap(-1, post.spec.box_bytes) if post.spec.box_bytes else None,
            first=self._up < len(self._order) and self._stage is None,
            facts=self._facts,
        )
        post.start(seat, ours, title=f"pulse: {post.peer} [{self._name}]", now=now)
        assert post.control is not None
        self._selector.register(post.control, selectors.EVENT_READ, ("control", post))
        if post.pidfd >= 0:
            self._selector.register(post.pidfd, selectors.EVENT_READ, ("exit", post))
        self._log("child started", child=str(post.peer), child_pid=post.pid, incarnation=post.incarnation)

    def _linked(self, post: Post) -> list[Post]:
        kinds = {link.other for link in self._links if link.one == post.spec.kind}
        kinds |= {link.one for link in self._links if link.other == post.spec.kind}
        return [other for other in self._posts if other.spec.kind in kinds and other.pid and other is not post]

    def _hand_over(self, survivor: Post, newcomer: Post, end: socket.socket) -> None:
        """Give a living child its end of a wire to a new one."""
        with end:
            if survivor.control is None:
                return
            try:
                survivor.control.send(
                    NewWire(newcomer.spec.kind, newcomer.number, newcomer.incarnation), os.dup(end.fileno())
                )
            except WireFull:
                survivor.kill(signal.SIGKILL, why="it does not read its control wire")

    # --- what children say

    def _on_control(self, post: Post) -> None:
        if post.control is None:
            return
        control = post.control
        for message in control.receive():
            if isinstance(message, Ready):
                self._on_ready(post)
            elif isinstance(message, Kill):
                self._on_kill(post, message)
            elif isinstance(message, Rewire):
                self._rewire(post, Peer(message.kind, message.number))
            elif isinstance(message, DiedSeen):
                self._obituaries.seen(post.spec.kind, message)
        if control.ended is not None:
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(control)
            if control.ended != "closed":
                self._log("control wire broke", child=str(post.peer), why=control.ended)
                post.kill(signal.SIGKILL, why="its control wire broke")

    def _on_ready(self, post: Post) -> None:
        if not post.ready:
            post.ready = True
            self._log(
                "child ready",
                child=str(post.peer),
                child_pid=post.pid,
                took_ms=round((time.monotonic() - post.started) * 1000),
            )

    def _on_kill(self, asker: Post, message: Kill) -> None:
        post = self._find(Peer(message.kind, message.number))
        if post is not None and post.pid and post.incarnation == message.incarnation:
            self._log("child killed", child=str(post.peer), child_pid=post.pid, by=str(asker.peer), why=message.why)
            post.expected = True
            post.kill(signal.SIGKILL, why=message.why)

    def _rewire(self, post: Post, peer: Peer) -> None:
        other = self._find(peer)
        if other is None or not other.pid or not post.pid:
            return
        one, two = socket.socketpair()
        self._hand_over(post, other, one)
        self._hand_over(other, post, two)

    # --- ends

    def _reap(self) -> None:
        """Everyone who has ended, strangers that we adopted among them."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            post = next((post for post in self._posts if post.pid == pid), None)
            if post is not None:
                self._on_end(post, pid, status)

    def _on_end(self, post: Post, pid: int, status: int) -> None:
        if post.control is not None:
            self._on_control(post)  # its last words
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(post.control)
        if post.pidfd >= 0:
            self._selector.unregister(post.pidfd)
        now = time.monotonic()
        was_ready, lived_s, asked = post.ready, now - post.started, post.expected or post.deadline is not None
        how = post.gone(status)
        self._log(
            "child ended", child=str(post.peer), child_pid=pid, how=str(how), why=post.why, lived_s=round(lived_s, 3)
        )
        box = post.take_box()
        if post.spec.mourners:
            death = Died(post.spec.kind, post.number, post.incarnation, pid, str(how), post.why, box)
            self._obituaries.add(death, post.spec.mourners)
        self._decide(post, how, asked=asked, was_ready=was_ready, lived_s=lived_s, now=now)

    def _decide(self, post: Post, how: Exit, *, asked: bool, was_ready: bool, lived_s: float, now: float) -> None:
        """Start it again, or not."""
        if self._stage is not None and post.spec.stop_stage <= self._stages[self._stage]:
            self._code = self._code or (how.status or 0 if how.signal is None else 0)
            return
        booting = self._up < len(self._order) and not was_ready
        if how.status == CONFIGURATION or (booting and how.status in post.spec.refusals):
            self._give_up(how.status or 1, f"{post.peer} {how}")
        elif asked:
            post.due = now
        else:
            post.due = now + post.intensity.ended(lived_s=lived_s, was_ready=was_ready)
            if post.intensity.hopeless:
                self._give_up(1, f"{post.peer} ended {post.intensity.strikes} times in a row, last: {how}")

    def _give_up(self, code: int, why: str) -> None:
        self._log("giving up", why=why, status=code)
        self._code = code
        for post in self._posts:
            post.due = None
        if self._stage is None:
            self._begin_stop()

    # --- checks

    def _check(self, now: float) -> None:
        for post in self._posts:
            if not post.pid:
                continue
            if post.deadline is not None and now >= post.deadline:
                post.deadline = now + 1.0
                post.kill(signal.SIGKILL, why="it did not drain in time")
            elif not post.ready and now - post.started > post.spec.ready_s:
                self._log("child not ready", child=str(post.peer), child_pid=post.pid, within_s=post.spec.ready_s)
                post.kill(signal.SIGKILL, why=f"it was not ready within {post.spec.ready_s:g} s")
            elif post.spec.overdue is not None and post.box is not None:
                self._check_box(post, post.spec.overdue, now)
        if self._hurry is not None and now >= self._hurry:
            for post in self._posts:
                post.kill(signal.SIGKILL, why="the tree was told twice to end")

    def _check_box(self, post: Post, overdue: Callable[[memoryview, float], str | None], now: float) -> None:
        assert post.box is not None
        with memoryview(post.box) as held:
            why = overdue(held, now)
        if why is not None and post.why is None:
            self._log("child killed", child=str(post.peer), child_pid=post.pid, by="supervisor", why=why)
            post.expected = True
            post.kill(signal.SIGKILL, why=why)

    # --- signals

    @contextlib.contextmanager
    def _signals(self) -> Any:
        reading, writing = socket.socketpair()
        reading.setblocking(False)
        writing.setblocking(False)
        self._signal_socket = reading
        old = {number: signal.signal(number, lambda *_: None) for number in process.OURS}
        before = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
        self._selector.register(reading, selectors.EVENT_READ, "signals")
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            for number, handler in old.items():
                signal.signal(number, handler)
            self._selector.close()
            reading.close()
            writing.close()

    def _on_signals(self) -> None:
        with contextlib.suppress(BlockingIOError):
            for number in self._signal_socket.recv(1024):
                if number in (signal.SIGTERM, signal.SIGINT):
                    self._on_stop(signal.Signals(number).name)
                elif number == signal.SIGHUP:
                    self._on_hup()
                elif number == signal.SIGUSR1:
                    self._dump()

    def _on_stop(self, name: str) -> None:
        if self._stage is None:
            self._log("draining", signal=name)
            self._begin_stop()
        elif self._hurry is None:
            self._log("ending now", signal=name)
            self._hurry = time.monotonic() + HURRY_S
            for post in self._posts:
                self._drain(post, 0.0, time.monotonic() + HURRY_S)

    def _on_hup(self) -> None:
        if self._stage is None and not self._rolling:
            self._rolling = [post for post in self._posts if post.spec.rolling]
            self._log("rolling restart", children=[str(post.peer) for post in self._rolling])

    def _dump(self) -> None:
        faulthandler.dump_traceback(all_threads=True)
        for post in self._posts:
            post.kill(signal.SIGUSR1)

    # --- draining

    def _begin_stop(self) -> None:
        self._rolling = []
        self._stage = -1
        self._advance_stop(time.monotonic())

    def _advance_stop(self, now: float) -> None:
        """Go on to the next stage when everyone of this one is gone, and those who stay know of every death."""
        assert self._stage is not None
        while self._stage < len(self._stages):
            if self._stage >= 0:
                stage = self._stages[self._stage]
                if any(post.pid for post in self._posts if post.spec.stop_stage <= stage):
                    return
                for kind in {post.spec.kind for post in self._posts if post.spec.stop_stage <= stage}:
                    self._obituaries.give_up(kind)
                if len(self._obituaries) and any(post.pid for post in self._posts) and self._hurry is None:
                    return
            self._stage += 1
            if self._stage < len(self._stages):
                for post in self._posts:
                    if post.spec.stop_stage == self._stages[self._stage]:
                        post.due = None
                        self._drain(post, post.spec.grace_s, now + post.spec.grace_s + 1.0)

    def _drain(self, post: Post, grace_s: float, deadline: float) -> None:
        if post.pid and post.control is not None:
            post.expected = True
            post.deadline = deadline if post.deadline is None else min(deadline, post.deadline)
            with contextlib.suppress(WireFull):  # then the deadline ends it
                post.control.send(Drain(grace_s))

    def _advance_rolling(self, now: float) -> None:
        """One at a time: drained, gone, back and READY; then the next."""
        while self._rolling:
            post = self._rolling[0]
            if post.pid and post.ready and post.deadline is None and not getattr(post, "rolled", None):
                post.rolled = post.incarnation  # type: ignore[attr-defined]
                self._drain(post, post.spec.grace_s, now + post.spec.grace_s + 1.0)
                return
            if not (post.ready and post.incarnation != getattr(post, "rolled", post.incarnation)):
                return
            post.rolled = None  # type: ignore[attr-defined]
            self._rolling.pop(0)

    def _over(self) -> bool:
        return self._stage is not None and not any(post.pid for post in self._posts)

    # --- finding

    def _find(self, peer: Peer) -> Post | None:
        return next((post for post in self._posts if post.peer == peer), None)

    def _first_of(self, kind: str) -> Post | None:
        return next((post for post in self._posts if post.spec.kind == kind), None)
