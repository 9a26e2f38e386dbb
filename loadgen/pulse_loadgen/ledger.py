"""What the database says became of the jobs of a run: only what is committed counts."""

import time
from typing import NamedTuple

from pulse_loadgen.stamps import Stamps
from pulse_runtime.store.connect import Connection

_DONE = """select coalesce(sum(bit_count(d.mask)), 0)::bigint from pulse.done d
  where d.claim in (select id from pulse.claim where queue = %s)"""
_BEGAN = "select extract(epoch from min(at))::float8 from pulse.claim where queue = %s"
_BATCHES = """select extract(epoch from d.at)::float8, bit_count(d.mask)::integer from pulse.done d
  where d.claim in (select id from pulse.claim where queue = %s) order by d.at"""
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


class Times(NamedTuple):
    """Jobs per second from the first claim to the last outcome, the same by tenths of the jobs, and each job's number
    and moment. An outcome is durable a commit after its moment: `report_ms` says how long that takes."""

    began_s: float
    """The first claim. Like all moments here, by our own monotonic clock."""
    rate: float
    by_tenth: list[float]
    at_s: list[tuple[int, float]]


class Balance(NamedTuple):
    """`lost`: added and not settled, or settled and never run. `duplicated`: settled twice, or started again."""

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
    lost = sum(1 for n, times in rows if not times or not runs[n]) + max(0, expected - len(rows))
    twice = sum(1 for n, times in rows if times > 1 or runs[n] > 1)
    return Balance(len(rows), lost, twice)


def settled(connection: Connection, queue: str, offset_s: float) -> Times:
    """When the outcomes were written, from the server's clock; `offset_s` makes it ours."""
    began = float(connection.execute(_BEGAN, (queue,)).fetchall()[0][0] or 0.0)
    batches = [(float(at), int(jobs)) for at, jobs in connection.execute(_BATCHES, (queue,)).fetchall()]
    total = sum(jobs for _, jobs in batches)
    took_s = batches[-1][0] - began if batches else 0.0
    at_s = [(int(n), float(at) - offset_s) for n, at in connection.execute(_ENDS, {"queue": queue}).fetchall()]
    return Times(began - offset_s, round(total / took_s, 1) if took_s > 0 else 0.0, by_tenth(began, batches), at_s)


def by_tenth(began: float, batches: list[tuple[float, int]]) -> list[float]:
    """The rate of the first tenth of the jobs, of the second, and so on."""
    rates: list[float] = []
    total, done, since = sum(jobs for _, jobs in batches), 0, (0, began)
    for at, jobs in batches:
        done += jobs
        if done * 10 >= total * (len(rates) + 1) and at > since[1]:
            rates += [round((done - since[0]) / (at - since[1]), 1)] * (done * 10 // total - len(rates))
            since = (done, at)
    return rates


def clock_offset_s(connection: Connection) -> float:
    """What to subtract from the server's clock to get our monotonic one; the best of a few tries."""
    best = (float("inf"), 0.0)
    for _ in range(9):
        before = time.monotonic()
        row = connection.execute("select extract(epoch from clock_timestamp())::float8").fetchall()[0]
        after = time.monotonic()
        best = min(best, (after - before, float(row[0]) - (before + after) / 2))
    return best[1]
