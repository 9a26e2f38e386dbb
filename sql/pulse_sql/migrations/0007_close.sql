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

-- backoff: when to try again after `charged` failures: by the job's policy, else charged² seconds. ± 10 %, but for delays that were
-- said as such (fixed, list), and never beyond the cap.
--
-- takes     options.retry: {"kind": "exponential"|"fixed"|"list", "first_s", "factor", "delays_s", "cap_s"}
create function pulse.backoff(options json, charged integer) returns interval language plpgsql volatile
  set search_path = pg_catalog, pg_temp as $$
declare
  policy constant json := options -> 'retry';
  delays constant json := policy -> 'delays_s';
  cap    float8;
  s      float8;
begin
  cap := coalesce((policy ->> 'cap_s')::float8, 86400);
  s := case policy ->> 'kind'
         when 'fixed' then (policy ->> 'first_s')::float8
         when 'list' then (delays ->> least(charged - 1, json_array_length(delays) - 1))::float8
         when 'exponential' then (policy ->> 'first_s')::float8 * least((policy ->> 'factor')::float8 ^ (charged - 1), 1e9)
         else charged::float8 * charged end;
  if coalesce(policy ->> 'kind', '') not in ('fixed', 'list') then
    s := least(s, cap) * (0.9 + 0.2 * random());
  end if;
  return greatest(least(s, cap), 0) * interval '1 s';
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

-- step_up: a delay a little longer, by a sixteenth and by a second at most, so that many that are nearly the same become one.
create function pulse.step_up(delay_ms bigint) returns bigint language sql immutable parallel safe
  return case when delay_ms < 32 then delay_ms
              when delay_ms >= 16000 then (delay_ms + 999) / 1000 * 1000
              when delay_ms >= 8000 then (delay_ms + 499) / 500 * 500
              when delay_ms >= 4000 then (delay_ms + 249) / 250 * 250
              when delay_ms >= 2000 then (delay_ms + 124) / 125 * 125
              when delay_ms >= 1000 then (delay_ms + 61) / 62 * 62
              when delay_ms >= 512 then (delay_ms + 31) / 32 * 32
              when delay_ms >= 128 then (delay_ms + 7) / 8 * 8
              else (delay_ms + 1) / 2 * 2 end;

-- One that was closed: which delivery it was, and how it ended. attempt, charged: null is as the log says.
create type pulse.closed as (
  claim bigint, executor bigint, attempt smallint, charged smallint, id uuid, seq bigint,
  ending text, delay_ms bigint, error text, took_us bigint);

-- close: end deliveries that did not succeed. Set-based; an entry that is not ours (any more) changes nothing.
--
-- sent by   reporter; and fail, snooze, release, reap
-- takes     arrays of one length. tokens: null is that of another entry of this call (36 characters are a tenth of what a failure
--           costs); delays_ms: null is "by policy". If a job is named twice, the first one counts.
-- returns   how many deliveries were ended
-- locks     the leases, in their order, until commit
-- index     log_id in the partitions that the ledger names
--
-- Failed jobs that have nothing rare and are to be tried again soon wait together, if there are eight or more that have the lane, the
-- attempt and (rounded up a little) the moment in common: a row of pulse.retrying for all of them, and nothing more in the log. All
-- others are left to close_apart.
create function pulse.close(claims bigint[], tokens uuid[], positions integer[], endings text[], delays_ms bigint[], errors text[], took_us bigint[])
  returns bigint language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_mergejoin = off
  set enable_nestloop = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  moment constant timestamptz := pulse.now();
  first  bigint;                                 -- their numbers, known before the log is asked, so that only partitions with
  last   bigint;                                 -- such numbers are opened
  apart  pulse.closed[];
  total  bigint;
  q      text;
begin
  perform pulse.refuse_isolation();
  if not endings <@ array['fail', 'crash', 'dead', 'cancel', 'snooze', 'lost', 'suspect', 'put_off', 'release'] then
    raise exception 'an ending is none of those that close knows' using errcode = 'invalid_parameter_value';
  end if;
  select min(s.first), max(s.last) into first, last
    from (select l.claim from pulse.lease l where l.claim = any (claims) order by l.claim for update) l,
         lateral (select min(u) as first, max(u) as last from (select c.seqs from pulse.claim c where c.id = l.claim) c, unnest(c.seqs) u) s;
  with held as materialized (                   -- once per claim; || makes copies of the arrays that are not fetched again per job
    select l.claim, l.token, l.executor, l.open, c.ids || '{}'::uuid[] as ids, c.seqs || '{}'::bigint[] as seqs, c.attempt, c.charged
      from pulse.lease l, lateral (select c.ids, c.seqs, c.attempt, c.charged from pulse.claim c where c.id = l.claim offset 0) c
     where l.claim = any (claims) and l.token = any (tokens)),
  ours as materialized (
    select distinct on (e.claim, e.pos) e.claim, e.pos, h.executor, h.attempt, h.charged, h.ids[e.pos + 1] as id, h.seqs[e.pos + 1] as seq,
           e.ending, e.delay_ms, e.error, e.took_us
      from (select unnest(claims) as claim, unnest(tokens) as token, unnest(positions) as pos, unnest(endings) as ending,
                   unnest(delays_ms) as delay_ms, unnest(errors) as error, unnest(took_us) as took_us, generate_subscripts(claims, 1) as ord) e
      join held h on h.claim = e.claim
     -- `case`, because `and` may look at the bit first, and one that is not there is an error.
     where case when e.pos between 0 and length(h.open) - 1 then get_bit(h.open, e.pos) = 1 end and (e.token is null or e.token = h.token)
     order by e.claim, e.pos, e.ord),
  rests as materialized (
    select h.claim, case when bit_count(h.open) > cardinality(p.positions) then h.open & ~pulse.mask_of(p.positions, length(h.open)) end as open
      from (select o.claim, array_agg(o.pos) as positions from ours o group by o.claim) p join held h on h.claim = p.claim),
  emptied as (
    delete from pulse.lease l using rests r where l.claim = any (claims) and l.claim = r.claim and r.open is null),
  cleared as (
    update pulse.lease l set open = r.open from rests r where l.claim = any (claims) and l.claim = r.claim and r.open is not null),
  failed as materialized (
    select o.claim, o.executor, o.id, o.seq, o.error, o.took_us, j.queue, j.priority, j.lane, a.attempt, a.charged, pulse.step_up(a.delay_ms) as delay_ms
      from ours o
      join pulse.log j on j.id = o.id and j.seq = o.seq
      cross join lateral (
        select coalesce(o.attempt, j.attempt) as attempt, (coalesce(o.charged, j.charged) + 1)::smallint as charged,
               coalesce(o.delay_ms, (extract(epoch from pulse.backoff(j.options, coalesce(o.charged, j.charged) + 1)) * 1000)::bigint) as delay_ms
        offset 0) a
     where j.id = any (array(select i.id from ours i where i.ending = 'fail')) and j.seq between first and last and o.ending = 'fail'
       and a.charged < j.max_attempts and a.attempt < 32767 and a.delay_ms between 1 and 600000
       and not j.suspect and num_nonnulls(j.key, j.schedule_id) = 0 and pulse.size_of(j.args, j.meta) <= 2048),
  together as materialized (
    select nextval('pulse.retrying_id_seq') as id, g.*
      from (select f.queue, f.priority, f.lane, f.attempt, f.charged, f.delay_ms, array_agg(f.id) as ids, array_agg(f.seq) as seqs, (array_agg(f.id))[1] as first
              from (select queue, priority, lane, attempt, charged, delay_ms, id, seq from failed order by id, seq) f
             group by f.queue, f.priority, f.lane, f.attempt, f.charged, f.delay_ms having count(*) >= 8) g),
  waiting as (
    insert into pulse.retrying (id, run_at, queue, priority, lane, attempt, charged, ids, seqs)
      select t.id, moment + t.delay_ms * interval '1 ms', t.queue, t.priority, t.lane, t.attempt + 1, t.charged, t.ids, t.seqs from together t),
  history as (
    insert into pulse.failure (id, attempt, charged, ending, claim, executor, at, took_us, error, retrying, together)
      select f.id, f.attempt, f.charged, 'fail', f.claim, f.executor, moment, f.took_us, f.error, t.id, case when f.id = t.first then t.ids end
        from failed f
        join together t on t.delay_ms = f.delay_ms and t.queue = f.queue and t.priority = f.priority and t.lane = f.lane
                       and t.attempt = f.attempt and t.charged = f.charged)
  select (select coalesce(sum(cardinality(t.ids)), 0) from together t),
         case when (select count(*) from ours) > (select coalesce(sum(cardinality(t.ids)), 0) from together t)
              then array(select (o.claim, o.executor, o.attempt, o.charged, o.id, o.seq, o.ending, o.delay_ms, o.error, o.took_us)::pulse.closed
                           from ours o where o.seq not in (select unnest(t.seqs) from together t)) end
    into total, apart;
  if apart is not null then
    begin
      total := total + pulse.close_apart(apart, moment, first, last, false);
    exception when unique_violation then         -- a job that is delayed already, under the same id: once more, with care
      total := total + pulse.close_apart(apart, moment, first, last, true);
    end;
  end if;
  -- Wishes to cancel what runs no longer.
  if exists (select from pulse.cancel_request) then
    delete from pulse.cancel_request r
     where r.claim = any (claims) and not exists (select from pulse.lease l where l.claim = r.claim and get_bit(l.open, r.pos) = 1);
  end if;
  if pg_sequence_last_value('pulse.parked') <> 0 then
    for q in select distinct c.queue from pulse.claim c where c.id = any (claims) loop
      perform pulse.wake(q);
    end loop;
  end if;
  return total;
end $$;

-- What is to become of a delivery that was closed.
create type pulse.verdict as (
  status text, run_at timestamptz, ending text, error text, id uuid, submitted_at timestamptz, lane_id bigint, priority smallint, lane smallint,
  attempt smallint, attempt_next smallint, charged_now smallint, max_attempts smallint, suspect_next boolean, queue text, kind text, args json,
  tenant text, project text, key text, schedule_id uuid, occurrence timestamptz, at_most_once boolean, options json, trace text, meta json);

-- close_apart: decide what becomes of these, one by one, and write the history of those that started.
--
-- sent by   close, whose settings its plans need
-- takes     first, last: the jobs have such numbers; careful: some may be delayed already. (Asking about each, as ON CONFLICT
--           does, costs 1.4 µs a job; so it is asked only when an insert was refused.)
-- returns   how many these were: less if some are no longer in the log
-- index     log_id in the partitions that have such numbers
create function pulse.close_apart(ours pulse.closed[], moment timestamptz, first bigint, last bigint, careful boolean) returns bigint
  language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  verdicts pulse.verdict[];
begin
  -- `case`, failures first, where `in` would ask for less but compare for longer.
  with ended as not materialized (
    select o.claim, o.executor, o.ending, o.error, o.took_us, a.attempt,
           j.id, j.seq, j.submitted_at, j.lane_id, j.priority, j.lane, j.max_attempts, j.queue, j.kind, j.args, j.tenant, j.project, j.key,
           j.schedule_id, j.occurrence, j.options, j.trace, j.meta,
           (a.charged + case o.ending when 'fail' then 1 when 'crash' then 1 when 'dead' then 1 else 0 end)::smallint as charged_now,
           least(a.attempt + case o.ending when 'fail' then 1 when 'put_off' then 0 when 'release' then 0 else 1 end, 32767)::smallint as attempt_next,
           case when j.schedule_id is not null then coalesce(j.options ->> 'at_most_once', '') = 'true' else false end as at_most_once,
           j.suspect or case o.ending when 'fail' then false when 'suspect' then true when 'crash' then true
                                      when 'lost' then a.attempt - a.charged >= 3 else false end as suspect_next,
           case when o.ending = 'put_off' then pulse.put_off_again(j.options) else j.options end as options_next,
           case when o.ending = 'fail' and o.delay_ms is not null then least(greatest(o.delay_ms, 0), 31622400000) * interval '1 ms'
                when o.ending in ('lost', 'suspect', 'release') then interval '0'
                when o.delay_ms is not null then least(greatest(o.delay_ms, 0), 31622400000) * interval '1 ms'
                when o.ending in ('fail', 'crash') then pulse.backoff(j.options, a.charged + 1)
                when o.ending = 'put_off' then least(60, 2 ^ pulse.times_put_off(j.options)) * (0.9 + 0.2 * random()) * interval '1 s'
                else interval '1 s' end as delay
      from unnest(ours) o
      join pulse.log j on j.id = o.id and j.seq = o.seq
      cross join lateral (select coalesce(o.attempt, j.attempt) as attempt, coalesce(o.charged, j.charged) as charged) a
     where j.id = any (array(select i.id from unnest(ours) i)) and j.seq between first and last
    offset 0),
  verdicts as materialized (
    select case when e.ending = 'fail' then case when e.charged_now >= e.max_attempts then 'DEAD_LETTERED' end
                when e.ending = 'cancel' then 'CANCELED'
                when e.ending = 'dead' or (e.ending = 'crash' and e.charged_now >= e.max_attempts)
                  or (e.ending = 'crash' and 2 <= (select count(*) from pulse.failure f where f.id = e.id and f.ending = 'crash'))
                  or (e.ending in ('lost', 'suspect') and e.at_most_once) then 'DEAD_LETTERED' end as status,
           moment + e.delay as run_at, e.*
      from ended e),
  history as (
    insert into pulse.failure (id, attempt, charged, ending, claim, executor, at, took_us, error)
      select v.id, v.attempt, v.charged_now, v.ending, v.claim, v.executor, moment, v.took_us, v.error
        from verdicts v
       where case v.ending when 'fail' then true when 'put_off' then false when 'release' then false else true end)
  select array_agg((v.status, v.run_at, v.ending, v.error, v.id, v.submitted_at, v.lane_id, v.priority, v.lane, v.attempt, v.attempt_next,
                    v.charged_now, v.max_attempts, v.suspect_next, v.queue, v.kind, v.args, v.tenant, v.project, v.key, v.schedule_id,
                    v.occurrence, v.at_most_once, v.options_next, v.trace, v.meta)::pulse.verdict)
    into verdicts
    from verdicts v;
  if verdicts is not null then
    perform pulse.close_rest(verdicts, moment, careful);
  end if;
  return coalesce(cardinality(verdicts), 0);
end $$;

-- close_rest: write what becomes of those that do not wait together: outcomes, delayed jobs, deliveries that run again at once.
--
-- sent by   close_apart
create function pulse.close_rest(verdicts pulse.verdict[], moment timestamptz, careful boolean) returns void
  language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  ended     boolean;
  keyed     uuid[];
  scheduled boolean;
  at_once   boolean;
  later     boolean;
begin
  select bool_or(v.status is not null), array_agg(v.id) filter (where v.status is not null and num_nonnulls(v.key, v.schedule_id) > 0),
         bool_or(v.schedule_id is not null), bool_or(v.status is null and v.run_at = moment), bool_or(v.status is null and v.run_at > moment)
    into ended, keyed, scheduled, at_once, later
    from unnest(verdicts) v;
  if ended then
    insert into pulse.outcome (id, status, at, reason, submitted_at, priority, lane, attempt, charged, max_attempts, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      select v.id, v.status, moment, v.error, v.submitted_at, v.priority, v.lane, v.attempt, v.charged_now, v.max_attempts, v.queue, v.kind, v.args, v.tenant, v.project, v.key, v.schedule_id, v.occurrence, v.options, v.trace, v.meta
        from unnest(verdicts) v where v.status is not null
      on conflict (id) do nothing;
  end if;
  if keyed is not null then
    perform pulse.free_keys(keyed);
  end if;
  if scheduled then                               -- by the ledger, and not by what a producer may have said
    insert into pulse.schedule_ending (schedule_id, occurrence, at, ending, error)
      select v.schedule_id, v.occurrence, moment,
             case when v.status is null then 'failed' when v.status = 'CANCELED' then 'canceled' when v.at_most_once and v.ending not in ('fail', 'dead') then 'lost' else 'dead' end, left(v.error, 2000)
        from unnest(verdicts) v
       where v.schedule_id is not null and v.ending not in ('put_off', 'release', 'snooze')
         and v.schedule_id = (select o.schedule_id from pulse.occurrence o where o.job_id = v.id limit 1);
  end if;
  if later and not careful then
    insert into pulse.delayed (id, run_at, submitted_at, priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      select v.id, v.run_at, v.submitted_at, v.priority, v.lane, v.attempt_next, v.charged_now, v.max_attempts, v.suspect_next, v.queue, v.kind, v.args, v.tenant, v.project, v.key, v.schedule_id, v.occurrence, v.options, v.trace, v.meta
        from unnest(verdicts) v where v.status is null and v.run_at > moment;
  elsif later then
    insert into pulse.delayed (id, run_at, submitted_at, priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      select v.id, v.run_at, v.submitted_at, v.priority, v.lane, v.attempt_next, v.charged_now, v.max_attempts, v.suspect_next, v.queue, v.kind, v.args, v.tenant, v.project, v.key, v.schedule_id, v.occurrence, v.options, v.trace, v.meta
        from unnest(verdicts) v where v.status is null and v.run_at > moment
      on conflict (id) do nothing;
  end if;
  if at_once then
    with again as (
      insert into pulse.log (submitted_at, id, lane_id, priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
        select v.submitted_at, v.id, v.lane_id, v.priority, v.lane, v.attempt_next, v.charged_now, v.max_attempts, v.suspect_next, v.queue, v.kind, v.args, v.tenant, v.project, v.key, v.schedule_id, v.occurrence, v.options, v.trace, v.meta
          from unnest(verdicts) v where v.status is null and v.run_at = moment
        returning id, seq)
    insert into pulse.place (id, seq) select a.id, a.seq from again a;
  end if;
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
      join pulse.lease l on l.claim = e.claim and l.token = any (tokens) and (e.token is null or e.token = l.token)
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
