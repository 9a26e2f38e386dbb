"""What must hold at any moment, asked of the database in one statement, and so in one snapshot."""

import random

from stress.line import Line
from stress.record import LEFT, STATUS, Seen

AUDIT = """
with newest as materialized (
  select distinct on (c.queue, c.priority, c.lane) c.* from pulse.claim c order by c.queue, c.priority, c.lane, c.n desc),
taken as materialized (
  select c.id as claim, u.id, u.seq, u.ord::integer - 1 as pos, c.retrying
    from pulse.claim c, unnest(c.ids, c.seqs) with ordinality u(id, seq, ord)),
rows as materialized (
  select j.id, j.seq, j.key, (j.xid, j.seq) > (k.x, k.s) and j.seq <= k.floor_s as sunk, k.id is null or (j.xid, j.seq) > (k.x, k.s)
         or exists (select from unnest(k.late_x, k.late_s) o(x, s) where o.x = j.xid and j.seq > o.s) as pending
    from pulse.log j left join newest k on k.queue = j.queue and k.priority = j.priority and k.lane = j.lane),
held as materialized (
  select t.id, t.seq from taken t join pulse.lease l on l.claim = t.claim where get_bit(l.open, t.pos) = 1),
together as materialized (
  select u.id, u.seq from pulse.retrying t, unnest(t.ids[t.taken + 1 :], t.seqs[t.taken + 1 :]) u(id, seq)),
states as materialized (
  select r.id, 'pending' as state, r.key from rows r where r.pending
  union all select h.id, 'held', r.key from held h left join rows r on r.seq = h.seq
  union all select d.id, 'delayed', d.key from pulse.delayed d
  union all select t.id, 'waiting with others', null from together t
  union all select o.id, 'ended', null from pulse.outcome o)
select 'claimed twice: delivery ' || seq from taken group by seq, retrying having count(*) > 1
union all
select 'lost: neither pending nor claimed: ' || r.id from rows r
 where not r.pending and not exists (select from taken t where t.seq = r.seq)
union all
select 'lost: below the floor of its lane: ' || r.id from rows r where r.sunk
union all
select 'claimed twice: claimed and still pending: ' || r.id from rows r where r.pending and exists (select from taken t where t.seq = r.seq)
union all
select 'two states: ' || id || ' ' || string_agg(state, ', ') from states group by id having count(*) > 1
union all
select 'held and gone: not in the log: ' || h.id from held h where not exists (select from rows r where r.seq = h.seq)
union all
select 'held and gone: waits with others and not in the log: ' || t.id from together t where not exists (select from rows r where r.seq = t.seq)
union all
select 'held beyond the end: claim ' || l.claim
  from pulse.lease l join pulse.executor e on e.id = l.executor where e.ended_at is not null
union all
select 'key: ' || count(distinct id) || ' unfinished jobs with ' || key from states where key is not null group by key having count(distinct id) > 1
limit 20
"""  # noqa: E501 (reads better)

OTHERWISE_BY_ID = """
select j.id::text from (select * from pulse.jobs order by id desc limit 3000) j
 where j.status is distinct from (select g.status from pulse.get(j.id) g) limit 20
"""


class Auditor:
    """Looks now and then while the others are at it."""

    def __init__(self, line: Line, dice: random.Random, seen: Seen, _: int) -> None:
        self._line, self._dice, self._seen = line, dice, seen

    def step(self) -> None:
        self._seen.stop.wait(0.3)
        for (problem,) in self._line.read(AUDIT):
            self._seen.note(problem)


def wrong_at_rest(line: Line, seen: Seen) -> list[str]:
    """What is wrong in the database when all is done."""
    found = [row[0] for row in line.read(AUDIT)]
    rows = line.read("select id::text, status from pulse.jobs")
    wanted = seen.statuses()
    found += [
        f"{STATUS}: {job} is {status}, not {wanted.get(job)}" for job, status in rows if wanted.get(job) != status
    ]
    if len(rows) != len(wanted):
        found.append(f"{STATUS}: pulse.jobs has {len(rows)} rows for {len(wanted)} jobs")
    found += [f"{STATUS}: pulse.get and pulse.jobs differ: {job}" for (job,) in line.read(OTHERWISE_BY_ID)]
    seen.count("dead letters in the end", sum(status == "DEAD_LETTERED" for _, status in rows))
    for table in ("lease", "delayed", "retrying", "key"):
        if left := line.ask(f"select count(*) from pulse.{table}"):
            found.append(f"{LEFT}: pulse.{table} has {left} rows")
    return found
