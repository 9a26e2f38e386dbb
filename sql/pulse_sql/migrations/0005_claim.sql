-- Claiming: the lanes that have something, and a batch from them. docs/decisions/0002 has the argument why nothing is
-- lost; tests/stress tries to break it. Change nothing here without running `make test-mutants`.

-- lane_lock: the key of a lane's advisory lock. Lanes may share one: busy is not empty, the caller asks again.
create function pulse.lane_lock(queue text, priority smallint, lane smallint) returns integer language sql immutable parallel safe
  return hashtext(queue) # (priority::integer * 65536 + lane);

-- cursor_of: a lane's newest ledger row, or the row before the first.
create function pulse.cursor_of(queue text, priority smallint, lane smallint) returns pulse.claim
  language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  k pulse.claim;
begin
  select c.* into k from pulse.claim c
   where c.queue = cursor_of.queue and c.priority = cursor_of.priority and c.lane = cursor_of.lane
   order by c.n desc limit 1;
  if not found then
    k.n := 0; k.x := '0'; k.s := 0; k.late_x := '{}'; k.late_s := '{}'; k.floor_s := 0; k.next_x := '0'; k.next_s := 0;
  end if;
  return k;
end $$;

-- lanes_with_work: the lanes of these queues in which a claim would find something, best first. Only a hint, as it takes no
-- lock: a claim looks again under the lane's lock. fresh: in the log; due: some that waited together to be retried.
--
-- sent by   claim, look
-- takes     queues and shares (which queue comes first: request number modulo the sum of the shares), low: lowest
--           priority first
-- index     claim's unique key, log_lane, retrying_lane; two or three probes per lane
create function pulse.lanes_with_work(queues text[], shares integer[], request bigint, low boolean)
  returns table (queue text, priority smallint, lane smallint, siblings bigint, fresh boolean, due boolean)
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set enable_bitmapscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  -- Below all floors of these lanes. As a value that is known before the question below begins, it keeps partitions from
  -- being opened at all; a floor that comes out of a join only keeps them from being read (200 partitions: 2 ms a poll).
  bottom bigint;
  moment constant timestamptz := pulse.now();
  some_due constant boolean := exists (select from pulse.retrying t where t.run_at <= moment);
begin
  select min(least(k.floor_s, (select min(o) from unnest(k.late_s) o))) into bottom
    from unnest(queues) w(name) join pulse.lane l on l.queue = w.name
    left join lateral (
      select coalesce(max(n.floor_s), 0) as floor_s, max(n.late_s) as late_s
        from (select c.floor_s, c.late_s from pulse.claim c
               where c.queue = l.queue and c.priority = l.priority and c.lane = l.lane order by c.n desc limit 1) n) k on true;
  return query
  with snapshot as materialized (select pg_current_snapshot() as now),
  wanted as materialized (
    select w.name, w.ord, sum(w.share) over (order by w.ord) as upto, sum(w.share) over () as total
      from unnest(queues, shares) with ordinality w(name, share, ord)
     where not exists (select from pulse.queue q where q.name = w.name and q.paused_at is not null)
       and not exists (select from pulse.dispatch d where d.paused_at is not null)),
  first as materialized (select min(w.ord) as ord from wanted w where w.upto > request % w.total)
  select a.queue, a.priority, a.lane, count(*) over (partition by a.queue, a.priority) as siblings, a.fresh, a.due
    from (
      select l.queue, l.priority, l.lane, w.ord,
             exists (
               select from pulse.log j
                where j.lane_id = pulse.lane_id(l.queue, l.priority, l.lane)
                  and j.queue = l.queue and j.priority = l.priority and j.lane = l.lane
                  and (j.xid, j.seq) > (coalesce(k.x, '0'), coalesce(k.s, 0)) and j.seq > coalesce(k.floor_s, 0) and j.seq > bottom)
             or (k.late_x <> '{}' and (
               select count(*) >= 8 or count(*) = cardinality(k.late_x) or bool_or(exists (
                        select from pulse.log j
                         where j.lane_id = pulse.lane_id(l.queue, l.priority, l.lane)
                           and j.queue = l.queue and j.priority = l.priority and j.lane = l.lane and j.xid = o.x and j.seq > o.s and j.seq > bottom))
                 from unnest(k.late_x, k.late_s) o(x, s)
                where pg_visible_in_snapshot(o.x, (select now from snapshot)))) as fresh,
             coalesce(t.queue = l.queue and t.priority = l.priority and t.lane = l.lane and t.run_at <= moment, false) as due
        from wanted w
        join pulse.lane l on l.queue = w.name
        left join lateral (
          select c.x, c.s, c.floor_s, c.late_x, c.late_s from pulse.claim c
           where c.queue = l.queue and c.priority = l.priority and c.lane = l.lane order by c.n desc limit 1) k on true
        -- In the order of one index only: by another one it could wade through what is due in all other lanes.
        left join lateral (
          select r.queue, r.priority, r.lane, r.run_at from pulse.retrying r
           where some_due and (r.queue, r.priority, r.lane) >= (l.queue, l.priority, l.lane)
           order by r.queue, r.priority, r.lane, r.run_at limit 1) t on true
      offset 0) a
   where a.fresh or a.due
   order by (a.ord < (select ord from first)), a.ord, case when low then a.priority else -a.priority end, (a.lane + request) % 1024;
end $$;

-- claim: lease ready jobs of these queues to one executor, most urgent first; every tenth request starts at the lowest
-- priority instead, so that nothing starves.
--
-- sent by   claimer, on demand; the first write of a READ COMMITTED transaction, or it is refused
-- takes     executor, request: asked again, the same batches; slots: jobs at most; bytes: of arguments at most, but one job
-- returns   one row per batch, of one lane each: claim id, token, lane, number of jobs, and the jobs as one JSON array in the order of
--           their positions, or null where they would make it more than 128 KiB in all (pulse.fetch them after the commit: a
--           client that stops reading would hold the lanes). A row with n = -1 and no claim: a lane with work was busy, ask
--           again in a millisecond.
-- locks     the executor and each lane that it looks into, until commit
create function pulse.claim(executor bigint, request bigint, queues text[], shares integer[], slots integer, bytes integer default 4194304)
  returns table (claim bigint, token uuid, queue text, priority smallint, lane smallint, n integer, jobs text)
  language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set jit = off
  set plan_cache_mode = force_generic_plan as $$
declare
  drawn    bigint;
  r        record;
  part     record;
  share    integer;
  retried  boolean;
  remains  integer := slots;
  busy     boolean := false;
  room     integer := 131072;
  began    timestamptz;
begin
  if pg_current_xact_id_if_assigned() is not null or current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'claim must be the first write of a READ COMMITTED transaction' using errcode = 'active_sql_transaction';
  end if;
  -- First the sequence, under its page lock (a bare last_value can be torn); our xid is drawn later. Every xid after ours
  -- draws numbers above this one.
  drawn := coalesce(pg_sequence_last_value('pulse.log_seq'), 0);
  perform pg_advisory_xact_lock(1886745444, (claim.executor & 2147483647)::integer);
  perform from pulse.executor e where e.id = claim.executor and e.ended_at is null;
  if not found then
    raise exception 'executor % has ended and may not claim', claim.executor using errcode = 'object_not_in_prerequisite_state';
  end if;
  -- Asked again: what is still leased, under new tokens. Whoever saw that nobody held it and gives it back by the old
  -- token comes too late; what was given back before is not ours any more, and the request is as if it had found nothing.
  -- By their numbers: with few leases, a join would read all of them first, and those that a transaction held open keeps dead.
  return query
    with again as (
      update pulse.lease l set token = gen_random_uuid()
       where l.claim = any (array(
         select c.id from pulse.claim c where c.executor = claim.executor and c.request = claim.request and c.ids <> '{}'))
      returning l.claim, l.token)
    select c.id, a.token, c.queue, c.priority, c.lane, cardinality(c.ids), null::text
      from again a, lateral (select * from pulse.claim k where k.id = a.claim offset 0) c order by c.id;
  if found then return; end if;

  began := clock_timestamp();
  for r in select * from pulse.lanes_with_work(queues, shares, request, request % 10 = 9) loop
    exit when remains <= 0 or bytes <= 0;
    if not pg_try_advisory_xact_lock(1886745441, pulse.lane_lock(r.queue, r.priority, r.lane)) then
      busy := true;
      continue;
    end if;
    share := ceil(remains::numeric / greatest(r.siblings, 1));
    foreach retried in array array[true, false] loop
      -- Those that waited to be retried come with every fourth request of a lane that has others: by then as many are due as make a batch.
      continue when share <= 0 or bytes <= 0 or not case when retried then r.due and (not r.fresh or request % 4 = 3) else r.fresh end;
      for part in
        select b.* from pulse.claim_retrying(executor, request, r.queue, r.priority, r.lane, share, bytes) b where retried
        union all
        select b.* from pulse.claim_lane(executor, request, r.queue, r.priority, r.lane, share, bytes, drawn) b where not retried
      loop
        continue when part.claim is null;
        claim := part.claim; token := part.token; queue := r.queue; priority := r.priority; lane := r.lane; n := part.n;
        remains := remains - n;
        share := share - n;
        bytes := bytes - part.size;
        -- A backend sends its answer before it commits: all of it must fit where a client that stopped reading leaves it.
        jobs := case when octet_length(part.jobs) <= room then part.jobs end;
        room := room - coalesce(octet_length(jobs), 0);
        return next;
      end loop;
    end loop;
  end loop;
  if remains = slots then
    if busy then
      claim := null; n := -1;
      return next;
    elsif clock_timestamp() - began > interval '10 ms' then
      perform pulse.pass_open(queues, executor, request, drawn);
    end if;
  end if;
end $$;

-- any_visible: has any of these transactions ended, for this snapshot?
create function pulse.any_visible(xids xid8[], snap pg_snapshot) returns boolean language sql immutable parallel safe
  return exists (select from unnest(xids) x where pg_visible_in_snapshot(x, snap));

-- claim_lane: take a batch from one lane, whose lock the caller holds.
--
-- sent by   claim
-- takes     drawn: the sequence's value before this transaction drew its xid
-- returns   the batch, or nothing
-- index     log_lane; old partitions are pruned by the floor
create function pulse.claim_lane(
  executor bigint, request bigint, queue text, priority smallint, lane smallint, slots integer, bytes integer, drawn bigint,
  out claim bigint, out token uuid, out n integer, out jobs text, out size bigint)
  language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  k       pulse.claim := pulse.cursor_of(queue, priority, lane);
  snap    pg_snapshot;
  last_x  xid8;
  last_s  bigint;
  found_n integer;
  cut     boolean;
  tracked integer[];
  gone    integer;
  general boolean;
begin
  -- Rows and snapshot in ONE statement: what may still appear behind the new cursor is in this snapshot's open list.
  --
  -- The usual case first: nothing late has ended, everything fits, nothing tracked. Adding up sizes row by row, as the general
  -- one does, costs 0.4 ms of 1.1 for 500 jobs. Jobs over 8 KiB are not put into words here: they are fetched.
  general := false;
  if k.late_x <> '{}' then
    general := pulse.any_visible(k.late_x, pg_current_snapshot());
  end if;
  if not general then
    select pg_current_snapshot(), count(*), count(*), max(t.xid), array_agg(t.seq), array_agg(t.id), sum(t.size), null::integer[],
           string_agg(pulse.wire(t.id, t.kind, t.args, t.attempt, t.charged, t.max_attempts, t.suspect, t.tenant, t.project, t.key,
                                 t.schedule_id, t.occurrence, t.options, t.trace, t.meta), ',') filter (where t.size <= 8192),
           null::xid8, sum(t.size) > bytes or bool_or(t.key is not null or t.schedule_id is not null) or max(t.size) > 8192
      into snap, found_n, n, last_x, k.seqs, k.ids, size, tracked, jobs, k.low_x, general
      from (select j.*, pulse.size_of(j.args, j.meta) as size from pulse.log j
             where j.lane_id = pulse.lane_id(claim_lane.queue, claim_lane.priority, claim_lane.lane)
               and j.queue = claim_lane.queue and j.priority = claim_lane.priority and j.lane = claim_lane.lane
               and (j.xid, j.seq) > (k.x, k.s) and j.seq > k.floor_s
             order by j.xid, j.seq limit slots) t;
    -- One that ended since we looked: its rows were not read here, and below it would be taken for read.
    if k.late_x <> '{}' then
      general := coalesce(general, false) or pulse.any_visible(k.late_x, snap);
    end if;
  end if;
  if general then
    select pg_current_snapshot(), count(*), count(*) filter (where t.fits), max(t.xid) filter (where t.fits),
           array_agg(t.seq) filter (where t.fits), array_agg(t.id) filter (where t.fits), max(t.total) filter (where t.fits),
           array_agg(t.nr - 1) filter (where t.fits and (t.key is not null or t.schedule_id is not null)),
           string_agg(pulse.wire(t.id, t.kind, t.args, t.attempt, t.charged, t.max_attempts, t.suspect, t.tenant, t.project, t.key,
                                 t.schedule_id, t.occurrence, t.options, t.trace, t.meta), ',') filter (where t.fits and t.total <= 131072),
           min(t.xid) filter (where t.fits and t.xid <= k.x)
      into snap, found_n, n, last_x, k.seqs, k.ids, size, tracked, jobs, k.low_x
      from (select u.*, total <= bytes or u.nr = 1 as fits
              from (select v.*, sum(pulse.size_of(v.args, v.meta)) over w as total, row_number() over w as nr
                      from (select * from (
                              select j.* from
                                (select o.x, o.s from unnest(k.late_x, k.late_s) o(x, s) where pg_visible_in_snapshot(o.x, (select pg_current_snapshot()))) o,
                                lateral (select * from pulse.log j
                                          where j.lane_id = pulse.lane_id(claim_lane.queue, claim_lane.priority, claim_lane.lane)
                                            and j.queue = claim_lane.queue and j.priority = claim_lane.priority and j.lane = claim_lane.lane
                                            and j.xid = o.x and j.seq > o.s
                                          order by j.seq limit slots) j
                              union all
                              (select * from pulse.log j
                                where j.lane_id = pulse.lane_id(claim_lane.queue, claim_lane.priority, claim_lane.lane)
                                  and j.queue = claim_lane.queue and j.priority = claim_lane.priority and j.lane = claim_lane.lane
                                  and (j.xid, j.seq) > (k.x, k.s) and j.seq > k.floor_s
                                order by j.xid, j.seq limit slots)) both_
                             order by both_.xid, both_.seq limit slots) v
                    window w as (order by v.xid, v.seq rows unbounded preceding)) u) t;
  end if;
  cut := found_n = slots or n < found_n;          -- there may be more behind the last one
  last_s := k.seqs[n];
  gone := cardinality(k.late_x);
  select coalesce(array_agg(l.x), '{}'), coalesce(array_agg(l.s), '{}') into k.late_x, k.late_s
    from (select o.x, case when o.x = last_x then last_s else o.s end as s
            from unnest(k.late_x, k.late_s) o(x, s)
           where not pg_visible_in_snapshot(o.x, snap) or (cut and o.x >= last_x)
          union all
          select i, k.floor_s from pg_snapshot_xip(snap) i where i > k.x and i < last_x) l;    -- newly overtaken
  if n = 0 and cardinality(k.late_x) = gone then return; end if;
  if last_x > k.x or (last_x = k.x and last_s > k.s) then
    k.x := last_x;
    k.s := last_s;
  end if;
  k.ids := coalesce(k.ids, '{}');
  k.seqs := coalesce(k.seqs, '{}');
  claim := pulse.write_claim(k, executor, request, queue, priority, lane, drawn, tracked);
  if n = 0 then
    claim := null;                                 -- only the late list was trimmed
    return;
  end if;
  token := (select l.token from pulse.lease l where l.claim = claim_lane.claim);
  jobs := case when size <= 131072 then '[' || jobs || ']' end;
end $$;

-- claim_retrying: take jobs of one lane that waited together and are due. The caller holds the lane's lock, under which alone rows of
-- pulse.retrying are taken from or changed.
--
-- sent by   claim
-- takes     bytes: counted at 2 KiB a job, as larger ones do not wait here
-- returns   a batch per row of pulse.retrying, those due first; the last one may be cut, and its rest waits on
-- index     retrying_lane; log_id in the partitions that the row names
create function pulse.claim_retrying(executor bigint, request bigint, queue text, priority smallint, lane smallint, slots integer, bytes integer)
  returns table (claim bigint, token uuid, n integer, jobs text, size bigint)
  language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off
  set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  moment constant timestamptz := pulse.now();
  t      pulse.retrying;
  first  bigint;                                 -- their numbers, known before the question begins: see close
  last   bigint;
  whole  boolean;
begin
  slots := least(slots, greatest(bytes / 2048, 1));
  for t in
    select r.* from pulse.retrying r
     where (r.queue, r.priority, r.lane) >= (claim_retrying.queue, claim_retrying.priority, claim_retrying.lane)
       and (r.queue, r.priority, r.lane) <= (claim_retrying.queue, claim_retrying.priority, claim_retrying.lane) and r.run_at <= moment
     order by r.queue, r.priority, r.lane, r.run_at, r.id limit 32
  loop
    n := least(slots, cardinality(t.ids) - t.taken);
    if t.taken + n = cardinality(t.ids) then
      delete from pulse.retrying r where r.id = t.id;
    else
      update pulse.retrying r set taken = t.taken + claim_retrying.n where r.id = t.id;
    end if;
    t.ids := t.ids[t.taken + 1 : t.taken + n];
    t.seqs := t.seqs[t.taken + 1 : t.taken + n];
    insert into pulse.claim as c (token, executor, request, at, queue, priority, lane, n, x, s, late_x, late_s, floor_s, next_x, next_s, ids, seqs, retrying, attempt, charged)
      values (gen_random_uuid(), claim_retrying.executor, claim_retrying.request, moment, t.queue, t.priority, t.lane,
              -(t.id * 1048576 + t.taken), '0', t.taken, '{}', '{}', 0, '0', 0, t.ids, t.seqs, t.id, t.attempt, t.charged)
      returning c.id, c.token into claim, token;
    insert into pulse.lease (claim, token, executor, open)
      values (claim_retrying.claim, claim_retrying.token, claim_retrying.executor, repeat('1', n)::bit varying);
    select min(q), max(q) into first, last from unnest(t.seqs) q;
    select string_agg(pulse.wire(j.id, j.kind, j.args, t.attempt, t.charged, j.max_attempts, j.suspect, j.tenant, j.project, j.key,
                                 j.schedule_id, j.occurrence, j.options, j.trace, j.meta), ','),
           sum(pulse.size_of(j.args, j.meta)), array_agg(j.seq) = t.seqs
      into jobs, size, whole
      from (select * from pulse.log l where l.id = any (t.ids) and l.seq between first and last order by l.id, l.seq) j;
    jobs := case when whole then '[' || jobs || ']' end;       -- else (one is gone, or there twice) fetch tells them apart
    slots := slots - n;
    return next;
    exit when slots <= 0;
  end loop;
end $$;

-- write_claim: append `k`, the lane's next cursor, to the ledger, and lease its jobs if it has any.
--
-- returns   the claim's id
-- refused   by the unique key (lane, n) if another claim followed the same predecessor
create function pulse.write_claim(k pulse.claim, executor bigint, request bigint, queue text, priority smallint, lane smallint, drawn bigint, tracked integer[])
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if k.x >= k.next_x then                          -- the cursor has passed the remembered horizon: the floor moves
    k.floor_s := greatest(k.floor_s, k.next_s);
    k.next_s := drawn;
    k.next_x := pg_current_xact_id();
  end if;
  insert into pulse.claim (token, executor, request, at, queue, priority, lane, n, x, s, late_x, late_s, floor_s, next_x, next_s, low_x, ids, seqs)
    values (gen_random_uuid(), write_claim.executor, write_claim.request, pulse.now(), write_claim.queue, write_claim.priority, write_claim.lane,
            k.n + 1, k.x, k.s, k.late_x, k.late_s, k.floor_s, k.next_x, k.next_s, k.low_x, k.ids, k.seqs)
    returning id, token into k.id, k.token;
  if k.ids <> '{}' then
    insert into pulse.lease (claim, token, executor, open, tracked)
      values (k.id, k.token, write_claim.executor, repeat('1', cardinality(k.ids))::bit varying, write_claim.tracked);
  end if;
  return k.id;
end $$;

-- pass_lane: move a lane's cursor past the transactions that are open now, if it is empty and looking took so long.
--
-- returns   whether its cursor was moved
create function pulse.pass_lane(queue text, priority smallint, lane smallint, executor bigint, request bigint, drawn bigint, slow interval)
  returns boolean language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set jit = off
  set plan_cache_mode = force_generic_plan as $$
declare
  k     pulse.claim;
  snap  pg_snapshot;
  empty boolean;
  began timestamptz;
begin
  if not pg_try_advisory_xact_lock(1886745441, pulse.lane_lock(queue, priority, lane)) then return false; end if;
  k := pulse.cursor_of(queue, priority, lane);
  began := clock_timestamp();
  select pg_current_snapshot(), not exists (
      select from pulse.log j
       where j.lane_id = pulse.lane_id(pass_lane.queue, pass_lane.priority, pass_lane.lane)
         and j.queue = pass_lane.queue and j.priority = pass_lane.priority and j.lane = pass_lane.lane
         and (j.xid, j.seq) > (k.x, k.s) and j.seq > k.floor_s)
    into snap, empty;
  if not empty or clock_timestamp() - began < slow then return false; end if;
  k.late_x := k.late_x || array(select i from pg_snapshot_xip(snap) i where i > k.x order by i);
  k.late_s := k.late_s || array_fill(k.floor_s, array[cardinality(k.late_x) - cardinality(k.late_s)]);
  -- xmax is one past the highest COMPLETED transaction, so everything up to it is either visible or in the open list.
  k.x := greatest((pg_snapshot_xmax(snap)::text::numeric - 1)::text::xid8, k.x);
  k.s := 9223372036854775807;
  k.low_x := null;
  k.ids := '{}';
  k.seqs := '{}';
  perform pulse.write_claim(k, executor, request, queue, priority, lane, drawn, null);
  return true;
end $$;

-- pass_open: the same for all lanes of these queues. For polls that were slow because they
-- waded through the rows of one that has written a million jobs and not committed: from now on it is on the late list,
-- which is probed only once it has.
--
-- sent by   claim, after a slow poll that found nothing
create function pulse.pass_open(queues text[], executor bigint, request bigint, drawn bigint) returns void
  language sql set search_path = pg_catalog, pg_temp as $$
  select pulse.pass_lane(l.queue, l.priority, l.lane, executor, request, drawn, interval '2 ms')
    from pulse.lane l where l.queue = any (queues)
$$;

-- fetch: the jobs of a claim, for a batch that was too large to come with it or a reply that was lost.
--
-- sent by   claimer, after the claim's commit
-- returns   the jobs as one JSON array in the order of their positions; null if the lease is no longer that token's
create function pulse.fetch(claim bigint, token uuid) returns text
  language sql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
  select '[' || string_agg(coalesce(j.wire, 'null'), ',' order by u.ord) || ']'
    from pulse.claim c, unnest(c.ids, c.seqs) with ordinality u(id, seq, ord)
    left join lateral (
      select pulse.wire(d.id, d.kind, d.args, coalesce(c.attempt, d.attempt), coalesce(c.charged, d.charged), d.max_attempts, d.suspect,
                        d.tenant, d.project, d.key, d.schedule_id, d.occurrence, d.options, d.trace, d.meta) as wire
        from pulse.log d where d.id = u.id and d.seq = u.seq) j on true
   where c.id = $1 and exists (select from pulse.lease l where l.claim = $1 and l.token = $2)
$$;
