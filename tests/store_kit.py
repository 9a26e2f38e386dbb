"""The store's SQL through one connection, as one executor: what tests of its statements use."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from fix_cluster import Connection

# The lane of whoever says neither queue nor priority, for tests that write the log themselves.
LANE = "pulse.lane_id('default', 0::smallint, 0::smallint)"


@dataclass
class Batch:
    """One claimed lane."""

    claim: int
    token: UUID
    jobs: list[Any]


class Store:
    """The store through one connection, as one executor."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.executor = self.ask("select pulse.register_executor('test', 'here', 'boot', 1)")
        self.request = 0

    def ask(self, question: str, *values: Any) -> Any:
        row = self.connection.execute(question.encode(), values).fetchone()
        return row and row[0]

    def enqueue(self, **options: Any) -> UUID:
        names = ", ".join(f"{name} => %s" for name in options)
        found: UUID = self.ask(f"select pulse.enqueue(kind => 'k'{', ' if names else ''}{names})", *options.values())
        return found

    def claim(
        self, slots: int = 100, queues: tuple[str, ...] = ("default",), *, bytes_: int = 4_194_304
    ) -> list[Batch]:
        self.connection.execute("select pulse.discover()")
        self.request += 1
        values = (self.executor, self.request, list(queues), [1] * len(queues), slots, bytes_)
        rows = self.connection.execute("select claim, token, jobs from pulse.claim(%s, %s, %s, %s, %s, %s)", values)
        return [Batch(claim, token, json.loads(jobs) if jobs else []) for claim, token, jobs in rows.fetchall()]

    def settle(self, batch: Batch, mask: str | None = None) -> int:
        bits = mask or "1" * len(batch.jobs)
        row = self.connection.execute(
            "select settled from pulse.settle(%s, %s, %s::bit varying[], %s)",
            ([batch.claim], [batch.token], [bits], [7] * bits.count("1")),
        ).fetchone()
        assert row
        return int(row[0])

    def close(self, batch: Batch, ending: str, *, delay_ms: int | None = 0, position: int = 0) -> int:
        values = ([batch.claim], [batch.token], [position], [ending], [delay_ms], ["it broke"], [3])
        call = "select pulse.close(%s, %s, %s::int[], %s, %s::bigint[], %s, %s::bigint[])"
        return int(self.ask(call, *values))

    def status(self, job: UUID) -> Any:
        by_id = self.ask("select status from pulse.get(%s)", job)
        assert by_id == self.ask("select status from pulse.jobs where id = %s", job), "pulse.get and pulse.jobs differ"
        return by_id
