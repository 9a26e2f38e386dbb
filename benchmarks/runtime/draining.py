"""A backlog, and runtimes that work it off."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from benchmarks.store.cluster import Connection, connected
from pulse_loadgen import ledger
from pulse_loadgen.load import Kind, fill
from pulse_loadgen.stamps import Stamps, stamps
from pulse_loadgen.tree import Shape, Tree, until
from pulse_runtime.store.connect import connect

QUEUE = "default"
# The moment by which so many were settled since, counted from the first claim since: the server's clock, which every
# process of the run shares.
REACHED = """select extract(epoch from s.at - (select min(at) from pulse.claim where at > %(since)s))::float8 from (
  select at, sum(bit_count(mask)) over (order by at, claim) as settled from pulse.done where at > %(since)s) s
 where s.settled >= %(jobs)s order by s.settled limit 1"""
PAUSE = "select pulse.pause(null, 'benchmark', 'until every runtime is up')"
SETTLED = "select coalesce(sum(bit_count(mask)), 0) from pulse.done where at > %s"

Seen = Callable[[int, Sequence[Tree]], None]
"""Told again and again how many jobs are done."""


class Drained(NamedTuple):
    """How fast, and whether every job was settled once."""

    rate: float
    balance: ledger.Balance


def load(dsn: str, jobs: int, kind: Kind | None = None, *, first: int = 0) -> None:
    """A backlog, with the statistics that it has in a database that lived with it."""
    with connect(dsn, actor="loadgen") as connection:
        fill(connection, kind or Kind(queue=QUEUE), jobs, first=first)
        connection.execute("vacuum analyze pulse.log")


def drain(
    dsn: str, jobs: int, shapes: Sequence[Shape], *, numbers: int | None = None, seen: Seen = lambda *_: None
) -> Drained:
    """Jobs per second until `jobs` of the backlog are settled durably; all of it, unless `numbers` are in use.

    The jobs of a whole backlog are told apart by their numbers, each must have been settled once.
    """
    with stamps(numbers or jobs) as noted, connected(dsn) as connection:
        since = connection.execute("select clock_timestamp()").fetchall()[0][0]
        connection.execute(PAUSE)
        with trees(dsn, shapes, noted) as running:
            connection.execute("select pulse.resume(null)")
            until(
                lambda: _settled(connection, since, running, seen) >= jobs, within_s=180, what="outcomes", every_s=0.1
            )
            for tree in running:
                tree.stop()
        took_s = connection.execute(REACHED, {"jobs": jobs, "since": since}).fetchall()[0][0]
        balance = ledger.Balance(jobs, 0, 0) if numbers else _balance(dsn, noted, jobs)
    if balance.lost or balance.duplicated:
        raise RuntimeError(f"{balance.lost} jobs lost, {balance.duplicated} duplicated")
    return Drained(jobs / took_s, balance)


@contextlib.contextmanager
def trees(dsn: str, shapes: Sequence[Shape], noted: Stamps) -> Iterator[list[Tree]]:
    """Runtimes on one database, each up."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Tree(dsn, shape, noted.path)) for shape in shapes]


def _settled(connection: Connection, since: object, running: Sequence[Tree], seen: Seen) -> int:
    settled = int(connection.execute(SETTLED, (since,)).fetchall()[0][0])
    seen(settled, running)
    return settled


def _balance(dsn: str, noted: Stamps, jobs: int) -> ledger.Balance:
    with connect(dsn, actor="loadgen") as connection:
        return ledger.reconcile(connection, QUEUE, noted, expected=jobs)
