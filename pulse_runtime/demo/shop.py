"""Orders, and the jobs that commit with them."""

from dataclasses import dataclass
from typing import Any

from pulse_runtime.client import enqueue
from pulse_runtime.demo.jobs import charge, picture, receipt
from pulse_runtime.store.connect import Connection
from pulse_runtime.store.deadlines import within

PATIENCE_S = 5.0
_MAKE = """
create schema if not exists pulse_demo;
create table if not exists pulse_demo.customer_order (
  id bigint generated always as identity primary key, at timestamptz not null default now());
"""
_STATE = """
select (select coalesce(sum(bit_count(d.mask)), 0) from pulse.done d where d.at >= %(began)s),
       coalesce(sum(c.running), 0), coalesce(sum(c.waiting), 0), coalesce(sum(c.retrying), 0),
       (select count(*) from pulse.occurrence o
         where o.due_at between %(began)s and pulse.now() and o.verdict in ('fired', 'late')),
       (select count(*) from pulse.failure f where f.at >= %(began)s)
  from pulse.counts() c
"""


@dataclass(frozen=True)
class State:
    """Numbers of this demo, but for those that wait."""

    done: int
    running: int
    waiting: int
    retrying: int
    fires: int
    failures: int


class Shop:
    """Sells, and knows what became of it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        connection.execute(_MAKE)
        self.found = int(self._ask("select count(*) from pulse_demo.customer_order")[0])
        self._began = self._ask("select pulse.now()")[0]
        self._orders = 0

    def order(self) -> None:
        """One transaction: the order is there with all its jobs, or not at all."""
        # Signals only set a flag, so a server that stopped would hold the demo for ever.
        with within(self._connection, PATIENCE_S, asked="commit an order"), self._connection.transaction():
            number = self._ask("insert into pulse_demo.customer_order default values returning id")[0]
            enqueue(receipt.call(order=number), on=self._connection)
            enqueue(picture.call(order=number), on=self._connection)
            enqueue(charge.call(order=number), on=self._connection, priority=5)
        self._orders += 1

    def state(self) -> State:
        """One question to the database."""
        with within(self._connection, PATIENCE_S, asked="count jobs"):
            return State(*map(int, self._ask(_STATE, began=self._began)))

    def summary(self) -> str:
        """What became of it, in a sentence."""
        state = self.state()
        return (
            f"{self._orders} orders committed with {3 * self._orders} jobs; {state.done} jobs done, "
            f"{state.failures} attempts failed, {state.fires} fires of schedules, "
            f"{state.waiting + state.retrying} jobs wait for the next demo; "
            f"{self.found} orders were there before, {self.found + self._orders} are now."
        )

    def _ask(self, question: str, **values: Any) -> tuple[Any, ...]:
        row = self._connection.execute(question.encode(), values or None).fetchone()
        assert row is not None  # noqa: S101
        return tuple(row)
