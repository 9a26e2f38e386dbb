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
--   put_off                     again after the delay (null: 1 s, twice as long each time, at most 60 s): it never started,
--                               because the executor has no handler of its kind
--   release                     again at once: it never started
--
-- A tick of a schedule that is delivered at most once is a dead letter also when it is lost or suspect: it may have started.

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

-- put_off_again: a job's options, counting how often it was put off; as they were, where there is no room for that.
create function pulse.put_off_again(options json) returns json language plpgsql immutable
  set search_path = pg_catalog, pg_temp as $$
declare
  counted json;
begin
  counted := jsonb_set(coalesce(options, '{}')::jsonb, '{put_off}', to_jsonb(least(pulse.times_put_off(options) + 1, 6)));
  return case when octet_length(counted::text) <= 8192 then counted else options end;
exception when others then
  return options;                                -- any language enqueues: what cannot be read must not sink the batch
end $$;

-- times_put_off: how often that has happened, counted up to 6, which is a minute.
create function pulse.times_put_off(options json) returns integer language plpgsql immutable
  set search_path = pg_catalog, pg_temp as $$
begin
  return case when options ->> 'put_off' ~ '^[0-6]$' then (options ->> 'put_off')::integer else 0 end;
exception when others then
  return 0;
end $$;

-- close: end deliveries that did not succeed. Set-based; an entry that is not ours (any more) changes nothing.
--
-- sent by   reporter; and fail, snooze, release, reap
-- takes     arrays of one length. delays_ms: null is "by policy". If a job is named twice, the first one counts.
-- returns   how many deliveries were ended
-- locks     the leases, in their order, until commit
-- index     log_id in the partitions that the ledger names
create function pulse.close(claims bigint[], tokens uuid[], positions integer[], endings text[], delays_ms bigint[], errors text[], took_us bigint[])
  returns bigint language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_mergejoin = off
  set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  first bigint;                                  -- their numbers, known before the question begins, so that only partitions
  last  bigint;                                  -- with such numbers are opened
  total bigint;
  q     text;
begin
  perform pulse.refuse_isolation();
  if not endings <@ array['fail', 'crash', 'dead', 'cancel', 'snooze', 'lost', 'suspect', 'put_off', 'release'] then
    raise exception 'an ending is none of those that close knows' using errcode = 'invalid_parameter_value';
  end if;
  select min(u.seq), max(u.seq) into first, last
    from (select l.claim from pulse.lease l where l.claim = any (claims) order by l.claim for update) l,
         lateral (select c.seqs from pulse.claim c where c.id = l.claim offset 0) c, unnest(c.seqs) u(seq);
  begin
    total := pulse.close_held(claims, tokens, positions, endings, delays_ms, errors, took_us, first, last, false);
  exception when unique_violation then           -- a job that is delayed already, under the same id: once more, with care
    total := pulse.close_held(claims, tokens, positions, endings, delays_ms, errors, took_us, first, last, true);
  end;
  if pg_sequence_last_value('pulse.parked') <> 0 then
    for q in select distinct c.queue from pulse.claim c where c.id = any (claims) loop
      perform pulse.wake(q);
    end loop;
  end if;
  return total;
end $$;

-- close_held: the same, with the leases locked.
--
-- sent by   close, whose settings its plans need
-- takes     first, last: the jobs have such numbers; careful: some may be delayed already. (Asking about each, as ON CONFLICT
--           does, costs 1.4 µs a job; so it is asked only when an insert was refused.)
--
-- Of the parts that are rarely needed none is run unless `sums` says so: each would read all verdicts again.
create function pulse.close_held(
  claims bigint[], tokens uuid[], positions integer[], endings text[], delays_ms bigint[], errors text[], took_us bigint[],
  first bigint, last bigint, careful boolean)
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
declare
  moment constant timestamptz := pulse.now();
  wished constant boolean := exists (select from pulse.cancel_request);
  total  bigint;
begin
  with held as materialized (                   -- once per claim; || makes copies of the arrays that are not fetched again per job
    select l.claim, l.token, l.executor, l.open, c.ids || '{}'::uuid[] as ids, c.seqs || '{}'::bigint[] as seqs
      from pulse.lease l, lateral (select c.ids, c.seqs from pulse.claim c where c.id = l.claim offset 0) c
     where l.claim = any (claims)),
  ours as materialized (
    select distinct on (e.claim, e.pos) e.claim, e.pos, e.ending, e.delay_ms, e.error, e.took_us, h.executor,
           h.ids[e.pos + 1] as id, h.seqs[e.pos + 1] as seq
      from (select unnest(claims) as claim, unnest(tokens) as token, unnest(positions) as pos, unnest(endings) as ending,
                   unnest(delays_ms) as delay_ms, unnest(errors) as error, unnest(took_us) as took_us, generate_subscripts(claims, 1) as ord) e
      join held h on h.claim = e.claim and h.token = e.token
     -- `case`, because `and` may look at the bit first, and one that is not there is an error.
     where case when e.pos between 0 and length(h.open) - 1 then get_bit(h.open, e.pos) = 1 end
     order by e.claim, e.pos, e.ord),
  rests as materialized (
    select h.claim, h.open & ~pulse.mask_of(p.positions, length(h.open)) as open
      from (select o.claim, array_agg(o.pos) as positions from ours o group by o.claim) p join held h on h.claim = p.claim),
  emptied as (
    delete from pulse.lease l using rests r where l.claim = any (claims) and l.claim = r.claim and bit_count(r.open) = 0),
  cleared as (
    update pulse.lease l set open = r.open from rests r where l.claim = any (claims) and l.claim = r.claim and bit_count(r.open) > 0),
  ended as not materialized (
    select o.claim, o.executor, o.ending, o.delay_ms, o.error, o.took_us, j.*,
           j.charged + (o.ending in ('fail', 'crash', 'dead'))::integer as charged_now,
           least(j.attempt + (o.ending not in ('put_off', 'release'))::integer, 32767) as attempt_next,
           case when j.schedule_id is not null then coalesce(j.options ->> 'at_most_once', '') = 'true' else false end as at_most_once,
           j.suspect or o.ending in ('suspect', 'crash') or (o.ending = 'lost' and j.attempt - j.charged >= 3) as suspect_next,
           case when o.ending = 'put_off' then pulse.put_off_again(j.options) else j.options end as options_next
      from ours o
      join pulse.log j on j.id = o.id and j.seq = o.seq
     where j.id = any (array(select i.id from ours i)) and j.seq between first and last),
  verdicts as materialized (
    select case when e.ending = 'cancel' then 'CANCELED'
                when e.ending = 'dead' or (e.ending in ('fail', 'crash') and e.charged_now >= e.max_attempts)
                  or (e.ending = 'crash' and 2 <= (select count(*) from pulse.failure f where f.id = e.id and f.ending = 'crash'))
                  or (e.ending in ('lost', 'suspect') and e.at_most_once) then 'DEAD_LETTERED' end as status,
           moment + case when e.ending in ('lost', 'suspect', 'release') then interval '0'
                         when e.delay_ms is not null then least(greatest(e.delay_ms, 0), 31622400000) * interval '1 ms'
                         when e.ending in ('fail', 'crash') then pulse.backoff(e.options, e.charged_now)
                         when e.ending = 'put_off' then least(60, 2 ^ pulse.times_put_off(e.options)) * (0.9 + 0.2 * random()) * interval '1 s'
                         else interval '1 s' end as run_at,
           e.*
      from ended e),
  sums as materialized (
    select count(*) as n, bool_or(v.status is not null) as ended, bool_or(v.status is not null and num_nonnulls(v.key, v.schedule_id) > 0) as keyed,
           bool_or(v.schedule_id is not null) as scheduled,
           bool_or(v.status is null and v.run_at = moment) as at_once
      from verdicts v),
  history as (
    insert into pulse.failure (id, attempt, charged, ending, claim, executor, at, took_us, error)
      select v.id, v.attempt, v.charged_now, v.ending, v.claim, v.executor, moment, v.took_us, v.error
        from verdicts v where v.ending not in ('put_off', 'release')),
  finished as (
    insert into pulse.outcome (id, status, at, reason, submitted_at, priority, lane, attempt, charged, max_attempts, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      select v.id, v.status, moment, v.error, v.submitted_at, v.priority, v.lane, v.attempt, v.charged_now, v.max_attempts, v.queue, v.kind, v.args, v.tenant, v.project, v.key, v.schedule_id, v.occurrence, v.options, v.trace, v.meta
        from verdicts v where (select s.ended from sums s) and v.status is not null
      on conflict (id) do nothing),
  freed as (
    select pulse.free_keys(array(select v.id from verdicts v where v.status is not null and num_nonnulls(v.key, v.schedule_id) > 0)) from sums s where s.keyed),
  counted as (                                  -- by the ledger, and not by what a producer may have said
    insert into pulse.schedule_ending (schedule_id, occurrence, at, ending, error)
      select v.schedule_id, v.occurrence, moment,
             case when v.status is null then 'failed' when v.status = 'CANCELED' then 'canceled' when v.at_most_once and v.ending <> 'fail' then 'lost' else 'dead' end, left(v.error, 2000)
        from verdicts v
       where (select s.scheduled from sums s) and v.schedule_id is not null and v.ending not in ('put_off', 'release', 'snooze')
         and v.schedule_id = (select o.schedule_id from pulse.occurrence o where o.job_id = v.id limit 1)),
  unwished as (
    delete from pulse.cancel_request r using verdicts v where wished and r.id = v.id and r.claim = v.claim),
  later as (
    insert into pulse.delayed (id, run_at, submitted_at, priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      select v.id, v.run_at, v.submitted_at, v.priority, v.lane, v.attempt_next, v.charged_now, v.max_attempts, v.suspect_next, v.queue, v.kind, v.args, v.tenant, v.project, v.key, v.schedule_id, v.occurrence, v.options_next, v.trace, v.meta
        from verdicts v where not careful and v.status is null and v.run_at > moment),
  later_with_care as (
    insert into pulse.delayed (id, run_at, submitted_at, priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      select v.id, v.run_at, v.submitted_at, v.priority, v.lane, v.attempt_next, v.charged_now, v.max_attempts, v.suspect_next, v.queue, v.kind, v.args, v.tenant, v.project, v.key, v.schedule_id, v.occurrence, v.options_next, v.trace, v.meta
        from verdicts v where careful and v.status is null and v.run_at > moment
      on conflict (id) do nothing),
  again as (
    insert into pulse.log (submitted_at, id, lane_id, priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      select v.submitted_at, v.id, v.lane_id, v.priority, v.lane, v.attempt_next, v.charged_now, v.max_attempts, v.suspect_next, v.queue, v.kind, v.args, v.tenant, v.project, v.key, v.schedule_id, v.occurrence, v.options_next, v.trace, v.meta
        from verdicts v where (select s.at_once from sums s) and v.status is null and v.run_at = moment
      returning id, seq),
  seats as (
    insert into pulse.place (id, seq) select a.id, a.seq from again a)
  select s.n + 0 * (select count(*) from freed) into total from sums s;
  return total;
end $$;

-- close_following: close, and enqueue what these jobs asked for among [[claim, position, job], …]: with their ending or not at
-- all. Those of a job that is not ours (any more) are dropped.
create function pulse.close_following(
  claims bigint[], tokens uuid[], positions integer[], endings text[], delays_ms bigint[], errors text[], took_us bigint[], follow_ups json)
  returns bigint language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  r record;
begin
  perform pulse.refuse_isolation();
  perform from pulse.lease l where l.claim = any (claims) order by l.claim for update;
  for r in
    select l.claim, l.open & pulse.mask_of(array_agg(e.pos), length(l.open)) as hit
      from unnest(claims, tokens, positions) e(claim, token, pos)
      join pulse.lease l on l.claim = e.claim and l.token = e.token
     where e.pos between 0 and length(l.open) - 1
     group by l.claim, l.open order by l.claim
  loop
    perform pulse.add_follow_ups(r.claim, r.hit, follow_ups);
  end loop;
  return pulse.close(claims, tokens, positions, endings, delays_ms, errors, took_us);
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
