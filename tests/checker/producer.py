"""A producer that records what it was told about its jobs."""

import json
from typing import Any

import psycopg
from checker.record import Recorder

from pulse_runtime.ids import uuid7


class Producer:
    """Sends jobs through a DSN, one transaction each time; ids are made here, so that they are known in any case."""

    def __init__(self, dsn: str, recorder: Recorder) -> None:
        self._dsn = dsn
        self._recorder = recorder

    def send(self, kind: str, args: dict[str, Any] | None = None, *, count: int = 1, **options: object) -> list[str]:
        """The ids that were acknowledged; none if the connection broke before the commit was."""
        ids, event = [str(uuid7()) for _ in range(count)], "unsure"
        try:
            self._commit(ids, {"kind": kind, "args": json.dumps(args or {}), **options})
            event = "enqueued"
        except psycopg.OperationalError as error:
            if error.sqlstate and not error.sqlstate.startswith(("08", "57P")):
                raise
        for job in ids:
            self._recorder.write(event, id=job)
        return ids if event == "enqueued" else []

    def retry(self, job: str) -> None:
        """Give a dead letter another life."""
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            connection.execute("select pulse.retry(%s)", (job,))
        self._recorder.write("retried", id=job)

    def _commit(self, ids: list[str], options: dict[str, object]) -> None:
        names = ", ".join(f"{name} => %({name})s" for name in options)
        call = f"select pulse.enqueue(id => %(id)s, {names})".encode()
        with psycopg.connect(self._dsn) as connection:
            connection.cursor().executemany(call, [{"id": job, **options} for job in ids])
