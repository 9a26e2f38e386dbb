-- Settling: the jobs of a claim that succeeded. Clearing a bit of the lease is the acknowledgment; a missing row, bit or
-- token is the fence.

-- refuse_isolation: guarded statements read what is true now, not what was true when their transaction began.
create function pulse.refuse_isolation() returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'this needs READ COMMITTED, not %', upper(current_setting('transaction_isolation')) using errcode = 'active_sql_transaction';
  end if;
end $$;

-- settle: these jobs succeeded.
--
-- sent by   reporter, in batches
-- takes     claims, tokens and masks, one each (bit i is position i; entries of one claim are merged); took_us: how long each
--           ran, for all set bits of all masks in turn; results: an array of [claim, position, result];
--           follow_ups: an array of [claim, position, job], a job as in enqueue_many's `rest` with kind, args, queue,
--           priority and id. Those of a job that is not settled here are dropped: it belongs to another delivery now.
-- returns   how many were settled, and the claims of which at least one job was no longer ours. An entry that is not ours, or
--           whose mask is not as long as its claim, changes nothing and sinks nobody
-- locks     the leases, in their order, until commit
create function pulse.settle(
  claims bigint[], tokens uuid[], masks bit varying[], took_us integer[],
  results json default null, follow_ups json default null, out settled bigint, out stale bigint[])
  language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off
  set plan_cache_mode = force_generic_plan as $$
declare
  r       record;
  moment  constant timestamptz := pulse.now();
  offset_ integer := 0;
  bits    integer;
  took    integer[];
  tracked uuid[];
begin
  perform pulse.refuse_isolation();
  settled := 0;
  stale := '{}';
  if cardinality(claims) <> (select count(distinct c) from unnest(claims) c) then
    -- Below each lease is looked at once: a second entry would bring back bits that the first one has cleared.
    select m.* into claims, tokens, masks, took_us from pulse.merge_masks(claims, tokens, masks, took_us) m;
  end if;
  -- Locked in one order before anything is decided; a lease may have changed while we waited for it.
  perform from pulse.lease l where l.claim = any (claims) order by l.claim for update;
  for r in
    select a.claim, a.mask, l.executor, l.open, l.tracked, a.mask & l.open as hit, l.open & ~a.mask as rest
      from unnest(claims, tokens, masks) with ordinality a(claim, token, mask, ord)
      left join pulse.lease l on l.claim = a.claim and l.token = a.token and length(l.open) = length(a.mask)
     order by a.ord
  loop
    bits := coalesce(bit_count(r.mask), 0);
    took := took_us[offset_ + 1 : offset_ + bits];
    offset_ := offset_ + bits;
    if r.hit is null or r.hit <> r.mask then
      stale := stale || r.claim;
      continue when r.hit is null or bit_count(r.hit) = 0;
      took := pulse.took_of(r.mask, r.hit, took);
    end if;
    if bit_count(r.rest) = 0 then
      delete from pulse.lease l where l.claim = r.claim;
    else
      update pulse.lease l set open = r.rest where l.claim = r.claim;
    end if;
    insert into pulse.done (claim, at, mask, took_us) values (r.claim, moment, r.hit, took);
    settled := settled + bit_count(r.hit);
    if r.tracked is not null then
      tracked := array(select c.ids[t + 1] from pulse.claim c, unnest(r.tracked) t where c.id = r.claim and get_bit(r.hit, t) = 1);
      perform pulse.free_keys(tracked);
      perform pulse.note_successes(tracked, moment);
    end if;
    if results is not null then
      perform pulse.keep_results(r.claim, r.hit, results, moment);
    end if;
    if follow_ups is not null then
      perform pulse.add_follow_ups(r.claim, r.hit, follow_ups);
    end if;
  end loop;
end $$;

-- merge_masks: the same report with the masks of each claim merged: of its entries with the same token and length, as others
-- are not ours. A job that is named twice ran for as long as its first entry says.
create function pulse.merge_masks(inout claims bigint[], inout tokens uuid[], inout masks bit varying[], inout took_us integer[])
  language sql immutable set search_path = pg_catalog, pg_temp as $$
  with entries as (
    select a.claim, a.token, a.mask, length(a.mask) as bits, a.ord
      from unnest(claims, tokens, masks) with ordinality a(claim, token, mask, ord)),
  merged as (
    select e.claim, e.token, e.bits, bit_or(e.mask) as mask, min(e.ord) as ord from entries e group by e.claim, e.token, e.bits),
  ran as (
    select e.claim, e.token, e.bits, e.ord, p as pos, took_us[row_number() over (order by e.ord, p)] as took
      from entries e, generate_series(0, e.bits - 1) p where get_bit(e.mask, p) = 1),
  once as (
    select distinct on (m.ord, r.pos) m.ord, r.pos, r.took
      from merged m join ran r on r.claim = m.claim and r.token is not distinct from m.token and r.bits = m.bits
     order by m.ord, r.pos, r.ord)
  select array_agg(m.claim order by m.ord), array_agg(m.token order by m.ord), array_agg(m.mask::bit varying order by m.ord),
         (select coalesce(array_agg(o.took order by o.ord, o.pos), '{}') from once o)
    from merged m
$$;

-- took_of: of the times for the set bits of `mask`, those for the set bits of `hit`, a part of it.
create function pulse.took_of(mask bit varying, hit bit varying, took integer[]) returns integer[] language sql immutable
  set search_path = pg_catalog, pg_temp as $$
  select coalesce(array_agg(t.took order by t.pos), '{}')
    from (select p as pos, took[row_number() over (order by p)] as took from generate_series(0, length(mask) - 1) p where get_bit(mask, p) = 1) t
   where get_bit(hit, t.pos) = 1
$$;

-- free_keys: these jobs are finished; keys that were theirs for so long may be taken again, and so may the runs of schedules.
create function pulse.free_keys(ids uuid[]) returns void language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
begin
  delete from pulse.key k where k.id = any (ids) and k.until is null;
  delete from pulse.schedule_run r where r.job_id = any (ids);
end $$;

-- keep_results: the results among [[claim, position, result], …] that belong to the jobs of `hit`.
create function pulse.keep_results(claim bigint, hit bit varying, results json, at timestamptz) returns void language sql
  set search_path = pg_catalog, pg_temp as $$
  insert into pulse.result (id, at, result)
    select c.ids[(e -> 1)::text::integer + 1], keep_results.at, e -> 2
      from json_array_elements(results) e join pulse.claim c on c.id = keep_results.claim
     where (e -> 0)::text::bigint = keep_results.claim
       and case when (e -> 1)::text::integer between 0 and length(hit) - 1 then get_bit(hit, (e -> 1)::text::integer) = 1 end
    on conflict (id) do update set at = excluded.at, result = excluded.result
$$;

-- How far running jobs say they are: the newest word of each.
create table pulse.progress (
  id      uuid        primary key,
  attempt smallint    not null,
  at      timestamptz not null,
  done    float8      not null,
  total   float8,
  note    text
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index progress_at on pulse.progress (at);

-- note_progress: what running jobs said last. Best effort: nothing waits for it, and it may be lost in a crash.
--
-- sent by   reporter, when there is nothing more urgent
-- takes     arrays of one length, each job once; an earlier attempt's word does not replace a later one's
create function pulse.note_progress(ids uuid[], attempts smallint[], dones float8[], totals float8[], notes text[]) returns void
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into pulse.progress as p (id, attempt, at, done, total, note)
    select u.id, u.attempt, pulse.now(), u.done, u.total, u.note
      from unnest(ids, attempts, dones, totals, notes) u(id, attempt, done, total, note) order by u.id
    on conflict (id) do update set attempt = excluded.attempt, at = excluded.at, done = excluded.done, total = excluded.total, note = excluded.note
      where p.attempt <= excluded.attempt;
end $$;

-- add_follow_ups: enqueue what the jobs of `hit` asked for among [[claim, position, job], …].
--
-- refused   with PU503 if a key is held by a producer's transaction that is still open, or the log by whoever makes or drops a
--           partition: the reporter asks again later, and nobody else's outcome waits for them
create function pulse.add_follow_ups(claim bigint, hit bit varying, follow_ups json) returns void language plpgsql
  set search_path = pg_catalog, pg_temp set lock_timeout = '100ms' as $$
begin
  perform pulse.enqueue_many(array_agg(coalesce(o.id, pulse.uuid7())), array_agg(o.kind), array_agg(coalesce(o.args::text, '{}')), array_agg(coalesce(o.queue, 'default')),
                             array_agg(coalesce(o.priority, 0::smallint)), array_agg(nullif((e -> 2 -> 'rest')::text, 'null')::json))
    from json_array_elements(follow_ups) e,
         json_to_record(e -> 2) o(id uuid, kind text, args json, queue text, priority smallint)
   where (e -> 0)::text::bigint = claim
     and case when (e -> 1)::text::integer between 0 and length(hit) - 1 then get_bit(hit, (e -> 1)::text::integer) = 1 end
  having count(*) > 0;
exception when lock_not_available then
  raise exception 'a follow-up waits for another transaction, which holds its key or the log' using errcode = 'PU503';
end $$;
