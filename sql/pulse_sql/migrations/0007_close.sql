-- Closing: the jobs of a claim that ended otherwise than by success, each with an ending that says what becomes of it:
--
--   ending    charged  attempt  then
--   fail      + 1      + 1      retried after the delay (null: by policy), or a dead letter when the budget is used up
--   crash     + 1      + 1      like fail, marked suspect; a dead letter after three crashes whatever the budget
--   dead      + 1               a dead letter
--   cancel                      canceled
--   snooze             + 1      again after the delay
--   lost               + 1      again at once; marked suspect from the third loss on
--   suspect            + 1      again at once, marked suspect
--   put_off                     again after the delay: it never started (an unknown kind)
--   release                     again at once: it never started

-- backoff: when to try again after `charged` failures: by the job's policy, else charged² seconds, ± 10 %.
--
-- takes     options.retry: {"kind": "exponential"|"fixed"|"list", "first_s", "factor", "delays_s", "cap_s"}
create function pulse.backoff(options json, charged integer) returns interval language plpgsql volatile
  set search_path = pg_catalog, pg_temp as $$
declare
  policy constant json := options -> 'retry';
  delays constant json := policy -> 'delays_s';
  s float8;
begin
  s := case policy ->> 'kind'
         when 'fixed' then (policy ->> 'first_s')::float8
         when 'list' then (delays ->> least(charged - 1, json_array_length(delays) - 1))::float8
         when 'exponential' then (policy ->> 'first_s')::float8 * least((policy ->> 'factor')::float8 ^ (charged - 1), 1e9)
         else charged::float8 * charged end;
  s := greatest(least(s, coalesce((policy ->> 'cap_s')::float8, 86400)), 0) * (0.9 + 0.2 * random());
  return s * interval '1 s';
exception when others then
  return least(charged * charged, 86400) * interval '1 s';     -- a policy that cannot be read must not sink the batch
end $$;

-- close: end deliveries that did not succeed. Set-based; an entry that is not ours (any more) changes nothing.
--
-- sent by   reporter; and fail, snooze, release, reap
-- takes     arrays of one length. delays_ms: null is "by policy". If a job is named twice, the first one counts.
-- returns   how many deliveries were ended
-- locks     the leases, in their order, until commit
-- index     log_id in the one partition that the ledger names
create function pulse.close(claims bigint[], tokens uuid[], positions integer[], endings text[], delays_ms bigint[], errors text[], took_us bigint[])
  returns bigint language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  moment constant timestamptz := pulse.now();
  first bigint;                                  -- their numbers, known before the question begins, so that only partitions
  last  bigint;                                  -- with such numbers are opened
  wished constant boolean := exists (select from pulse.cancel_request);
  total bigint;
  q     text;
  woken text[];
begin
  perform pulse.refuse_isolation();
  if exists (select from unnest(endings) e where e is null or e not in ('fail', 'crash', 'dead', 'cancel', 'snooze', 'lost', 'suspect', 'put_off', 'release')) then
    raise exception 'an ending is none of those that close knows' using errcode = 'invalid_parameter_value';
  end if;
  perform from pulse.lease l where l.claim = any (claims) order by l.claim for update;
  select min(u.seq), max(u.seq) into first, last from pulse.claim c, unnest(c.seqs) u(seq) where c.id = any (claims);
  with ours as materialized (
    select distinct on (e.claim, e.pos) e.claim, e.pos, e.ending, e.delay_ms, e.error, e.took_us, l.executor
      from unnest(claims, tokens, positions, endings, delays_ms, errors, took_us) with ordinality e(claim, token, pos, ending, delay_ms, error, took_us, ord)
      join pulse.lease l on l.claim = e.claim and l.token = e.token
     -- `case`, because `and` may look at the bit first, and one that is not there is an error.
     where case when e.pos between 0 and length(l.open) - 1 then get_bit(l.open, e.pos) = 1 end
     order by e.claim, e.pos, e.ord),
  masks as materialized (
    select p.claim, pulse.mask_of(p.positions, length(l.open)) as mask
      from (select o.claim, array_agg(o.pos) as positions from ours o group by o.claim) p join pulse.lease l on l.claim = p.claim),
  emptied as (
    delete from pulse.lease l using masks m where l.claim = m.claim and bit_count(l.open & ~m.mask) = 0),
  cleared as (
    update pulse.lease l set open = l.open & ~m.mask from masks m where l.claim = m.claim and bit_count(l.open & ~m.mask) > 0),
  places as materialized (                      -- the ledger says where each job is; || makes a copy that is not read again per job
    select m.claim, c.ids || '{}'::uuid[] as ids, c.seqs || '{}'::bigint[] as seqs from masks m join pulse.claim c on c.id = m.claim),
  ended as not materialized (
    select o.claim, o.executor, o.ending, o.delay_ms, o.error, o.took_us, j.*,
           j.charged + (o.ending in ('fail', 'crash', 'dead'))::integer as charged_now,
           least(j.attempt + (o.ending not in ('put_off', 'release'))::integer, 32767) as attempt_next,
           j.suspect or o.ending in ('suspect', 'crash') or (o.ending = 'lost' and j.attempt - j.charged >= 3) as suspect_next
      from ours o
      join places p on p.claim = o.claim
      join pulse.log j on j.id = p.ids[o.pos + 1] and j.seq = p.seqs[o.pos + 1] and j.seq between first and last),
  verdicts as materialized (
    select e.*,
           case when e.ending = 'cancel' then 'CANCELED'
                when e.ending = 'dead' or (e.ending in ('fail', 'crash') and e.charged_now >= e.max_attempts)
                  or (e.ending = 'crash' and 2 <= (select count(*) from pulse.failure f where f.id = e.id and f.ending = 'crash')) then 'DEAD_LETTERED' end as status,
           case when e.ending in ('lost', 'suspect', 'release') then interval '0'
                when e.delay_ms is not null then least(greatest(e.delay_ms, 0), 31622400000) * interval '1 ms'
                when e.ending in ('fail', 'crash') then pulse.backoff(e.options, e.charged_now)
                else interval '1 s' end as delay
      from ended e),
  history as (
    insert into pulse.failure (id, attempt, charged, ending, claim, executor, at, took_us, error)
      select v.id, v.attempt, v.charged_now, v.ending, v.claim, v.executor, moment, v.took_us, v.error
        from verdicts v where v.ending not in ('put_off', 'release')),
  finished as (
    insert into pulse.outcome (id, status, at, reason, submitted_at, priority, lane, attempt, charged, max_attempts, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      select v.id, v.status, moment, v.error, v.submitted_at, v.priority, v.lane, v.attempt, v.charged_now, v.max_attempts, v.queue, v.kind, v.args, v.tenant, v.project, v.key, v.schedule_id, v.occurrence, v.options, v.trace, v.meta
        from verdicts v where v.status is not null
      on conflict (id) do nothing
      returning id),
  freed as (
    select pulse.free_keys(array(select v.id from verdicts v where v.status is not null and v.key is not null))
     where exists (select from verdicts v where v.status is not null and v.key is not null)),
  unwished as (
    delete from pulse.cancel_request r using verdicts v where wished and r.id = v.id and r.claim = v.claim),
  later as (
    insert into pulse.delayed (id, run_at, submitted_at, priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      select v.id, moment + v.delay, v.submitted_at, v.priority, v.lane, v.attempt_next, v.charged_now, v.max_attempts, v.suspect_next, v.queue, v.kind, v.args, v.tenant, v.project, v.key, v.schedule_id, v.occurrence, v.options, v.trace, v.meta
        from verdicts v where v.status is null and v.delay > interval '0'
      on conflict (id) do nothing),
  again as (
    insert into pulse.log (submitted_at, id, priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      select v.submitted_at, v.id, v.priority, v.lane, v.attempt_next, v.charged_now, v.max_attempts, v.suspect_next, v.queue, v.kind, v.args, v.tenant, v.project, v.key, v.schedule_id, v.occurrence, v.options, v.trace, v.meta
        from verdicts v where v.status is null and v.delay = interval '0'
      returning id, seq),
  seats as (
    insert into pulse.place (id, seq) select a.id, a.seq from again a)
  select count(*), array_agg(distinct v.queue) filter (where v.status is null), count((select 1 from freed))
    into total, woken, q
    from verdicts v;
  if pg_sequence_last_value('pulse.parked') <> 0 then
    foreach q in array coalesce(woken, '{}') loop
      perform pulse.wake(q);
    end loop;
  end if;
  return total;
end $$;

-- mask_of: a bitmap with these positions set.
create function pulse.mask_of(positions integer[], bits integer) returns bit varying language plpgsql immutable
  set search_path = pg_catalog, pg_temp as $$
declare
  mask bit varying := repeat('0', bits)::bit varying;
  p    integer;
begin
  foreach p in array positions loop
    mask := set_bit(mask, p, 1);
  end loop;
  return mask;
end $$;

-- fail: these deliveries failed; retried by policy or after the given delays, or dead letters when the budget is used up.
create function pulse.fail(claims bigint[], tokens uuid[], positions integer[], errors text[], delays_ms bigint[] default null, took_us bigint[] default null)
  returns bigint language sql set search_path = pg_catalog, pg_temp as $$
  select pulse.close(claims, tokens, positions, array_fill('fail'::text, array[cardinality(claims)]),
    coalesce(delays_ms, array_fill(null::bigint, array[cardinality(claims)])), errors, coalesce(took_us, array_fill(null::bigint, array[cardinality(claims)])))
$$;

-- snooze: these deliveries asked to be run again later; nothing is charged.
create function pulse.snooze(claims bigint[], tokens uuid[], positions integer[], delays_ms bigint[]) returns bigint
  language sql set search_path = pg_catalog, pg_temp as $$
  select pulse.close(claims, tokens, positions, array_fill('snooze'::text, array[cardinality(claims)]), delays_ms,
    array_fill(null::text, array[cardinality(claims)]), array_fill(null::bigint, array[cardinality(claims)]))
$$;

-- release: give these deliveries back as if they had never been claimed: they never started.
create function pulse.release(claims bigint[], tokens uuid[], positions integer[]) returns bigint
  language sql set search_path = pg_catalog, pg_temp as $$
  select pulse.close(claims, tokens, positions, array_fill('release'::text, array[cardinality(claims)]), array_fill(null::bigint, array[cardinality(claims)]),
    array_fill(null::text, array[cardinality(claims)]), array_fill(null::bigint, array[cardinality(claims)]))
$$;
