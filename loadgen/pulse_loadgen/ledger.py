"""What the database says became of the jobs of a run: only what is committed counts."""

from typing import NamedTuple

from pulse_loadgen.stamps import Stamps
from pulse_runtime.store.connect import Connection

_DONE = """select coalesce(sum(bit_count(d.mask)), 0)::bigint, max(d.at) from pulse.done d
  where d.claim in (select id from pulse.claim where queue = %s)"""
_DONE_AFTER = """select coalesce(sum(bit_count(d.mask)), 0)::bigint, coalesce(max(d.at), %(after)s) from pulse.done d
  where d.at > %(after)s"""
# By id, from the log to the outcomes: a job that has none is lost, one that has two was settled twice.
_RECONCILE = """
with done as (
  select c.ids[p + 1] as id, count(*) as times
    from pulse.claim c join pulse.done d on d.claim = c.id
         cross join lateral generate_series(0, length(d.mask) - 1) p
   where c.queue = %(queue)s and get_bit(d.mask, p) = 1 group by 1)
select l.n, coalesce(d.times, 0)
  from (select distinct on (id) id, (args ->> 'n')::bigint as n from pulse.log where queue = %(queue)s) l
       left join done d using (id)"""
_ENDS = """select (l.args ->> 'n')::bigint, extract(epoch from d.at)::float8
  from pulse.claim c join pulse.done d on d.claim = c.id cross join lateral generate_series(0, length(d.mask) - 1) p
       join pulse.log l on l.id = c.ids[p + 1] and l.seq = c.seqs[p + 1]
 where c.queue = %(queue)s and get_bit(d.mask, p) = 1"""


class Balance(NamedTuple):
    """`lost`: added, and not settled. `duplicated`: settled twice, or started more than once."""

    added: int
    lost: int
    duplicated: int


def done(connection: Connection, queue: str) -> int:
    """How many jobs of the queue have a durable success."""
    return int(connection.execute(_DONE, (queue,)).fetchall()[0][0])


def reconcile(connection: Connection, queue: str, stamps: Stamps, *, expected: int) -> Balance:
    """Each job by its id: how often it was settled, and how often it started."""
    rows = connection.execute(_RECONCILE, {"queue": queue}).fetchall()
    runs = stamps.column("runs")
    lost = sum(1 for _, times in rows if not times) + max(0, expected - len(rows))
    twice = sum(1 for n, times in rows if times > 1 or runs[n] > 1)
    return Balance(len(rows), lost, twice)


def ends(connection: Connection, queue: str) -> dict[int, float]:
    """When the outcome of each job was written, in seconds of the server's clock."""
    return {int(n): float(at) for n, at in connection.execute(_ENDS, {"queue": queue}).fetchall()}


def clock_offset_s(connection: Connection) -> float:
    """What to subtract from the server's clock to get our monotonic one; the best of a few tries."""
    import time

    best = (float("inf"), 0.0)
    for _ in range(9):
        before = time.monotonic()
        row = connection.execute("select extract(epoch from clock_timestamp())::float8").fetchall()[0]
        after = time.monotonic()
        best = min(best, (after - before, float(row[0]) - (before + after) / 2))
    return best[1]
