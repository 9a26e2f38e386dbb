-- Looking jobs up. Everything here reads one snapshot and writes nothing.

-- find: the newest delivery of a job in the log; nothing if it has none (delayed, ended, retired).
--
-- index     place, and log_id in the partitions that its UUIDv7 tells; all partitions only for ids that tell nothing. Planned anew as
--           long as that is cheaper: a plan for all ids locks every partition
create function pulse.find(id uuid) returns setof pulse.log
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = auto as $$
declare
  made constant timestamptz := pulse.uuid7_at(id);
  last bigint;
  p    record;
begin
  select p1.seq into last from pulse.place p1 where p1.id = find.id order by p1.seq desc limit 1;
  -- One without a place may be newer still: an id that was enqueued again.
  for p in
    select greatest(q.lower_seq, last + 1) as lower_seq, q.upper_seq from pulse.partition q
     where made between q.opened_at - interval '10 min' and coalesce(q.closed_at, 'infinity') + interval '10 min'
       and (last is null or q.upper_seq > last)
     order by q.lower_seq desc
  loop
    return query
      select * from pulse.log j where j.id = find.id and j.seq >= p.lower_seq and j.seq < p.upper_seq order by j.seq desc limit 1;
    if found then return; end if;
  end loop;
  if last is not null then
    return query select * from pulse.log j where j.id = find.id and j.seq = last;
  else
    return query select * from pulse.log j where j.id = find.id order by j.seq desc limit 1;
  end if;
end $$;

-- is_pending: has no claim decided this delivery yet?
create function pulse.is_pending(j pulse.log) returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  k pulse.claim := pulse.cursor_of(j.queue, j.priority, j.lane);
begin
  if (j.xid, j.seq) > (k.x, k.s) then return true; end if;
  return k.late_x <> '{}' and exists (select from unnest(k.late_x, k.late_s) l(x, s) where l.x = j.xid and j.seq > l.s);
end $$;

-- claim_of: which claim took this delivery, and at which position.
--
-- index     claim_cursor: the first claim whose cursor has passed it; if it was late then, claim_late from there on
create function pulse.claim_of(j pulse.log, out claim bigint, out pos integer, out executor bigint, out at timestamptz)
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  passed bigint;
begin
  -- One is chosen before its numbers are searched: sorting, even by three rows, looks at 32.
  select c.id, array_position(c.seqs, j.seq) - 1, c.executor, c.at, c.n into claim, pos, executor, at, passed
    from (select * from pulse.claim c
           where c.queue = j.queue and c.priority = j.priority and c.lane = j.lane and (c.x, c.s) >= (j.xid, j.seq)
           order by c.x, c.s, c.n limit 1) c;
  if pos is not null then return; end if;
  select c.id, array_position(c.seqs, j.seq) - 1, c.executor, c.at into claim, pos, executor, at from pulse.claim c
   where c.queue = j.queue and c.priority = j.priority and c.lane = j.lane and c.n > passed and c.low_x <= j.xid and j.seq = any (c.seqs)
   order by c.n limit 1;
end $$;

-- retry_of: the delivery of a job that came after this one, its newest in the log, without being written to it: where it waits
-- (run_at), or which claim took it. Nothing if there is none.
--
-- index     failure_id, claim_retrying
create function pulse.retry_of(j pulse.log, out retrying bigint, out attempt smallint, out charged smallint, out run_at timestamptz,
                               out claim bigint, out pos integer, out executor bigint, out at timestamptz)
  language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  f pulse.failure;
begin
  select x.* into f from pulse.failure x where x.id = j.id order by x.attempt desc limit 1;
  if f.retrying is null or f.attempt < j.attempt then return; end if;
  select t.id, t.attempt, t.charged, t.run_at into retrying, attempt, charged, run_at
    from pulse.retrying t where t.id = f.retrying and array_position(t.seqs, j.seq) > t.taken;
  if found then return; end if;
  select c.retrying, c.attempt, c.charged, c.id, array_position(c.seqs, j.seq) - 1, c.executor, c.at
    into retrying, attempt, charged, claim, pos, executor, at
    from pulse.claim c where c.retrying = f.retrying and j.seq = any (c.seqs);
end $$;

-- state_of: how a job stands that is neither delayed nor ended otherwise, and whose newest delivery in the log is this one.
create function pulse.state_of(j pulse.log, out status text, out attempt smallint, out charged smallint, out run_at timestamptz,
                               out claim bigint, out pos integer, out executor bigint, out started_at timestamptz, out finished_at timestamptz)
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  c record;
begin
  attempt := j.attempt;
  charged := j.charged;
  if pulse.is_pending(j) then
    status := case when j.charged > 0 then 'RETRYING' else 'PENDING' end;
    return;
  end if;
  c := pulse.claim_of(j);
  for again in 0 .. 1 loop
    claim := c.claim;
    pos := c.pos;
    executor := c.executor;
    started_at := c.at;
    if exists (select from pulse.lease l where l.claim = c.claim and get_bit(l.open, c.pos) = 1) then
      status := 'RUNNING';
      return;
    end if;
    status := 'COMPLETED';
    finished_at := (select d.at from pulse.done d where d.claim = c.claim and get_bit(d.mask, c.pos) = 1);
    exit when again = 1 or finished_at is not null;
    -- It ended otherwise, and neither waits on its own nor is in the log again: it waits with others, or was claimed from there.
    c := pulse.retry_of(j);
    exit when c.retrying is null;
    attempt := c.attempt;
    charged := c.charged;
    run_at := c.run_at;
  end loop;
  if run_at is not null then
    status := 'RETRYING';
  end if;
end $$;

-- jobs: one row per job. By id, use pulse.get: it knows which partition to ask.
create view pulse.jobs as
  select o.id, o.tenant, o.project, o.queue, o.kind, o.args, o.priority, o.status, o.attempt, o.charged, o.max_attempts, o.submitted_at,
         null::timestamptz as run_at, null::timestamptz as started_at, o.at as finished_at, o.reason as last_error,
         null::bigint as executor, o.schedule_id, o.occurrence, o.key, o.trace, o.meta
    from pulse.outcome o
  union all
  select d.id, d.tenant, d.project, d.queue, d.kind, d.args, d.priority, case when d.charged > 0 then 'RETRYING' else 'PENDING' end,
         d.attempt, d.charged, d.max_attempts, d.submitted_at, d.run_at, null, null,
         (select f.error from pulse.failure f where f.id = d.id order by f.attempt desc limit 1),
         null, d.schedule_id, d.occurrence, d.key, d.trace, d.meta
    from pulse.delayed d
  union all
  select j.id, j.tenant, j.project, j.queue, j.kind, j.args, j.priority, s.status, s.attempt, s.charged, j.max_attempts, j.submitted_at,
         s.run_at, s.started_at, s.finished_at,
         (select f.error from pulse.failure f where f.id = j.id order by f.attempt desc limit 1),
         s.executor, j.schedule_id, j.occurrence, j.key, j.trace, j.meta
    from pulse.log j, lateral pulse.state_of(j) s
   where not exists (select from pulse.outcome o where o.id = j.id)
     and not exists (select from pulse.delayed d where d.id = j.id)
     and not exists (select from pulse.place p where p.id = j.id and p.seq > j.seq)
     and not exists (select from pulse.log n where n.id = j.id and n.seq > j.seq);

-- get: one job, as in pulse.jobs.
--
-- Planned once a session: to plan its questions again for every job was a third of what it cost. Casts, because RETURN QUERY does
-- not take a domain for its type.
create function pulse.get(id uuid) returns setof pulse.jobs
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
    select o.id, o.tenant, o.project, o.queue, o.kind, o.args, o.priority, o.status, o.attempt, o.charged, o.max_attempts, o.submitted_at,
           null::timestamptz, null::timestamptz, o.at, o.reason, null::bigint, o.schedule_id, o.occurrence, o.key, o.trace, o.meta
      from pulse.outcome o where o.id = get.id;
  if found then return; end if;
  return query
    select d.id, d.tenant::text, d.project::text, d.queue::text, d.kind::text, d.args::json, d.priority::smallint, case when d.charged > 0 then 'RETRYING' else 'PENDING' end,
           d.attempt::smallint, d.charged::smallint, d.max_attempts::smallint, d.submitted_at, d.run_at, null::timestamptz, null::timestamptz,
           (select f.error from pulse.failure f where f.id = d.id order by f.attempt desc limit 1),
           null::bigint, d.schedule_id, d.occurrence, d.key::text, d.trace::text, d.meta::json
      from pulse.delayed d where d.id = get.id;
  if found then return; end if;
  return query
    select j.id, j.tenant::text, j.project::text, j.queue::text, j.kind::text, j.args::json, j.priority::smallint, s.status, s.attempt, s.charged, j.max_attempts::smallint, j.submitted_at,
           s.run_at, s.started_at, s.finished_at,
           (select f.error from pulse.failure f where f.id = j.id order by f.attempt desc limit 1),
           s.executor, j.schedule_id, j.occurrence, j.key::text, j.trace::text, j.meta::json
      from pulse.find(get.id) j, lateral pulse.state_of(j) s;
end $$;
