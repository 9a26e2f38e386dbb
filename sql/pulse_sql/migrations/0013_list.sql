-- Lists, counts and history of jobs, for people and pages. Everything here reads one snapshot and writes nothing.

-- First deliveries that wait for their moment, by queue. Not retries: an entry each cost 1.3 of the 12 µs of a failure, and few of
-- them wait for long.
create index delayed_queue on pulse.delayed (queue, run_at, id) where charged = 0;
create index outcome_queue on pulse.outcome (queue, status, at, id);

-- deliveries: all rows of a job in the log, in no order.
--
-- index     place for the further ones; log_id in the partitions that the UUIDv7 tells for the first, and in all partitions
--           if there is none (it was delayed first, or is gone)
create function pulse.deliveries(id uuid) returns setof pulse.log
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off as $$
declare
  made constant timestamptz := pulse.uuid7_at(id);
  told boolean := false;                          -- by its id, where one is
  p    record;
begin
  return query select j.* from pulse.place s join pulse.log j on j.id = s.id and j.seq = s.seq where s.id = deliveries.id;
  for p in
    select q.lower_seq, q.upper_seq from pulse.partition q
     where made between q.opened_at - interval '10 min' and coalesce(q.closed_at, 'infinity') + interval '10 min' order by q.lower_seq desc
  loop
    return query
      select j.* from pulse.log j
       where j.id = deliveries.id and j.seq >= p.lower_seq and j.seq < p.upper_seq
         and not exists (select from pulse.place s where s.id = j.id and s.seq = j.seq);
    told := told or found;
  end loop;
  if told then return; end if;
  return query
    select j.* from pulse.log j
     where j.id = deliveries.id and not exists (select from pulse.place s where s.id = j.id and s.seq = j.seq);
end $$;

-- history: what became of each delivery of a job that was claimed, oldest first.
--
-- sent by   clients and pages, for one job
-- returns   per delivery: its attempt, claim and executor, when it was claimed and ended, how long it ran and how it ended:
--           completed, running, an ending of pulse.close, or release: given back unstarted (put_off too; when is not known).
--           What retention has dropped is null: first the claim's moment, then the successes; failures go last.
-- index     deliveries, claim_of, claim_retrying, done_claim, failure_id
create function pulse.history(id uuid)
  returns table (attempt smallint, claim bigint, claimed_at timestamptz, executor bigint, runtime text, host text,
                 ended_at timestamptz, took_us bigint, ending text, error text)
  language sql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off as $$
  with failed as materialized (select f.* from pulse.failure f where f.id = history.id),
  taken as materialized (
    select j.attempt, c.claim, c.pos, c.executor, c.at from pulse.deliveries(history.id) j, lateral pulse.claim_of(j) c where c.claim is not null
    union all                                     -- and those that were claimed without being in the log once more
    select c.attempt, c.id, array_position(c.ids, history.id) - 1, c.executor, c.at
      from failed f join pulse.claim c on c.retrying = f.retrying and history.id = any (c.ids)),
  ends as (
    select f.attempt, f.claim, c.at as claimed_at, f.executor, f.at as ended_at, f.took_us, f.ending, f.error
      from failed f left join pulse.claim c on c.id = f.claim
    union all
    -- Times stand beside the bitmap in the order of its bits.
    select t.attempt, t.claim, t.at, t.executor, d.at, d.took_us[bit_count(substring(d.mask from 1 for t.pos + 1))],
           case when d.at is not null then 'completed' when l.claim is not null then 'running' else 'release' end, null
      from taken t
      left join pulse.done d on d.claim = t.claim and get_bit(d.mask, t.pos) = 1
      left join pulse.lease l on l.claim = t.claim and get_bit(l.open, t.pos) = 1
     where not exists (select from failed f where f.claim = t.claim))
  select e.attempt, e.claim, e.claimed_at, e.executor, x.runtime, x.host, e.ended_at, e.took_us, e.ending, e.error
    from ends e left join pulse.executor x on x.id = e.executor
   order by e.attempt, e.claimed_at nulls first, e.claim
$$;

-- A job in a list: as in pulse.jobs, without what can be large (ask pulse.get for it), and the cursor that goes on after it.
create type pulse.listed as (
  id uuid, status text, queue text, kind text, tenant text, project text, priority smallint, attempt smallint, charged smallint,
  max_attempts smallint, submitted_at timestamptz, run_at timestamptz, started_at timestamptz, finished_at timestamptz,
  last_error text, executor bigint, schedule_id uuid, occurrence timestamptz, key text, after text);

-- last_error: that of a job's newest failure.
create function pulse.last_error(id uuid) returns text language sql stable
  return (select f.error from pulse.failure f where f.id = last_error.id order by f.attempt desc limit 1);

-- listed_of: a delivery in the log as a list shows it. Inlined, so that arguments are never read.
--
-- takes     attempt, charged: null is as the log says
create function pulse.listed_of(j pulse.log, status text, attempt smallint, charged smallint, run_at timestamptz, started_at timestamptz,
                                finished_at timestamptz, executor bigint, after text)
  returns pulse.listed language sql stable
  return row(j.id, status, j.queue, j.kind, j.tenant, j.project, j.priority, coalesce(listed_of.attempt, j.attempt),
             coalesce(listed_of.charged, j.charged), j.max_attempts, j.submitted_at, run_at, started_at, finished_at, pulse.last_error(j.id), executor, j.schedule_id, j.occurrence, j.key, after)::pulse.listed;

create type pulse.lane_cursor as (
  queue text, priority smallint, lane smallint, x xid8, s bigint, floor_s bigint, late_x xid8[], late_s bigint[]);

-- cursors: the lanes of the wanted queue or (null) of all, each with its cursor: those that discovery knows, and those that it has
-- not met yet, as a list must not depend on a runtime being there.
--
-- index     log_lane, one probe per lane, partitions before discovery's pruned; claim's unique key
create function pulse.cursors(wanted text) returns setof pulse.lane_cursor
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set jit = off
  set plan_cache_mode = force_custom_plan as $$
declare
  -- From the start of a partition: numbers below the floor are not waded through, as nothing is filtered inside one.
  lower constant bigint := coalesce((select max(p.lower_seq) from pulse.partition p, pulse.discovery d where p.lower_seq <= d.floor_s), 0);
begin
  return query
    with recursive new as (
      (select j.lane_id as id, j.queue, j.priority, j.lane from pulse.log j where j.seq >= lower order by 1 limit 1)
      union all
      select n.* from new l, lateral (
        select j.lane_id, j.queue, j.priority, j.lane from pulse.log j
         where j.lane_id > l.id and j.seq >= lower order by 1 limit 1) n),
    lanes as (
      select l.queue, l.priority, l.lane from pulse.lane l where wanted is null or l.queue = wanted
      union
      select n.queue, n.priority, n.lane from new n where wanted is null or n.queue = wanted)
    select l.queue, l.priority, l.lane, coalesce(k.x, '0'), coalesce(k.s, 0), coalesce(k.floor_s, 0), coalesce(k.late_x, '{}'), coalesce(k.late_s, '{}')
      from lanes l left join lateral (
        select c.x, c.s, c.floor_s, c.late_x, c.late_s from pulse.claim c
         where c.queue = l.queue and c.priority = l.priority and c.lane = l.lane order by c.n desc limit 1) k on true;
end $$;

-- ready: deliveries of a lane that nobody has claimed, before (below_x, below_s), newest first. Inlined.
--
-- takes     the lane and its cursor, as pulse.cursors gives them
-- index     log_lane backwards; partitions below the floor are pruned
create function pulse.ready(
  queue text, priority smallint, lane smallint, x xid8, s bigint, floor_s bigint, late_x xid8[], late_s bigint[],
  below_x xid8, below_s bigint, most integer) returns table (xid xid8, seq bigint)
  language sql stable begin atomic
  select u.xid, u.seq from (
    (select j.xid, j.seq from pulse.log j
      where j.lane_id = pulse.lane_id(ready.queue, ready.priority, ready.lane)
        and j.queue = ready.queue and j.priority = ready.priority and j.lane = ready.lane and j.seq > ready.floor_s
        and (j.xid, j.seq) > (ready.x, ready.s) and (j.xid, j.seq) < (below_x, below_s)
      order by j.xid desc, j.seq desc limit most)
    union all
    select l.xid, l.seq from unnest(late_x, late_s) o(x, s), lateral (
      select j.xid, j.seq from pulse.log j
       where j.lane_id = pulse.lane_id(ready.queue, ready.priority, ready.lane)
         and j.queue = ready.queue and j.priority = ready.priority and j.lane = ready.lane
         and j.xid = o.x and j.seq > o.s and (j.xid, j.seq) < (below_x, below_s)
       order by j.seq desc limit most) l
     where pg_visible_in_snapshot(o.x, pg_current_snapshot())) u
   order by u.xid desc, u.seq desc limit most;
end;

-- list: jobs by status, a page at a time.
--
-- sent by   clients and pages
-- takes     queue, kind, tenant: null is any; most: so many at most, up to 1,000; after: null, or `after` of a row of the
--           page before; reads: how many candidates may be looked at
-- returns   rows in the order of their status (below), each with its cursor. A row with a cursor and no id: so many candidates
--           were looked at and did not match; ask again with that cursor. The end is a page that is not full and has no
--           such row. A job that does not change meanwhile is on exactly one page
-- reads     per page, whatever the tables hold: `reads` rows, one probe per lane or queue, and for PENDING `most` rows of
--           each of the `most` lanes with the newest. Queue is served by an index, except for RETRYING; kind and tenant are
--           looked at row by row
--
--   status                    order                                               index
--   PENDING                   in the log, newest first; then delayed, soonest     log_lane, delayed_queue
--   RETRYING                  in the log, failed last first; then delayed, soonest  failure_at, delayed_due, retrying_due
--   RUNNING                   claimed last first                                  lease's key
--   COMPLETED                 settled last first; then those that a rebase kept   done_at, outcome_status, outcome_queue
--   DEAD_LETTERED, CANCELED   ended last first                                    outcome_status, outcome_queue
--   null: all                 by id, the highest first: made last, for UUIDv7     log_id, keys of delayed and outcome
create function pulse.list(
  status text default null, queue text default null, kind text default null, tenant text default null, most integer default 50,
  after text default null, reads integer default 5000) returns setof pulse.listed
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  within constant text := split_part(after, ' ', 1);
  r      pulse.listed;
begin
  most := least(greatest(most, 1), 1000);
  reads := greatest(reads, 1);
  if within <> all (case when status is null then array['all'] when status = 'RUNNING' then array['running'] when status = 'COMPLETED' then array['done', 'ended']
                         when status in ('PENDING', 'RETRYING') then array['log', 'delayed'] else array['ended'] end) then
    raise exception 'after is not the cursor of a list of % jobs: %', coalesce(status, 'all'), after using errcode = 'invalid_parameter_value';
  end if;
  case
    when status is null then return query select * from pulse.list_all(queue, kind, tenant, most, after, reads);
    when status = 'RUNNING' then return query select * from pulse.list_running(queue, kind, tenant, most, after, reads);
    when status in ('DEAD_LETTERED', 'CANCELED') then
      return query select * from pulse.list_ended(status, queue, kind, tenant, most, after, reads);
    when status in ('PENDING', 'RETRYING', 'COMPLETED') then
      if within is null or within in ('log', 'done') then
        for r in
          select * from pulse.list_pending(queue, kind, tenant, most, after, reads) where list.status = 'PENDING'
          union all
          select * from pulse.list_retrying(queue, kind, tenant, most, after, reads) where list.status = 'RETRYING'
          union all
          select * from pulse.list_completed(queue, kind, tenant, most, after, reads) where list.status = 'COMPLETED'
        loop
          return next r;
          if r.id is null then return; end if;
          most := most - 1;
        end loop;
        after := null;
      end if;
      if most > 0 and status = 'COMPLETED' then
        return query select * from pulse.list_ended(status, queue, kind, tenant, most, after, reads);
      elsif most > 0 and status = 'PENDING' then
        return query select * from pulse.list_delayed(queue, kind, tenant, most, after, reads);
      elsif most > 0 then
        return query select * from pulse.list_delayed_retries(queue, kind, tenant, most, after, reads);
      end if;
    else
      raise exception 'there is no status %', status using errcode = 'invalid_parameter_value',
        hint = 'PENDING, RUNNING, COMPLETED, RETRYING, DEAD_LETTERED, CANCELED, or null for all';
  end case;
end $$;

-- list_ended: dead letters, canceled jobs, or completed ones that a rebase kept.
create function pulse.list_ended(status text, queue text, kind text, tenant text, most integer, after text, reads integer)
  returns setof pulse.listed
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set jit = off
  set plan_cache_mode = force_custom_plan as $$
declare
  before_at constant timestamptz := coalesce(split_part(after, ' ', 2)::timestamptz, 'infinity');
  before_id constant uuid := coalesce(split_part(after, ' ', 3)::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  r         pulse.listed;
  stop      pulse.listed;
  seen      integer := 0;
begin
  for r in
    select o.id, o.status, o.queue, o.kind, o.tenant, o.project, o.priority, o.attempt, o.charged, o.max_attempts, o.submitted_at,
           null::timestamptz, null::timestamptz, o.at, o.reason, null::bigint, o.schedule_id, o.occurrence, o.key,
           'ended ' || (to_json(o.at) #>> '{}') || ' ' || o.id
      from pulse.outcome o
     where o.status = list_ended.status and (list_ended.queue is null or o.queue = list_ended.queue) and (o.at, o.id) < (before_at, before_id)
     order by o.at desc, o.id desc limit reads
  loop
    seen := seen + 1;
    stop.after := r.after;
    if r.kind = coalesce(list_ended.kind, r.kind) and (list_ended.tenant is null or r.tenant = list_ended.tenant) then
      return next r;
      most := most - 1;
      if most = 0 then return; end if;
    end if;
  end loop;
  if seen = reads then return next stop; end if;
end $$;

-- list_running: the open bits of the leases.
create function pulse.list_running(queue text, kind text, tenant text, most integer, after text, reads integer) returns setof pulse.listed
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off as $$
declare
  last_claim constant bigint := coalesce(split_part(after, ' ', 2)::bigint, 9223372036854775807);
  before_pos constant integer := coalesce(split_part(after, ' ', 3)::integer, 2147483647);
  c          record;
  r          pulse.listed;
  stop       pulse.listed;
  seen       integer := 0;
begin
  for c in
    select l.claim, l.open, k.at, k.executor, k.queue, k.attempt, k.charged, k.ids, k.seqs from pulse.lease l join pulse.claim k on k.id = l.claim
     where l.claim <= last_claim - (before_pos = 0)::integer order by l.claim desc
  loop
    seen := seen + 1;
    stop.after := 'running ' || c.claim || ' 0';
    if c.queue = coalesce(list_running.queue, c.queue) then
      seen := seen + bit_count(c.open)::integer;
      for r in
        select (pulse.listed_of(j, 'RUNNING', c.attempt, c.charged, null, c.at, null, c.executor, 'running ' || c.claim || ' ' || u.ord - 1)).*
          from unnest(c.ids, c.seqs) with ordinality u(id, seq, ord) join pulse.log j on j.id = u.id and j.seq = u.seq
         where get_bit(c.open, u.ord::integer - 1) = 1 and (c.claim < last_claim or u.ord - 1 < before_pos)
           and (list_running.kind is null or j.kind = list_running.kind) and (list_running.tenant is null or j.tenant = list_running.tenant)
         order by u.ord desc limit most
      loop
        return next r;
        most := most - 1;
      end loop;
    end if;
    if most = 0 then return; end if;
    if seen >= reads then return next stop; return; end if;
  end loop;
end $$;

-- list_completed: the bits of what was settled. Jobs whose log or claim retention has dropped are not listed.
create function pulse.list_completed(queue text, kind text, tenant text, most integer, after text, reads integer) returns setof pulse.listed
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off set enable_hashagg = off set jit = off as $$
declare
  last_at    constant timestamptz := coalesce(split_part(after, ' ', 2)::timestamptz, 'infinity');
  last_claim constant bigint := coalesce(split_part(after, ' ', 3)::bigint, 9223372036854775807);
  before_pos constant integer := coalesce(split_part(after, ' ', 4)::integer, 2147483647);
  c          record;
  r          pulse.listed;
  stop       pulse.listed;
  seen       integer := 0;
begin
  for c in
    -- One row per claim and moment, so that the cursor is unique even when a claim was settled twice in one instant.
    select d.at as done_at, d.claim, d.mask, 'done ' || (to_json(d.at) #>> '{}') || ' ' || d.claim || ' ' as place,
           (d.at, d.claim) < (last_at, last_claim) as whole, k.at, k.executor, k.queue, k.attempt, k.charged, k.ids, k.seqs
      from (select m.at, m.claim, bit_or(m.mask) as mask from pulse.done m
             where m.at <= last_at and (m.at, m.claim) <= (last_at, last_claim - (before_pos = 0)::integer)
             group by m.at, m.claim order by m.at desc, m.claim desc limit reads) d
      left join pulse.claim k on k.id = d.claim
     order by d.at desc, d.claim desc
  loop
    seen := seen + 1;
    stop.after := c.place || '0';
    if c.queue = coalesce(list_completed.queue, c.queue) then
      seen := seen + bit_count(c.mask)::integer;
      for r in
        select (pulse.listed_of(j, 'COMPLETED', c.attempt, c.charged, null, c.at, c.done_at, c.executor, c.place || u.ord - 1)).*
          from unnest(c.ids, c.seqs) with ordinality u(id, seq, ord) join pulse.log j on j.id = u.id and j.seq = u.seq
         where get_bit(c.mask, u.ord::integer - 1) = 1 and (c.whole or u.ord - 1 < before_pos)
           and (list_completed.kind is null or j.kind = list_completed.kind) and (list_completed.tenant is null or j.tenant = list_completed.tenant)
         order by u.ord desc limit most
      loop
        return next r;
        most := most - 1;
      end loop;
    end if;
    if most = 0 then return; end if;
    if seen >= reads then return next stop; return; end if;
  end loop;
end $$;

-- list_pending: first deliveries in the log that nobody has claimed, over all lanes. The newest rows are in the lanes whose
-- newest row is newest, so only so many lanes as rows are wanted are read beyond that one.
create function pulse.list_pending(queue text, kind text, tenant text, most integer, after text, reads integer) returns setof pulse.listed
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off as $$
declare
  below_x xid8   := coalesce(split_part(after, ' ', 2)::xid8, '18446744073709551615');
  below_s bigint := coalesce(split_part(after, ' ', 3)::bigint, 9223372036854775807);
  step    constant integer := case when num_nonnulls(kind, tenant) = 0 then least(most, reads) else least(greatest(most, 200), reads) end;
  lanes   constant pulse.lane_cursor[] := array(select c from pulse.cursors(queue) c);
  r       record;
  stop    pulse.listed;
  seen    integer := 0;
  got     integer;
begin
  loop
    got := 0;
    for r in
      with tops as materialized (
        select l.* from unnest(lanes) l, lateral pulse.ready(l.queue, l.priority, l.lane, l.x, l.s, l.floor_s, l.late_x, l.late_s, below_x, below_s, 1) t
         order by t.xid desc, t.seq desc limit step),
      newest as materialized (
        select l.queue, l.priority, l.lane, t.xid, t.seq
          from tops l, lateral pulse.ready(l.queue, l.priority, l.lane, l.x, l.s, l.floor_s, l.late_x, l.late_s, below_x, below_s, step) t
         order by t.xid desc, t.seq desc limit step)
      select n.xid, n.seq, j.charged = 0 and (list_pending.kind is null or j.kind = list_pending.kind)
               and (list_pending.tenant is null or j.tenant = list_pending.tenant) as fits,
             pulse.listed_of(j, 'PENDING', null, null, null, null, null, null, 'log ' || n.xid::text || ' ' || n.seq) as job
        from newest n
        join pulse.log j on j.lane_id = pulse.lane_id(n.queue, n.priority, n.lane)
          and j.queue = n.queue and j.priority = n.priority and j.lane = n.lane and j.xid = n.xid and j.seq = n.seq
       order by n.xid desc, n.seq desc
    loop
      got := got + 1;
      below_x := r.xid;
      below_s := r.seq;
      if r.fits then
        return next r.job;
        most := most - 1;
        if most = 0 then return; end if;
      end if;
    end loop;
    if got < step then return; end if;
    seen := seen + got;
    exit when seen >= reads;
  end loop;
  stop.after := 'log ' || below_x::text || ' ' || below_s;
  return next stop;
end $$;

-- list_retrying: deliveries in the log that nobody has claimed and that follow a failure. Found from each job's newest failure,
-- in the partitions above all floors.
create function pulse.list_retrying(queue text, kind text, tenant text, most integer, after text, reads integer) returns setof pulse.listed
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_mergejoin = off
  set jit = off set plan_cache_mode = force_custom_plan as $$
declare
  below_at constant timestamptz := coalesce(split_part(after, ' ', 2)::timestamptz, 'infinity');
  below_id constant uuid := coalesce(split_part(after, ' ', 3)::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  lanes    constant pulse.lane_cursor[] := array(select c from pulse.cursors(queue) c);
  bottom   constant bigint := (select min(least(l.floor_s, (select min(o) from unnest(l.late_s) o))) from unnest(lanes) l);
  stop     pulse.listed;
  found_n  integer;
  seen     integer;
begin
  return query
    with failed as materialized (
      select f.id, f.attempt, f.at from pulse.failure f
       where (f.retrying is null or f.together is not null) and (f.at, f.id) < (below_at, below_id) order by f.at desc, f.id desc limit reads)
    select (pulse.listed_of(j.delivery, 'RETRYING', null, null, null, null, null, null, 'log ' || (to_json(f.at) #>> '{}') || ' ' || f.id)).*
      from failed f
      cross join lateral (
        select j as delivery, j.* from pulse.log j where j.id = f.id and j.seq > bottom and j.charged > 0 offset 0) j
      join unnest(lanes) l on l.queue = j.queue and l.priority = j.priority and l.lane = j.lane
     where (list_retrying.kind is null or j.kind = list_retrying.kind)
       and (list_retrying.tenant is null or j.tenant = list_retrying.tenant)
       and ((j.xid, j.seq) > (l.x, l.s) or exists (select from unnest(l.late_x, l.late_s) o(x, s) where o.x = j.xid and j.seq > o.s))
       and not exists (select from pulse.failure n where n.id = f.id and n.attempt >= f.attempt and (n.at, n.attempt) > (f.at, f.attempt))
     order by f.at desc, f.id desc limit most;
  get diagnostics found_n = row_count;
  if found_n = most then return; end if;
  select count(*), 'log ' || (to_json(min(f.at)) #>> '{}') || ' ' || (array_agg(f.id order by f.at, f.id))[1] into seen, stop.after
    from (select f.at, f.id from pulse.failure f
           where (f.retrying is null or f.together is not null) and (f.at, f.id) < (below_at, below_id) order by f.at desc, f.id desc limit reads) f;
  if seen = reads then return next stop; end if;
end $$;

-- list_delayed: jobs that are not due, first deliveries, over all queues; as in list_pending, only so many queues as rows are
-- wanted are read beyond their first row.
create function pulse.list_delayed(queue text, kind text, tenant text, most integer, after text, reads integer)
  returns setof pulse.listed
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off as $$
declare
  above_at timestamptz := coalesce(split_part(after, ' ', 2)::timestamptz, '-infinity');
  above_id uuid := coalesce(split_part(after, ' ', 3)::uuid, '00000000-0000-0000-0000-000000000000');
  step     constant integer := case when num_nonnulls(kind, tenant) = 0 then least(most, reads) else least(greatest(most, 200), reads) end;
  r        pulse.listed;
  stop     pulse.listed;
  seen     integer := 0;
  got      integer;
begin
  loop
    got := 0;
    for r in
      with tops as materialized (
        select q.name from pulse.delayed_queues(list_delayed.queue) q(name), lateral (
          select d.run_at, d.id from pulse.delayed d
           where d.queue = q.name and d.charged = 0 and (d.run_at, d.id) > (above_at, above_id)
           order by d.run_at, d.id limit 1) t
         order by t.run_at, t.id limit step)
      select d.id, 'PENDING', d.queue, d.kind, d.tenant, d.project, d.priority, d.attempt, d.charged,
             d.max_attempts, d.submitted_at, d.run_at, null::timestamptz, null::timestamptz, pulse.last_error(d.id), null::bigint,
             d.schedule_id, d.occurrence, d.key, 'delayed ' || (to_json(d.run_at) #>> '{}') || ' ' || d.id
        from tops q, lateral (
          select e.* from pulse.delayed e
           where e.queue = q.name and e.charged = 0 and (e.run_at, e.id) > (above_at, above_id)
           order by e.run_at, e.id limit step) d
       order by d.run_at, d.id limit step
    loop
      got := got + 1;
      above_at := r.run_at;
      above_id := r.id;
      stop.after := r.after;
      if r.kind = coalesce(list_delayed.kind, r.kind) and (list_delayed.tenant is null or r.tenant = list_delayed.tenant) then
        return next r;
        most := most - 1;
        if most = 0 then return; end if;
      end if;
    end loop;
    if got < step then return; end if;
    seen := seen + got;
    exit when seen >= reads;
  end loop;
  return next stop;
end $$;

-- list_delayed_retries: retries that are not due, whether they wait alone or with others.
create function pulse.list_delayed_retries(queue text, kind text, tenant text, most integer, after text, reads integer)
  returns setof pulse.listed
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off as $$
declare
  above_at constant timestamptz := coalesce(split_part(after, ' ', 2)::timestamptz, '-infinity');
  above_id constant uuid := coalesce(split_part(after, ' ', 3)::uuid, '00000000-0000-0000-0000-000000000000');
  c        record;
  r        pulse.listed;
  stop     pulse.listed;
  seen     integer := 0;
begin
  for c in
    with near as (                              -- as many as are wanted at most, and all that are due with the last of them
      select t.*, coalesce(sum(cardinality(t.ids) - t.taken) over (order by t.run_at groups between unbounded preceding and 1 preceding), 0) as before
        from (select * from pulse.retrying x where x.run_at >= above_at order by x.run_at fetch first (reads) rows with ties) t)
    (select e.run_at, e.id, null::bigint as seq, e.attempt, e.charged, e.queue
       from pulse.delayed e where (e.run_at, e.id) > (above_at, above_id) order by e.run_at, e.id limit reads)
    union all
    (select n.run_at, u.id, u.seq, n.attempt, n.charged, n.queue
       from near n, unnest(n.ids[n.taken + 1 :], n.seqs[n.taken + 1 :]) u(id, seq)
      where n.before < reads and (n.run_at, u.id) > (above_at, above_id))
     order by run_at, id limit reads
  loop
    seen := seen + 1;
    stop.after := 'delayed ' || (to_json(c.run_at) #>> '{}') || ' ' || c.id;
    continue when c.charged = 0 or c.queue <> coalesce(list_delayed_retries.queue, c.queue);
    if c.seq is null then
      select d.id, 'RETRYING', d.queue, d.kind, d.tenant, d.project, d.priority, d.attempt, d.charged, d.max_attempts, d.submitted_at,
             d.run_at, null, null, pulse.last_error(d.id), null, d.schedule_id, d.occurrence, d.key, stop.after
        into r from pulse.delayed d where d.id = c.id;
    else
      select (pulse.listed_of(j, 'RETRYING', c.attempt, c.charged, c.run_at, null, null, null, stop.after)).*
        into r from pulse.log j where j.id = c.id and j.seq = c.seq;
    end if;
    if r.kind = coalesce(list_delayed_retries.kind, r.kind) and (list_delayed_retries.tenant is null or r.tenant = list_delayed_retries.tenant) then
      return next r;
      most := most - 1;
      if most = 0 then return; end if;
    end if;
  end loop;
  if seen = reads then return next stop; end if;
end $$;

-- delayed_queues: the queues that have delayed first deliveries, or the one that is wanted.
--
-- index     delayed_queue, one probe per queue
create function pulse.delayed_queues(wanted text) returns setof text
  language sql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off as $$
  with recursive q as (
    (select d.queue from pulse.delayed d where wanted is null and d.charged = 0 order by d.queue limit 1)
    union all
    select n.queue from q, lateral (select d.queue from pulse.delayed d where d.queue > q.queue and d.charged = 0 order by d.queue limit 1) n)
  select q.queue from q union all select wanted where wanted is not null
$$;

-- list_all: jobs of every status. Kind and tenant never change, so those of any delivery tell whether to look the job up.
create function pulse.list_all(queue text, kind text, tenant text, most integer, after text, reads integer) returns setof pulse.listed
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set jit = off
  set plan_cache_mode = force_custom_plan as $$
declare
  below uuid := coalesce(split_part(after, ' ', 2)::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  step  constant integer := least(reads, case when num_nonnulls(kind, tenant) = 0 then most else greatest(most, 1000) end);
  g     pulse.jobs;
  stop  pulse.listed;
  c     record;
  seen  integer := 0;
  got   integer;
begin
  loop
    got := 0;
    for c in
      select u.id, bool_or((list_all.kind is null or u.kind = list_all.kind) and (list_all.tenant is null or u.tenant = list_all.tenant)) as fits
        from ((select distinct on (j.id) j.id, j.kind, j.tenant from pulse.log j where j.id < below order by j.id desc limit step)
              union all
              (select d.id, d.kind, d.tenant from pulse.delayed d where d.id < below order by d.id desc limit step)
              union all
              (select o.id, o.kind, o.tenant from pulse.outcome o where o.id < below order by o.id desc limit step)) u
       group by u.id order by u.id desc limit step
    loop
      got := got + 1;
      below := c.id;
      if c.fits then
        select * into g from pulse.get(c.id);
        if g.queue = coalesce(list_all.queue, g.queue) then
          return next row(g.id, g.status, g.queue, g.kind, g.tenant, g.project, g.priority, g.attempt, g.charged, g.max_attempts, g.submitted_at,
                          g.run_at, g.started_at, g.finished_at, g.last_error, g.executor, g.schedule_id, g.occurrence, g.key, 'all ' || g.id)::pulse.listed;
          most := most - 1;
          if most = 0 then return; end if;
        end if;
      end if;
    end loop;
    if got = 0 then return; end if;
    seen := seen + got;
    exit when seen >= reads;
  end loop;
  stop.after := 'all ' || below;
  return next stop;
end $$;

-- oldest_due: since when the oldest delivery of a lane could have been claimed; null if none waits, or if nobody knows. Inlined,
-- so that partitions are planned for once and not for each lane.
--
-- takes     the lane and its cursor, as pulse.cursors gives them
-- index     log_lane, ten rows (and ten of each late transaction); place, failure_id
create function pulse.oldest_due(
  queue text, priority smallint, lane smallint, x xid8, s bigint, floor_s bigint, late_x xid8[], late_s bigint[])
  returns table (due timestamptz)
  language sql stable begin atomic
  select min(case when (h.attempt = 1 and not exists (select from pulse.place p where p.id = h.id and p.seq = h.seq))
                    -- Ids from elsewhere have a place from the start.
                    or coalesce(pulse.uuid7_at(h.id) not between h.submitted_at - interval '5 min' and h.submitted_at + interval '5 min', true)
                  then h.submitted_at
                  else (select max(f.at) from pulse.failure f where f.id = h.id) end)
    from ((select j.id, j.seq, j.submitted_at, j.attempt from pulse.log j
            where j.lane_id = pulse.lane_id(oldest_due.queue, oldest_due.priority, oldest_due.lane)
              and j.queue = oldest_due.queue and j.priority = oldest_due.priority and j.lane = oldest_due.lane and j.seq > oldest_due.floor_s
              and (j.xid, j.seq) > (oldest_due.x, oldest_due.s)
            order by j.xid, j.seq limit 10)
          union all
          select l.* from unnest(late_x, late_s) o(x, s), lateral (
            select j.id, j.seq, j.submitted_at, j.attempt from pulse.log j
             where j.lane_id = pulse.lane_id(oldest_due.queue, oldest_due.priority, oldest_due.lane)
               and j.queue = oldest_due.queue and j.priority = oldest_due.priority and j.lane = oldest_due.lane and j.xid = o.x and j.seq > o.s
             order by j.seq limit 10) l
           where pg_visible_in_snapshot(o.x, pg_current_snapshot())) h;
end;

-- counts: how many jobs of each queue wait in the log, run, are delayed, wait to be retried, and are dead letters.
--
-- sent by   clients and pages
-- takes     most: count so far and no further
-- returns   one row per queue that has any or was given a setting. exact: false if a number was cut, and means "at least". Retries
--           are counted among the 5 × `most` delayed jobs and the `most` rows of jobs that wait together that are due next, in all
--           queues together.
--           A retry that is due counts as waiting. oldest_due: since when the oldest of those that could run has waited, as far
--           as is known (of the first 10 of a lane; when a delayed job came into the log is not recorded)
-- reads     at most `most` + 1 rows per lane and per queue, and 100,000 in all unless there are over 1,000 of them; 5 × `most`
--           delayed ones; the leases
-- index     log_lane, delayed_queue, delayed_due, outcome_queue, claim's and executor's keys
create function pulse.counts(most integer default 10000)
  returns table (queue text, waiting bigint, running bigint, delayed bigint, retrying bigint, dead bigint, oldest_due timestamptz, exact boolean)
  language sql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off as $$
  with recursive lanes as materialized (select * from pulse.cursors(null)),
  ends as (
    (select o.queue from pulse.outcome o order by o.queue limit 1)
    union all
    select n.queue from ends e, lateral (select o.queue from pulse.outcome o where o.queue > e.queue order by o.queue limit 1) n),
  later as materialized (select q.name from pulse.delayed_queues(null) q(name)),
  cap as materialized (
    select least(most, greatest(100, 100000 / (1 + (select count(*) from lanes) + (select count(*) from ends) + (select count(*) from later))))::integer as n),
  soon as materialized (
    select d.queue, d.run_at, d.charged from pulse.delayed d order by d.run_at, d.id limit (select 5 * n + 1 from cap)),
  together as materialized (
    select t.queue, t.run_at, cardinality(t.ids) - t.taken as n from pulse.retrying t order by t.run_at limit (select n + 1 from cap)),
  numbers as (
    select l.queue, 'waiting' as what, w.n, o.due
      from cap, lanes l, lateral (
             select count(*) as n from pulse.ready(l.queue, l.priority, l.lane, l.x, l.s, l.floor_s, l.late_x, l.late_s,
                                                   '18446744073709551615', 9223372036854775807, cap.n + 1)) w,
           lateral pulse.oldest_due(l.queue, l.priority, l.lane, l.x, l.s, l.floor_s, l.late_x, l.late_s) o
    union all
    select q.name, 'delayed', (
             select count(*) from (select from pulse.delayed d where d.queue = q.name and d.charged = 0 limit (select n + 1 from cap)) x), (
             select case when x.run_at <= pulse.now() then x.run_at end
               from (select d.run_at from pulse.delayed d where d.queue = q.name and d.charged = 0 order by d.run_at limit 1) x)
      from later q
    union all
    select d.queue, 'retrying', sum(d.n), min(d.run_at) filter (where d.run_at <= pulse.now())
      from (select s.queue, s.run_at, 1 as n from soon s where s.charged > 0 union all select t.queue, t.run_at, t.n from together t) d
     group by d.queue
    union all
    select e.queue, 'dead', (
             select count(*) from (select from pulse.outcome o where o.queue = e.queue and o.status = 'DEAD_LETTERED' limit (select n + 1 from cap)) x), null
      from ends e
    union all
    select c.queue, 'running', bit_count(l.open), null from pulse.lease l join pulse.claim c on c.id = l.claim
    union all
    select q.name, 'setting', 0, null from pulse.queue q),
  capped as (
    select b.queue, b.what, b.due, b.what <> 'running' and b.n > cap.n as cut, case when b.what = 'running' then b.n else least(b.n, cap.n) end as n
      from numbers b, cap)
  select c.queue, coalesce(sum(c.n) filter (where c.what = 'waiting'), 0)::bigint, coalesce(sum(c.n) filter (where c.what = 'running'), 0)::bigint,
         coalesce(sum(c.n) filter (where c.what = 'delayed'), 0)::bigint, coalesce(sum(c.n) filter (where c.what = 'retrying'), 0)::bigint,
         coalesce(sum(c.n) filter (where c.what = 'dead'), 0)::bigint, min(c.due),
         not bool_or(c.cut) and (select (select count(*) from soon) <= 5 * cap.n and (select count(*) from together) <= cap.n from cap)
    from capped c
   group by c.queue having sum(c.n) > 0 or bool_or(c.what = 'setting')
   order by c.queue
$$;
