"""A connection that outlives the server, and learns what became of a statement whose reply was lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import psycopg
from embedded_kit import eventually

WITNESS = "create table if not exists public.witness (number uuid primary key, answer text)"
PATIENCE_S = 30.0
ASK_AGAIN = "PU503"

Connection = psycopg.Connection[Any]
Row = tuple[Any, ...]


class Line:
    """One user's way to the store."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._others: list[Line] = []
        self.losses = 0  # of connections
        self.connection: Connection = psycopg.connect(dsn, autocommit=True)

    def close(self) -> None:
        for other in self._others:
            other.close()
        self.connection.close()

    def another(self) -> "Line":
        """One more, closed with this one."""
        self._others.append(Line(self._dsn))
        return self._others[-1]

    def read(self, question: str, *values: object) -> list[Row]:
        """Ask until there is an answer: for what may be sent twice."""
        while True:
            with self.surviving():
                return self.connection.execute(question.encode(), values).fetchall()

    def ask(self, question: str, *values: object) -> Any:
        """The first value of the answer to `read`."""
        return self.read(question, *values)[0][0]

    def tell(self, call: str, *values: object) -> str | None:
        """Make this call take effect once. Its answer is kept in the same transaction: no commit stays in doubt."""
        number = uuid4()
        send = f"insert into public.witness select %s, ({call})::text returning answer"
        rows: list[Row] = []
        while not rows:
            with self.surviving(), self._asking_again():
                rows = self.connection.execute(send.encode(), (number, *values)).fetchall()
            rows = rows or self.read("select answer from public.witness where number = %s", number)
        answer: str | None = rows[0][0]
        return answer

    def witness(self, number: UUID) -> None:
        """Leave a mark in the transaction that is open, to be found by `was_committed`."""
        self.connection.execute("insert into public.witness values (%s)", (number,))

    def was_committed(self, number: UUID) -> bool:
        """Whether the transaction that left this mark took effect, known for sure once its server has gone."""
        return bool(self.read("select from public.witness where number = %s", number))

    @contextmanager
    def _asking_again(self) -> Iterator[None]:
        """Go on behind this block if the store asked for patience, as a reporter does: nothing has taken effect."""
        try:
            yield
        except psycopg.DatabaseError as error:
            if error.sqlstate != ASK_AGAIN:
                raise

    @contextmanager
    def surviving(self) -> Iterator[None]:
        """Go on behind this block, connected again, if the server went away within."""
        try:
            yield
        except psycopg.OperationalError as error:
            if not self._is_lost(error):
                raise
            self.losses += 1
            self.connection.close()
            if not eventually(self._is_back, within_s=PATIENCE_S):
                raise

    def _is_lost(self, error: psycopg.OperationalError) -> bool:
        # A server that stops says 57P01 to 57P03 before the connection is seen to be closed.
        return self.connection.closed or (error.sqlstate or "57P").startswith("57P")

    def _is_back(self) -> bool:
        try:
            self.connection = psycopg.connect(self._dsn, autocommit=True)
        except psycopg.OperationalError:
            return False
        return True
