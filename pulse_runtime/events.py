"""What the runtime says, one line per event: JSON for machines, short text for a terminal. Job ids, never arguments."""

import json
import os
import select
import sys
import time
from datetime import UTC, datetime
from typing import Any

STDERR = 2
MOST_BYTES = 4000
"""A longer write to a pipe may be mixed with another process's (PIPE_BUF is 4096)."""
PATIENCE_S = 1.0
"""So long is waited for whoever reads the log; then lines are lost, and counted, until there is room again."""
_SHORT = 300


class Log:
    """Lines of one actor. A line is a single write, so that lines of several processes never mix.

    A reader that has stopped holds up nobody for long: leases would lapse while everyone waits to say something.
    """

    def __init__(self, actor: str, *, pretty: bool | None = None, quiet: bool = False) -> None:
        self._actor = actor
        self._pretty = sys.stderr.isatty() if pretty is None else pretty
        self._quiet = quiet
        self._lost = 0

    def of(self, actor: str) -> "Log":
        """The same for another actor."""
        return Log(actor, pretty=self._pretty, quiet=self._quiet)

    def __call__(self, event: str, **fields: Any) -> None:
        """`event` is one of `EVENTS` or of the supervisor's own; fields that are None are left out."""
        if self._quiet:
            return
        said = {name: value for name, value in fields.items() if value is not None}
        line = self._line(event, said)
        if len(line) > MOST_BYTES:
            line = self._line(event, {name: _cut(value) for name, value in said.items()})
        try:
            self._write(line)
        except (OSError, ValueError):  # nobody reads any more; that is no reason to end
            return

    def _write(self, line: bytes) -> None:
        if self._lost and _has_room(0.0):
            os.write(STDERR, self._line("lines lost", {"count": self._lost}) + b"\n")
            self._lost = 0
        if _has_room(0.0 if self._lost else PATIENCE_S):
            os.write(STDERR, line + b"\n")
        else:
            self._lost += 1

    def _line(self, event: str, fields: dict[str, Any]) -> bytes:
        line = self._as_text(event, fields) if self._pretty else self._as_json(event, fields)
        return line.encode(errors="replace")

    def _as_json(self, event: str, fields: dict[str, Any]) -> str:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return json.dumps({"at": now, "event": event, "actor": self._actor, "pid": os.getpid(), **fields}, default=str)

    def _as_text(self, event: str, fields: dict[str, Any]) -> str:
        said = "  ".join(f"{name}={value}" for name, value in fields.items())
        return f"{time.strftime('%H:%M:%S')}  {self._actor:<12} {event}{'  ' if said else ''}{said}"


def _has_room(within_s: float) -> bool:
    """A pipe that says so takes a whole line, unless another process is faster by a hair."""
    return bool(select.select([], [STDERR], [], within_s)[1])


def _cut(value: Any) -> Any:
    text = str(value)
    return value if len(text) <= _SHORT else f"{text[:_SHORT]}…"


EVENTS = {
    "lines lost": "so many lines of this log were not written, because nobody read it",
    "database lost": "a connection ended or could not be made; it is tried again",
    "database back": "a connection is there again",
    "question failed": "the database refused a statement, and asking again would not help",
    "paused": "dispatch or queues were paused",
    "resumed": "and are no longer",
    "registered": "an executor got the id under which it holds leases",
    "executor buried": "what a dead executor held was settled and given back",
    "executor reaped": "another runtime's executor stood still for a lease time",
    "executor retires": "it takes nothing new, lets what runs finish, and is replaced",
    "executor refused": "an executor of ours has ended for the database",
    "claim released": "nobody held it, so it was given back",
    "report refused": "a report could not be stored; its jobs fail",
    "job failed": "a handler raised, or a job could not be run",
    "kind unknown": "no handler here is for it: its jobs are put off, and wait for a runtime that has one",
    "audit finding": "something exists that must not: `pulse-runtime db audit` lists it",
    "audited": "the nightly audit is done; no findings are expected",
    "schedule declared": "what is stored was changed to what the code declares",
    "schedule broken": "a schedule cannot be understood or fired; it is paused, with the reason",
    "maintained": "partitions were made or dropped",
    "retention starves": "locks were not to be had for several rounds, because a transaction stays open: the log grows",
    "reloading": "files of the handlers have changed and can be imported: executors are replaced, one by one",
    "reload failed": "files have changed and cannot be imported: executors go on with the code that they have",
    "claims": "at its end: how many claims of a claimer got jobs, and how long they took",
    "reports": "at its end: how many transactions of a reporter made reports durable, and how long they took",
    "waiting": "before it takes over from a host that may be lost, a runtime watches it for a lease time",
    "took over": "executors of this runtime's last life were ended",
    "drained": "nothing is in hand any more",
    "unflushed": "reports could not be made durable before the end",
    "refused to start": "something must be mended first: the reason is in the line",
    "wire lost": "a wire ended otherwise than by its peer's end",
}
"""The vocabulary of the actors."""
