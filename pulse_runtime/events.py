"""What the runtime says, one line per event: JSON for machines, short text for a terminal. Job ids, never arguments."""

import json
import os
import sys
import time
from datetime import UTC, datetime
from typing import Any

STDERR = 2


class Log:
    """Lines of one actor. A line is a single write, so that lines of several processes never mix."""

    def __init__(self, actor: str, *, pretty: bool | None = None, quiet: bool = False) -> None:
        self._actor = actor
        self._pretty = sys.stderr.isatty() if pretty is None else pretty
        self._quiet = quiet

    def of(self, actor: str) -> "Log":
        """The same for another actor."""
        return Log(actor, pretty=self._pretty, quiet=self._quiet)

    def __call__(self, event: str, **fields: Any) -> None:
        """`event` is one of `EVENTS` or of the supervisor's own; fields that are None are left out."""
        if self._quiet:
            return
        said = {name: value for name, value in fields.items() if value is not None}
        line = self._as_text(event, said) if self._pretty else self._as_json(event, said)
        try:
            os.write(STDERR, line.encode(errors="replace") + b"\n")
        except OSError:  # nobody reads any more; that is no reason to end
            return

    def _as_json(self, event: str, fields: dict[str, Any]) -> str:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return json.dumps({"at": now, "event": event, "actor": self._actor, "pid": os.getpid(), **fields}, default=str)

    def _as_text(self, event: str, fields: dict[str, Any]) -> str:
        said = "  ".join(f"{name}={value}" for name, value in fields.items())
        return f"{time.strftime('%H:%M:%S')}  {self._actor:<12} {event}{'  ' if said else ''}{said}"


EVENTS = {
    "database lost": "a connection ended or could not be made; it is tried again",
    "database back": "a connection is there again",
    "question failed": "the database refused a statement, and asking again would not help",
    "paused": "dispatch or queues were paused",
    "resumed": "and are no longer",
    "registered": "an executor got the id under which it holds leases",
    "executor buried": "what a dead executor held was settled and given back",
    "executor reaped": "another runtime's executor stood still for a lease time",
    "executor refused": "an executor of ours has ended for the database",
    "claim released": "nobody held it, so it was given back",
    "report refused": "a report could not be stored; its jobs fail",
    "job failed": "a handler raised, or a job could not be run",
    "maintained": "partitions were made or dropped",
    "retention starves": "locks were not to be had for several rounds, because a transaction stays open: the log grows",
    "waiting": "before it takes over from a host that may be lost, a runtime watches it for a lease time",
    "took over": "executors of this runtime's last life were ended",
    "drained": "nothing is in hand any more",
    "unflushed": "reports could not be made durable before the end",
    "refused to start": "something must be mended first: the reason is in the line",
    "wire lost": "a wire ended otherwise than by its peer's end",
}
"""The vocabulary of the actors."""
