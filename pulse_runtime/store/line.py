"""A connection that never blocks: one question at a time, answered through the hub, asked again when it is lost.

Every question of an actor is idempotent, so a line does not tell its actor that a connection was lost: it connects
again, with growing pauses, and asks again. What an actor hears is an answer, or a refusal that asking again would not
change.
"""

import random
import selectors
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import pq
from psycopg.conninfo import make_conninfo
from psycopg.pq import abc

from pulse_runtime.events import Log
from pulse_runtime.store.connect import parameters_of
from pulse_supervisor import Hub

Row = tuple[bytes | None, ...]
_READING = {pq.PollingStatus.READING: selectors.EVENT_READ, pq.PollingStatus.WRITING: selectors.EVENT_WRITE}
_LASTING = ("22", "23", "54", "55000", "25001", "P0", "PU", "0A")
"""SQLSTATEs that are about what was asked: values, limits, states, our own refusals. All others may pass: connections,
resources, conflicts, operators, a standby, the disk, and what a person can mend (rights, a schema that is restored)."""
SESSION = b"""do $$ begin
  set client_connection_check_interval = 1000;
exception when others then null; end $$"""
"""Said first on every connection that no pooler gives to others. A backend that waits for a lock would not notice that
we have given its question up, and would hold what it holds; each time that we ask again there would be one more of
them. Servers on systems where that cannot be told refuse the setting."""
CONNECT_S = 5.0
LONGEST_PAUSE_S = 1.0


@dataclass(frozen=True)
class RefusalError(Exception):
    """The database refused a question for good."""

    state: str
    message: str


@dataclass
class Question:
    """What is asked, and who is told: `then` gets the rows, `otherwise` a refusal (without it, it is logged)."""

    name: str
    sql: bytes
    values: Sequence[bytes | None]
    then: Callable[[list[Row]], None]
    otherwise: Callable[[RefusalError], None] | None = None
    deadline_s: float = 5.0


class Line:
    """`ask` any number of questions; they are answered in their order."""

    def __init__(
        self,
        dsn: str,
        *,
        actor: str,
        hub: Hub,
        log: Log,
        on_connect: bytes = b"",
        notified: Callable[[str], None] | None = None,
    ) -> None:
        self._conninfo = make_conninfo("", **parameters_of(dsn, actor=actor)).encode()
        self._hub = hub
        self._log = log
        self._on_connect = on_connect
        self._notified = notified
        self._questions: deque[Question] = deque()
        self._connection: abc.PGconn | None = None
        self._watching = -1
        self._connecting = False
        self._greeting = False
        self._asked_at: float | None = None
        self._results: list[abc.PGresult] = []
        self._retry_at = 0.0
        self._failures = 0
        self._down = False

    @property
    def idle(self) -> bool:
        """Nothing is asked."""
        return not self._questions

    @property
    def up(self) -> bool:
        """Connected, as far as we know."""
        return self._connection is not None and not self._connecting

    def ask(self, question: Question, now: float) -> None:
        self._questions.append(question)
        self.wake(now)

    def forget(self) -> int:
        """Drop what was not answered; how many questions that were."""
        count = len(self._questions)
        self._questions.clear()
        return count

    def wake(self, now: float) -> float | None:
        """Do what is due; the answer is when something is next."""
        if self._connection is None:
            if now < self._retry_at:
                return self._retry_at
            self._connect(now)
        elif self._asked_at is not None:
            patience = CONNECT_S if self._connecting or self._greeting else self._questions[0].deadline_s
            if now >= self._asked_at + patience:
                self._lost("no answer in time", now)
                return self._retry_at
            return self._asked_at + patience
        elif self._questions:
            self._send(now)
        return None if self.up or self._connecting else self._retry_at

    def close(self) -> None:
        self._drop()

    def _connect(self, now: float) -> None:
        try:
            self._connection = pq.PGconn.connect_start(self._conninfo)
        except Exception as error:
            self._lost(str(error), now)
            return
        self._connecting = True
        self._asked_at = now
        self._poll_connect(now)

    def _poll_connect(self, now: float) -> None:
        connection = self._connection
        if connection is None:
            return
        # The socket may be another one after each step (several hosts, TLS tried and not): watched afresh each time.
        self._watch(0)
        status = pq.PollingStatus(connection.connect_poll())
        if status in _READING:
            self._watch(_READING[status])
        elif status == pq.PollingStatus.OK:
            self._connected(now)
        else:
            self._lost(_text(connection.error_message), now)

    def _connected(self, now: float) -> None:
        assert self._connection is not None  # noqa: S101
        self._connecting, self._asked_at = False, None
        self._connection.nonblocking = 1
        self._watch(selectors.EVENT_READ)
        if self._down:
            self._log("database back")
        self._down = False
        if self._on_connect:
            self._greeting = True
            self._asked_at = now
            try:
                self._connection.send_query(self._on_connect)
            except Exception as error:
                self._lost(str(error), now)
                return
            self._flush(now)
        elif self._questions:
            self._send(now)

    def _send(self, now: float) -> None:
        assert self._connection is not None  # noqa: S101
        question = self._questions[0]
        self._asked_at = now
        try:
            self._connection.send_query_params(question.sql, list(question.values))
        except Exception as error:
            self._lost(str(error), now)
            return
        self._flush(now)

    def _flush(self, now: float) -> None:
        if self._connection is None:
            return
        try:
            left = self._connection.flush()
        except Exception as error:
            self._lost(str(error), now)
            return
        self._watch(selectors.EVENT_READ | (selectors.EVENT_WRITE if left else 0))

    def _turn(self, mask: int) -> None:
        """Called from the hub's poll: the socket is ready."""
        now = time.monotonic()
        if self._connecting:
            self._poll_connect(now)
            return
        if mask & selectors.EVENT_WRITE:
            self._flush(now)
        if mask & selectors.EVENT_READ and self._connection is not None:
            self._read(now)

    def _read(self, now: float) -> None:
        connection = self._connection
        assert connection is not None  # noqa: S101
        try:
            connection.consume_input()
        except Exception as error:
            self._lost(str(error), now)
            return
        while self._asked_at is not None and not connection.is_busy():
            result = connection.get_result()
            if result is None:
                self._answered(now)
                break
            self._results.append(result)
        while self._connection is connection and (note := connection.notifies()) is not None:
            if self._notified is not None:
                self._notified(_text(note.extra))

    def _answered(self, now: float) -> None:
        results, self._results = self._results, []
        self._asked_at = None
        failed = next((each for each in results if each.status == pq.ExecStatus.FATAL_ERROR), None)
        if failed is not None:
            self._on_error(failed, now)
            return
        if self._greeting:
            self._greeting = False
        else:
            # Not by a greeting: what fails whenever it is asked would be asked as fast as it can fail.
            self._failures = 0
            question = self._questions.popleft()
            question.then(_rows(results[-1]) if results else [])
        if self._questions and self._connection is not None and self._asked_at is None:
            self._send(now)

    def _on_error(self, result: abc.PGresult, now: float) -> None:
        state = _text(result.error_field(pq.DiagnosticField.SQLSTATE) or b"")
        message = _text(result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or result.error_message)
        if self._greeting or not self._questions or not state.startswith(_LASTING):
            self._lost(f"{state} {message}", now)
            return
        question = self._questions.popleft()
        refusal = RefusalError(state, message)
        if question.otherwise is not None:
            question.otherwise(refusal)
        else:
            self._log("question failed", question=question.name, state=state, why=message)
        if self._questions and self._asked_at is None and self._connection is not None:
            self._send(now)

    def _lost(self, why: str, now: float) -> None:
        self._drop()
        self._failures += 1
        pause = min(LONGEST_PAUSE_S, 0.02 * 2 ** min(self._failures, 10))
        self._retry_at = now + pause * random.uniform(0.5, 1.0)  # noqa: S311 (so that not all come at once)
        if not self._down:
            self._log("database lost", why=" ".join(why.split()))
        self._down = True

    def _drop(self) -> None:
        self._watch(0)
        connection, self._connection = self._connection, None
        self._connecting = self._greeting = False
        self._asked_at = None
        self._results = []
        if connection is not None:
            connection.finish()

    def _watch(self, events: int) -> None:
        """Be told when the socket is ready for `events`; a socket that libpq may have closed is no longer watched."""
        if not events:
            if self._watching >= 0:
                self._hub.watch(self._watching, 0, self._turn)
            self._watching = -1
        elif self._connection is not None and (found := _socket(self._connection)) >= 0:
            self._hub.watch(found, events, self._turn)
            self._watching = found


def _socket(connection: abc.PGconn) -> int:
    try:
        return connection.socket
    except Exception:
        return -1


def _rows(result: abc.PGresult) -> list[Row]:
    width = range(result.nfields)
    return [tuple(result.get_value(row, column) for column in width) for row in range(result.ntuples)]


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
