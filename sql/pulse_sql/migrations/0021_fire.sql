-- Firing: what is due, and what becomes of it. The scheduler decides in between, in pure code, from what due_schedules told it; a
-- decision counts if nothing of that has changed since, and otherwise it does nothing.

-- shard_of: which of `shards` parts a schedule belongs to: the same on every runtime.
create function pulse.shard_of(id uuid, shards integer) returns integer language sql immutable parallel safe
  return (('x' || right(id::text, 8))::bit(32)::bigint % shards)::integer;

-- due_schedules: the schedules that the scheduler should see now.
--
-- sent by   claimer, with its look, while the scheduler has nothing in hand
-- takes     most: at most so many; shards, shard: only this part (and, while that leaves room, those that somebody left waiting
--           for 3 s); no shards: all of them, or, when there are more than `most`, the part of this runtime among those that live
-- returns   null: nothing to do; else [moment, [schedule, …]] as pulse_runtime/scheduling/deciding.py reads it, with no schedule at all if there is only
--           something to count; next_s: seconds until one wants to be seen (null: none does)
-- index     schedule_due, schedule_queued: reads what it returns, and the parts of others
create function pulse.due_schedules(most integer, runtime text default null, shards integer default null, shard integer default null, out due json, out next_s float8)
  language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
  set plan_cache_mode = force_generic_plan as $$
declare
  moment constant timestamptz := pulse.now();
begin
  if shards is null and most <= (select count(*) from (select from pulse.schedule s where s.look_at <= moment limit most) w) then
    select count(*), count(*) filter (where r.runtime < due_schedules.runtime) into shards, shard
      from (select distinct e.runtime from pulse.executor e where e.ended_at is null) r;
  end if;
  shards := greatest(shards, 1);
  with own as materialized (
    select s.* from pulse.schedule s
     where s.look_at <= moment and (shards = 1 or pulse.shard_of(s.id, shards) = shard) order by s.look_at, s.id limit most),
  left_alone as (                                -- and only then: after an outage all have waited, and everybody would take the same
    select s.* from pulse.schedule s
     where shards > 1 and s.look_at < moment - interval '3 s' and pulse.shard_of(s.id, shards) <> shard
     order by s.look_at, s.id limit most - (select count(*) from own))
  select json_agg(json_build_array(
      w.id, w.revision, w.kind, w.spec, w.tz, w.anchor, w.reckon_after, w.next_run_at, w.last_due_at, w.paused_at is not null, w.resumed_at,
      w.missed, w.missed_most, w.missed_pace_s, w.within_s, w.overlap, w.jitter, w.until, w.max_fires, w.fires, w.lookahead_s, w.zone_version,
      w.queued_at, w.queued_at is not null and not exists (select from pulse.schedule_run r where r.schedule_id = w.id))) into due
    from (
      select * from own
      union all
      select * from left_alone
      union all
      (select s.* from pulse.schedule s
        where s.queued_at is not null and coalesce(s.look_at > moment, true) and s.paused_at is null and s.deleted_at is null
          and not exists (select from pulse.schedule_run r where r.schedule_id = s.id)
        order by s.queued_at limit most)) w;
  if due is not null or exists (select from pulse.schedule_ending) then
    due := json_build_array(moment, coalesce(due, '[]'));
  end if;
  next_s := (select extract(epoch from s.look_at - moment) from pulse.schedule s where s.look_at > moment order by s.look_at limit 1);
end $$;

-- count_endings: add up how the jobs of schedules ended, and pause those that failed too often in a row.
--
-- sent by   fire
-- locks     the tallies, until commit; whoever comes second leaves it to the first
create function pulse.count_endings(most integer default 20000) returns bigint
  language plpgsql set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  moment constant timestamptz := pulse.now();
  ids    uuid[];
  total  bigint;
begin
  if not exists (select from pulse.schedule_ending) or not pg_try_advisory_xact_lock(1886745446, 0) then return 0; end if;
  with taken as (
    delete from pulse.schedule_ending e where e.ctid = any (array(select f.ctid from pulse.schedule_ending f limit most for update skip locked)) returning e.*),
  lost as (
    update pulse.occurrence o set verdict = 'lost', reason = concat_ws(': ', o.reason, t.error)
      from taken t join pulse.schedule s on s.id = t.schedule_id
     where t.ending = 'lost' and o.tenant = coalesce(s.tenant, '') and o.schedule_id = t.schedule_id and o.occurrence = t.occurrence),
  marked as (select t.*, max(t.at) filter (where t.ending in ('completed', 'resumed')) over (partition by t.schedule_id) as fresh_at from taken t),
  sums as (
    select m.schedule_id, max(m.at) filter (where m.ending not in ('canceled', 'resumed')) as last_attempt_at,
           max(m.at) filter (where m.ending = 'completed') as last_success_at, max(m.fresh_at) as fresh_at,
           max(m.at) filter (where m.ending in ('failed', 'dead', 'lost')) as last_failure_at,
           (array_agg(m.error order by m.at desc) filter (where m.ending in ('failed', 'dead', 'lost')))[1] as last_error,
           count(*) filter (where m.ending in ('dead', 'lost') and coalesce(m.at > m.fresh_at, true)) as failures,
           count(*) filter (where m.ending = 'completed') as succeeded, count(*) filter (where m.ending in ('dead', 'lost')) as failed
      from marked m group by m.schedule_id),
  tallied as (
    insert into pulse.schedule_tally as t (schedule_id, last_attempt_at, last_success_at, last_failure_at, last_error, failures, succeeded, failed)
      select x.schedule_id, x.last_attempt_at, x.last_success_at, x.last_failure_at, x.last_error, x.failures, x.succeeded, x.failed from sums x
      on conflict (schedule_id) do update
        set last_attempt_at = greatest(t.last_attempt_at, excluded.last_attempt_at), last_success_at = greatest(t.last_success_at, excluded.last_success_at),
            last_failure_at = greatest(t.last_failure_at, excluded.last_failure_at), last_error = coalesce(excluded.last_error, t.last_error),
            failures = case when exists (select from sums x where x.schedule_id = t.schedule_id and x.fresh_at is not null) then 0 else t.failures end + excluded.failures,
            succeeded = t.succeeded + excluded.succeeded, failed = t.failed + excluded.failed
      returning t.schedule_id, t.failures)
  select (select count(*) from taken), array(select t.schedule_id from tallied t where t.failures >= 3) into total, ids;
  perform pulse.pause_failing(ids);
  return total;
end $$;

-- pause_failing: pause those of these schedules that have failed too often in a row.
--
-- returns   which
-- locks     them; one that somebody is changing is left alone, until its next fire
create function pulse.pause_failing(ids uuid[]) returns uuid[]
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if ids is null or ids = '{}' then return '{}'; end if;
  ids := array(
    select s.id from pulse.schedule s
     where s.id = any (ids) and s.pause_after > 0 and s.paused_at is null and s.deleted_at is null
       and s.pause_after <= (select t.failures from pulse.schedule_tally t where t.schedule_id = s.id)
       and not exists (select from pulse.schedule_ending e where e.schedule_id = s.id and e.ending = 'resumed')   -- not counted yet
     order by s.id for update skip locked);
  if ids = '{}' then return ids; end if;
  perform pulse.withdraw(ids, 'paused');
  update pulse.schedule s
     set paused_at = pulse.now(), paused_by = 'pulse', revision = s.revision + 1, look_at = case when s.ended_at is null then pulse.now() end,
         pause_reason = t.failures || ' final failures in a row; the last: ' || coalesce(left(t.last_error, 500), 'unknown')
    from pulse.schedule_tally t where t.schedule_id = s.id and s.id = any (ids);
  return ids;
end $$;

-- fire: what the scheduler decided, in one transaction: a row in the ledger for each occurrence, a job if and only if that row is
-- new, and the cursor moved from where it was when the decision was made.
--
-- sent by   reporter, for the scheduler; again is fine
-- takes     decisions: [[id, revision, cursor, next_run_at, reckon_after, last_due_at, look_at, zone_version, ended, error,
--           [[occurrence, due_at, job_id, verdict, reason], …]], …]: job_id is uuidv5 of schedule and occurrence; verdict is fired, late,
--           skipped or missed; an error pauses the schedule
-- returns   how many schedules were moved and jobs made; a schedule that has changed since, or is being changed, is not moved
-- index     the primary keys
-- locks     the schedules, without waiting for any; waits for nobody else for longer than half a second
create function pulse.fire(decisions json, out moved bigint, out fired bigint)
  language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan
  set lock_timeout = '500ms' as $$
declare
  moment  constant timestamptz := pulse.now();
  wanted  uuid[];
  mine    uuid[];
  woken   text[];
  q       text;
begin
  perform pulse.refuse_isolation();
  -- Nobody is told of a job before a claim commits, and that flushes this commit too; lost in a crash, the cursor is where it was.
  perform set_config('synchronous_commit', 'off', true);
  perform pulse.count_endings();
  moved := 0;
  fired := 0;
  wanted := array(select (e ->> 0)::uuid from json_array_elements(decisions) e);
  if wanted = '{}' then return; end if;
  select array_agg(s.id) into mine
    from (select k.id, k.revision, k.next_run_at from pulse.schedule k
           where k.id = any (wanted) and k.deleted_at is null order by k.id for update skip locked) s
    join (select (e ->> 0)::uuid as id, (e ->> 1)::integer as revision, (e ->> 2)::timestamptz as cursor from json_array_elements(decisions) e) d
      on d.id = s.id and d.revision = s.revision and d.cursor is not distinct from s.next_run_at;
  if mine is null then return; end if;
  wanted := pulse.pause_failing(array(select t.schedule_id from pulse.schedule_tally t where t.schedule_id = any (mine) and t.failures >= 3));
  mine := array(select m from unnest(mine) m where m <> all (wanted));
  wanted := array(select (e ->> 0)::uuid from json_array_elements(decisions) e where e ->> 9 is not null and (e ->> 0)::uuid = any (mine));
  if wanted <> '{}' then
    perform pulse.withdraw(wanted, 'paused');
  end if;
  begin
    select h.moved, h.fired, h.woken into moved, fired, woken from pulse.fire_held(decisions, mine, pulse.squatted(decisions, moment), moment) h;
  exception when lock_not_available or unique_violation then       -- an id is being taken just now, in a transaction that may stay open
    select h.moved, h.fired, h.woken into moved, fired, woken from pulse.fire_held(decisions, mine, mine, moment) h;
  end;
  if pg_sequence_last_value('pulse.parked') <> 0 then
    foreach q in array woken loop
      perform pulse.wake(q);
    end loop;
  end if;
end $$;

-- fire_held: the same, with the schedules locked and those left out of which the decision is void.
--
-- sent by   fire, whose settings its plans need
-- takes     barred: schedules of which nothing can be delayed: what is not due yet is decided when it is
-- returns   woken: queues that have something to claim
create function pulse.fire_held(decisions json, mine uuid[], barred uuid[], moment timestamptz, out moved bigint, out fired bigint, out woken text[])
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with said as materialized (
    select d.id, case when a.occurrence is null then (e ->> 3)::timestamptz else a.occurrence end as next_run_at,
           case when a.occurrence is null then (e ->> 4)::timestamptz else a.occurrence - interval '1 microsecond' end as reckon_after,
           (e ->> 5)::timestamptz as last_due_at, case when a.occurrence is null then (e ->> 6)::timestamptz else a.due_at end as look_at,
           e ->> 7 as zone_version, (e ->> 8)::boolean and a.occurrence is null as ended, e ->> 9 as error, e -> 10 as occurrences
      from json_array_elements(decisions) e cross join lateral (select (e ->> 0)::uuid as id) d
      left join lateral (
        select (f ->> 0)::timestamptz as occurrence, (f ->> 1)::timestamptz as due_at from json_array_elements(e -> 10) f
         where (f ->> 1)::timestamptz > moment order by 1 limit 1) a on d.id = any (barred)
     where d.id = any (mine)),
  held as materialized (select s.*, pulse.budget_of(s) as budget, pulse.options_of(s) as how from pulse.schedule s where s.id = any (mine)),
  told as materialized (
    select h.id, coalesce(h.tenant, '') as tenant, h.overlap, h.queued_at, o.*,
           o.verdict in ('fired', 'late') as runs, count(*) filter (where o.verdict in ('fired', 'late')) over (partition by h.id order by o.occurrence) as nr
      from said d join held h on h.id = d.id,
           lateral (select (f ->> 0)::timestamptz as occurrence, (f ->> 1)::timestamptz as due_at, (f ->> 2)::uuid as job_id, f ->> 3 as verdict, f ->> 4 as reason
                      from json_array_elements(d.occurrences) f) o
     where not (o.due_at > moment and h.id = any (barred))
       and coalesce((select k.verdict from pulse.occurrence k
                      where k.tenant = coalesce(h.tenant, '') and k.schedule_id = h.id and k.occurrence = o.occurrence), 'withdrawn') in ('withdrawn', 'queued')),
  taken as (                                       -- runs that do not overlap: the first one, if there is none
    insert into pulse.schedule_run (schedule_id, job_id)
      select t.id, t.job_id from told t where t.overlap <> 'allow' and t.runs and t.nr = 1 on conflict do nothing
      returning schedule_id, job_id),
  judged as materialized (
    select t.*, case when t.overlap = 'allow' or not t.runs or k.job_id is not null then t.verdict
                     when t.occurrence = t.queued_at then 'queued'
                     when t.overlap = 'queue_one' and t.nr = 1 + (select count(*) from taken n where n.schedule_id = t.id)
                       and (t.queued_at is null or exists (select from told w join taken n on n.job_id = w.job_id where w.id = t.id and w.occurrence = t.queued_at))
                       then 'queued'
                     else 'skipped' end as judged
      from told t left join taken k on k.job_id = t.job_id),
  ledger as (
    insert into pulse.occurrence as k (tenant, schedule_id, occurrence, due_at, decided_at, verdict, reason, job_id)
      select j.tenant, j.id, j.occurrence, j.due_at, moment, j.judged, case when j.judged = 'skipped' and j.runs then 'overlap' else j.reason end,
             case when j.judged in ('fired', 'late') then j.job_id end
        from judged j
      on conflict (tenant, schedule_id, occurrence) do update
        set due_at = excluded.due_at, decided_at = excluded.decided_at, verdict = excluded.verdict, reason = excluded.reason, job_id = excluded.job_id
        where k.verdict in ('withdrawn', 'queued')
      returning k.schedule_id, k.occurrence, k.due_at, k.verdict, k.job_id),
  jobs as materialized (
    select h.*, l.occurrence, l.due_at, l.job_id, pulse.lane_of(h.queue, h.tenant) as lane from ledger l join held h on h.id = l.schedule_id
     where l.verdict in ('fired', 'late')),
  at_once as (
    insert into pulse.log (submitted_at, id, lane_id, priority, lane, max_attempts, queue, kind, args, tenant, project, schedule_id, occurrence, options, meta)
      select moment, j.job_id, pulse.lane_id(j.queue, j.priority, j.lane), j.priority, j.lane, j.budget, j.queue, j.job_kind, j.args, j.tenant, j.project, j.id, j.occurrence, j.how, j.meta
        from jobs j where j.due_at <= moment order by j.due_at, j.occurrence
      returning id, seq, queue),
  seats as (
    insert into pulse.place (id, seq) select a.id, a.seq from at_once a),
  later as (
    insert into pulse.delayed (id, run_at, submitted_at, priority, lane, attempt, charged, max_attempts, queue, kind, args, tenant, project, schedule_id, occurrence, options, meta)
      select j.job_id, j.due_at, moment, j.priority, j.lane, 1, 0, j.budget, j.queue, j.job_kind, j.args, j.tenant, j.project, j.id, j.occurrence, j.how, j.meta
        from jobs j where j.due_at > moment
      returning queue, run_at),
  made as (select l.schedule_id, count(*) filter (where l.verdict in ('fired', 'late')) as n, min(l.occurrence) filter (where l.verdict = 'queued') as queued_at,
                  array_agg(l.occurrence) as decided from ledger l group by l.schedule_id),
  news as materialized (
    select d.*, coalesce(m.n, 0) as n, h.fires + coalesce(m.n, 0) >= h.max_fires as spent,
           case when m.queued_at is not null then m.queued_at when h.queued_at = any (m.decided) then null else h.queued_at end as queued_at
      from said d join held h on h.id = d.id left join made m on m.schedule_id = d.id),
  advanced as (
    update pulse.schedule s
       set next_run_at = case when n.error is not null then s.next_run_at when n.spent then null else n.next_run_at end,
           reckon_after = case when n.error is null then n.reckon_after else s.reckon_after end, last_due_at = n.last_due_at, zone_version = n.zone_version, fires = s.fires + n.n, queued_at = n.queued_at,
           look_at = case when n.error is not null or n.ended then null when n.spent then case when n.last_due_at > moment then n.last_due_at end else n.look_at end,
           ended_at = case when s.kind <> 'once' and (n.ended or (n.spent and not coalesce(n.last_due_at > moment, false))) then moment end,
           deleted_at = case when s.kind = 'once' and n.ended then moment end, deleted_by = case when s.kind = 'once' and n.ended then 'pulse' end,
           paused_at = case when n.error is null then s.paused_at else moment end, paused_by = case when n.error is null then s.paused_by else 'pulse' end,
           pause_reason = coalesce(left(n.error, 2000), s.pause_reason), revision = s.revision + (n.error is not null)::integer
      from news n where s.id = any (mine) and s.id = n.id)
  select (select count(*) from said), (select count(*) from jobs),
         array(select a.queue from at_once a union select l.queue from later l where l.run_at < moment + interval '500 ms')
    into moved, fired, woken;
end $$;

-- squatted: schedules of which a job cannot be delayed, because somebody has delayed one of his own under the id that it will have.
-- Those wait until they are due: the log takes any id.
create function pulse.squatted(decisions json, moment timestamptz) returns uuid[]
  language sql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
  select coalesce(array_agg(distinct (e ->> 0)::uuid), '{}') from json_array_elements(decisions) e, json_array_elements(e -> 10) f
   where (f ->> 1)::timestamptz > moment
     and (select d.schedule_id is distinct from (e ->> 0)::uuid from pulse.delayed d where d.id = (f ->> 2)::uuid)
$$;

-- note_successes: these jobs completed; those of schedules are counted.
--
-- sent by   settle, for tracked jobs
-- index     occurrence_job
create function pulse.note_successes(ids uuid[], at timestamptz) returns void language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
begin
  insert into pulse.schedule_ending (schedule_id, occurrence, at, ending)
    select o.schedule_id, o.occurrence, note_successes.at, 'completed' from pulse.occurrence o where o.job_id = any (ids);
end $$;

-- rezone: have all cursors reckoned again that were reckoned with another zone database.
--
-- sent by   claimer, when it starts
create function pulse.rezone(version text) returns bigint language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  total bigint;
begin
  update pulse.schedule s set look_at = pulse.now()
   where s.id = any (array(select k.id from pulse.schedule k where k.kind = 'cron' and k.look_at > pulse.now() and k.zone_version <> version for update skip locked));
  get diagnostics total = row_count;
  return total;
end $$;

-- backfill: fire occurrences of the past that the ledger lacks (or, if wanted, has as missed), as jobs that are due now.
--
-- sent by   schedules.backfill, which knows them by pulse_runtime/timing/timings.py
-- takes     occurrences and the uuidv5 of each; again is fine
-- returns   those that were fired
create function pulse.backfill(id uuid, occurrences timestamptz[], jobs uuid[], missed boolean default false, by text default null) returns timestamptz[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  s      pulse.schedule := pulse.hold_schedule('backfill', id, null);
  moment constant timestamptz := pulse.now();
  done   timestamptz[];
begin
  if s.id is null then return null; end if;
  if exists (select from unnest(occurrences) o where o > moment) then
    perform pulse.refuse_schedule('backfill', s.name, 'the window reaches into the future', 'What is to come fires by itself');
  end if;
  if exists (select from unnest(occurrences) o where o < (select f.at from pulse.occurrence_floor f)) and s.created_at < (select f.at from pulse.occurrence_floor f) then
    perform pulse.refuse_schedule('backfill', s.name, 'the ledger goes back to ' || (select f.at from pulse.occurrence_floor f) || ' only', 'Begin later: what fired before cannot be told');
  end if;
  with ledger as (
    insert into pulse.occurrence as k (tenant, schedule_id, occurrence, due_at, decided_at, verdict, reason, job_id)
      select coalesce(s.tenant, ''), s.id, o.occurrence, o.occurrence, moment, 'late', 'backfilled by ' || coalesce(by, session_user), o.job
        from unnest(occurrences, jobs) o(occurrence, job)
      on conflict on constraint occurrence_pkey do update
        set decided_at = excluded.decided_at, verdict = excluded.verdict, reason = excluded.reason, job_id = excluded.job_id
        where backfill.missed and k.verdict in ('missed', 'withdrawn')
      returning k.occurrence, k.job_id),
  added as (
    insert into pulse.log (submitted_at, id, lane_id, priority, lane, max_attempts, queue, kind, args, tenant, project, schedule_id, occurrence, options, meta)
      select moment, l.job_id, pulse.lane_id(s.queue, s.priority, pulse.lane_of(s.queue, s.tenant)), s.priority, pulse.lane_of(s.queue, s.tenant), pulse.budget_of(s), s.queue, s.job_kind, s.args, s.tenant, s.project, s.id, l.occurrence, pulse.options_of(s), s.meta
        from ledger l order by l.occurrence
      returning pulse.log.id, pulse.log.seq),
  seats as (insert into pulse.place (id, seq) select a.id, a.seq from added a)
  select array_agg(l.occurrence order by l.occurrence) into done from ledger l;
  perform pulse.wake(s.queue);
  return coalesce(done, '{}');
end $$;

revoke all on all functions in schema pulse from public;
