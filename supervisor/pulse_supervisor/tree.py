"""The supervisor: starts the children of a table, watches them, starts them again, and ends them in order.

It has no threads and no event loop, and imports nothing that has: a process that forks must not.
"""

import contextlib
import os
import signal
import time
from collections.abc import Mapping, Sequence
from typing import Any

from setproctitle import setproctitle

from pulse_supervisor import process
from pulse_supervisor.checks import Checks
from pulse_supervisor.control import DiedSeen, Kill, Peer, Ready, Rewire, Roll
from pulse_supervisor.dumps import Dumps
from pulse_supervisor.ends import Ends
from pulse_supervisor.guard import Guard
from pulse_supervisor.obituaries import Obituaries
from pulse_supervisor.post import Post
from pulse_supervisor.rolling import Rolling
from pulse_supervisor.roster import Roster
from pulse_supervisor.signals import Signals
from pulse_supervisor.spec import Child, Link, Log
from pulse_supervisor.starting import Starting
from pulse_supervisor.stopping import Stopping
from pulse_supervisor.waiting import wait
from pulse_supervisor.wire import CLOSED
from pulse_supervisor.wiring import Rewiring

SILENT_S = 2.0
"""A child that has closed its control wire ends within this time, or is ended."""


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
        self._log = log = _steady(log)
        self._roster = roster = Roster(children, links)
        self._obituaries = obituaries = Obituaries(roster)
        self._rewiring = Rewiring(roster)
        self._checks = Checks(roster, log=log)
        self._dumps = Dumps()
        self._rolling = Rolling(roster, log=log)
        self._stopping = Stopping(roster, obituaries, log=log)
        self._guard = Guard(title=f"pulse: guard [{name}]")
        self._ends = Ends(
            roster,
            obituaries,
            self._stopping,
            self._rolling,
            log=log,
            before=self._last_words,
            stranger=self._guard.ended,
        )
        self._starting = Starting(
            roster, obituaries, name=name, facts=facts or {}, log=log, failed=self._ends.not_started
        )

    def run(self) -> int:
        """Until the last child is gone. Left by an exception, it ends them all."""
        process.adopt_orphans()
        setproctitle(f"pulse: supervisor [{self._name}]")
        with Signals() as signals:
            try:
                self._starting.begin(time.monotonic())
                while not self._advance(time.monotonic()):
                    for post in wait(self._roster.living(), signals, self._patience_s(time.monotonic())):
                        self._listen(post)
                    for number in signals.take():
                        self._on_signal(number, time.monotonic())
                    self._ends.reap(booting=not self._starting.is_up)
            finally:
                self._end_everyone()
        self._log("tree ended", status=self._stopping.code)
        return self._stopping.code

    def _advance(self, now: float) -> bool:
        """Whatever is due. Whether all is over."""
        self._checks.look(now)
        self._dumps.advance(now)
        self._rewiring.advance(now)
        if self._stopping.begun:
            self._stopping.advance(now)
        else:
            self._starting.climb(now)
            if self._starting.is_up:
                self._rolling.advance(now)
        self._obituaries.tell()
        self._starting.start_due(now)
        self._guard.guard(post.pid for post in self._roster.living() if post.spec.leads_group)
        return self._stopping.over

    def _patience_s(self, now: float) -> float | None:
        moments = [self._starting.due(), self._stopping.due(), self._rewiring.due(), self._dumps.due()]
        known = [*self._checks.due(now), *(moment for moment in moments if moment is not None)]
        if self._stopping.begun and not self._roster.living():
            known.append(now)
        return max(0.0, min(known) - now) if known else None

    def _on_signal(self, number: signal.Signals, now: float) -> None:
        if number in (signal.SIGTERM, signal.SIGINT):
            self._log("ending now" if self._stopping.begun else "draining", signal=number.name)
            (self._stopping.hurry if self._stopping.begun else self._stopping.begin)(now)
        elif number == signal.SIGHUP and not self._stopping.begun:
            self._rolling.ask()
        elif number == signal.SIGUSR1:
            self._dumps.ask(self._roster.living(), now)

    def _listen(self, post: Post) -> None:
        for message in post.hear():
            self._on_word(post, message)
        control = post.control
        if control is None or control.ended is None:
            return
        if control.ended != CLOSED:
            self._log("control wire broke", child=str(post.peer), child_pid=post.pid, why=control.ended)
        if control.broken:
            post.kill(why="its control wire broke")
        else:  # by its end, or half-way through a word: the reason is in how it ends
            post.end_by(time.monotonic() + SILENT_S, "it closed its control wire and did not end")

    def _on_word(self, post: Post, message: Any) -> None:
        if isinstance(message, Ready):
            self._on_ready(post)
        elif isinstance(message, Kill):
            self._on_kill(post, message)
        elif isinstance(message, Rewire):
            self._rewiring.ask(post, Peer(message.kind, message.number), message.incarnation)
        elif isinstance(message, Roll):
            if not self._stopping.begun:
                self._rolling.ask()
        elif isinstance(message, DiedSeen):
            self._obituaries.seen(post.spec.kind, message)

    def _on_ready(self, post: Post) -> None:
        if not post.ready:
            post.ready = True
            took_ms = round((time.monotonic() - post.started) * 1000)
            self._log("child ready", child=str(post.peer), child_pid=post.pid, took_ms=took_ms)

    def _on_kill(self, asker: Post, message: Kill) -> None:
        post = self._roster.find(Peer(message.kind, message.number))
        if post is not None and post.pid and post.incarnation == message.incarnation:
            self._log("child killed", child=str(post.peer), child_pid=post.pid, by=str(asker.peer), why=message.why)
            post.expected = True
            post.kill(why=message.why)

    def _last_words(self, post: Post) -> None:
        for message in post.hear(everything=True):
            self._on_word(post, message)

    def _end_everyone(self) -> None:
        for post in self._roster.living():
            post.kill(why="its supervisor fails")
            with contextlib.suppress(ChildProcessError):
                os.waitpid(post.pid, 0)
            post.gone()
        self._guard.close()


def _steady(log: Log) -> Log:
    """A log that cannot be written to, because whoever read it has gone, is no reason to end a tree."""

    def steady(event: str, **details: Any) -> None:
        with contextlib.suppress(OSError):
            log(event, **details)

    return steady
