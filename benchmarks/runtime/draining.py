"""A backlog, and a runtime that works it off."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.store.cluster import Connection, connected
from pulse_loadgen import ledger
from pulse_loadgen.load import Kind, fill
from pulse_loadgen.stamps import Stamps, stamps
from pulse_loadgen.tree import Shape, Tree, until
from pulse_runtime.store.connect import connect

QUEUE = "default"
# From the first claim to the last outcome: the server's clock, which every process of the run shares.
SPAN = """select extract(epoch from (select max(at) from pulse.done) - (select min(at) from pulse.claim))::float8"""
# The moment by which so many were settled.
REACHED = """select extract(epoch from s.at - (select min(at) from pulse.claim))::float8 from (
  select at, sum(bit_count(mask)) over (order by at, claim) as settled from pulse.done) s
 where s.settled >= %s order by s.settled limit 1"""


class Drained(NamedTuple):
    """How fast, and whether every job was settled once."""

    rate: float
    balance: ledger.Balance


def load(dsn: str, jobs: int, kind: Kind | None = None) -> None:
    """A backlog, with the statistics that it has in a database that lived with it."""
    with connect(dsn, actor="loadgen") as connection:
        fill(connection, kind or Kind(queue=QUEUE), jobs)
        connection.execute("vacuum analyze pulse.log")


def drain(dsn: str, jobs: int, shapes: Sequence[Shape], *, of: int | None = None) -> Drained:
    """Jobs per second until `jobs` of the backlog are settled durably; it has `of` jobs, or that many."""
    with stamps(of or jobs) as noted, connected(dsn) as connection, trees(dsn, shapes, noted):
        until(lambda: _settled(connection) >= jobs, within_s=180, what=f"{jobs} outcomes", every_s=0.1)
        took_s = connection.execute(REACHED, (jobs,)).fetchall()[0][0]
        balance = _balance(dsn, noted, jobs) if of is None else ledger.Balance(jobs, 0, 0)
        if balance.lost or balance.duplicated:
            raise RuntimeError(f"{balance.lost} jobs lost, {balance.duplicated} duplicated")
        return Drained(jobs / took_s, balance)


@contextlib.contextmanager
def trees(dsn: str, shapes: Sequence[Shape], noted: Stamps) -> Iterator[list[Tree]]:
    """Runtimes on one database, each up."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Tree(dsn, shape, noted.path)) for shape in shapes]


def _settled(connection: Connection) -> int:
    return int(connection.execute("select coalesce(sum(bit_count(mask)), 0) from pulse.done").fetchall()[0][0])


def _balance(dsn: str, noted: Stamps, jobs: int) -> ledger.Balance:
    with connect(dsn, actor="loadgen") as connection:
        return ledger.reconcile(connection, QUEUE, noted, expected=jobs)
