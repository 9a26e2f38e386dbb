-- Changing schedules. Each function is one transaction's worth, and touches one row (or, for a tenant, is one statement). Jobs
-- that were spawned are never touched: an occurrence is spawned once it is due.
--
-- What is asked of a schedule that is in no state for it is refused with SQLSTATE PU410.

-- refuse_schedule: what was asked of a schedule is not possible. The detail has what was asked and the name, for programs.
create function pulse.refuse_schedule(asked text, name text, problem text, hint text) returns void
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception 'cannot % schedule %: %', asked, name, problem using errcode = 'PU410', detail = asked || ' ' || name, hint = hint;
end $$;

-- withdraw: take back the occurrences of these schedules that were fired ahead and are not due yet. The cursor falls back to the
-- first of them, so that they can come again under the same id.
--
-- sent by   whoever changes a schedule, and holds its row
-- index     delayed_schedule, occurrence_job
-- locks     the delayed jobs; one that is just being promoted was due, and stays
create function pulse.withdraw(ids uuid[], why text) returns void
  language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  moment constant timestamptz := pulse.now();
begin
  with waiting as materialized (
    select d.id, o.tenant, o.schedule_id, o.occurrence from pulse.delayed d, lateral (
      select k.tenant, k.schedule_id, k.occurrence, k.due_at from pulse.occurrence k where k.job_id = d.id offset 0) o
     where d.schedule_id = any (ids) and o.schedule_id = d.schedule_id and o.due_at > moment),
  gone as (
    delete from pulse.delayed d where d.id = any (array(select w.id from waiting w)) returning d.id),
  marked as (
    update pulse.occurrence o set verdict = 'withdrawn', reason = why, decided_at = moment, job_id = null
      from waiting w join gone g on g.id = w.id
     where o.tenant = w.tenant and o.schedule_id = w.schedule_id and o.occurrence = w.occurrence
    returning o.schedule_id, o.occurrence),
  first as (select m.schedule_id, min(m.occurrence) as occurrence, count(*) as n from marked m group by m.schedule_id)
  update pulse.schedule s
     set next_run_at = least(s.next_run_at, f.occurrence), reckon_after = least(s.reckon_after, f.occurrence - interval '1 microsecond'),
         fires = s.fires - f.n, ended_at = null
    from first f where s.id = f.schedule_id;
  with unqueued as (
    update pulse.occurrence o set verdict = 'skipped', reason = why, decided_at = moment
      from pulse.schedule s
     where s.id = any (ids) and s.queued_at is not null
       and o.tenant = coalesce(s.tenant, '') and o.schedule_id = s.id and o.occurrence = s.queued_at and o.verdict = 'queued')
  update pulse.schedule s set queued_at = null where s.id = any (ids) and s.queued_at is not null;
end $$;

-- still_to_come: the first occurrence that a caller has reckoned, unless it has passed since: a transaction may take its time.
create function pulse.still_to_come(first_at timestamptz, moment timestamptz) returns timestamptz language sql immutable
  return case when first_at > moment then first_at end;

-- add_schedule: a new schedule, with its first occurrence, in the caller's transaction.
--
-- takes     kind and spec: once and a moment; every, a period such as 1m30s, and an anchor (now, unless said); cron, an expression
--           and a zone; first_at: its first occurrence, where the caller knows it (otherwise the scheduler reckons it within a
--           second of the commit, and pauses a cron expression that it cannot read); zone_version: of the zone database that
--           first_at was reckoned with; id: so that the call can be repeated after a lost reply
-- returns   the schedule's id
-- refused   PU410 if the name is taken in its tenant and project
create function pulse.add_schedule(
  name text, kind text, spec text, job_kind text, args json default '{}', tz text default null, anchor timestamptz default null,
  queue text default 'default', priority integer default 0, max_attempts integer default 25, options json default null, meta json default null,
  tenant text default null, project text default null, owner text default null, declared_by text default null,
  missed text default 'latest', missed_most integer default 100, missed_pace_s float8 default 0, within_s float8 default null,
  overlap text default 'allow', jitter float8 default 0, delivery text default 'at_least_once', pause_after integer default 10,
  until timestamptz default null, max_fires bigint default null, lookahead_s float8 default 60,
  first_at timestamptz default null, zone_version text default null, by text default null, id uuid default null
) returns uuid language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := pulse.now();
  begins constant timestamptz := case when kind = 'every' then coalesce(anchor, moment) else anchor end;
  next   timestamptz := coalesce(pulse.still_to_come(first_at, moment), pulse.first_run(kind, spec, begins, moment));
  taken  text;
begin
  if id is not null and exists (select from pulse.schedule s where s.id = add_schedule.id) then
    return id;
  end if;
  if kind = 'once' and next is null then
    perform pulse.refuse_schedule('add', name, 'its moment has passed', 'Enqueue a job if it is meant to run now');
  end if;
  insert into pulse.schedule (
      id, tenant, project, name, owner, declared_by, kind, spec, tz, anchor, job_kind, args, queue, priority, max_attempts, options, meta,
      missed, missed_most, missed_pace_s, within_s, overlap, jitter, delivery, pause_after, until, max_fires, lookahead_s,
      reckon_after, next_run_at, look_at, zone_version, created_at, created_by)
    values (
      coalesce(add_schedule.id, pulse.uuid7()), tenant, project, name, owner, declared_by, kind, spec, case when kind = 'cron' then coalesce(tz, 'UTC') end,
      begins, job_kind, args, queue, priority, max_attempts, options, meta,
      missed, missed_most, missed_pace_s, within_s, overlap, jitter, delivery, pause_after, until, max_fires, lookahead_s,
      moment, next, moment, zone_version, moment, coalesce(by, session_user))
    returning pulse.schedule.id into id;
  return id;
exception when unique_violation then
  get stacked diagnostics taken = constraint_name;
  if taken <> 'schedule_name' then raise; end if;
  perform pulse.refuse_schedule('add', name, 'the name is taken', 'Edit the schedule that has it, delete it, or choose another name');
end $$;

-- hold_schedule: the row of a schedule that is not deleted, until commit.
--
-- takes     revision: the one that the caller has seen; null: whichever it is
-- refused   PU410 if it has another revision by now
create function pulse.hold_schedule(asked text, id uuid, revision integer) returns pulse.schedule
  language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  s pulse.schedule;
begin
  perform pulse.refuse_isolation();
  select * into s from pulse.schedule k where k.id = hold_schedule.id and k.deleted_at is null for update;
  if found and revision is not null and s.revision <> revision then
    perform pulse.refuse_schedule(asked, s.name, 'it was changed meanwhile, by ' || coalesce(s.updated_by, s.created_by), 'Look at it again, then ask again');
  end if;
  return s;
end $$;

-- edit_schedule: change some columns of a schedule. Another timing counts from now on: the cursor moves to the next occurrence, and
-- nothing fires in the past. Other arguments, queue and so on go for every occurrence that is not due yet.
--
-- takes     changes: columns with their new values; first_at, zone_version: as for add_schedule, if the timing changes; revision: the
--           one that the caller has seen
-- returns   the new revision; null: there is no such schedule
create function pulse.edit_schedule(
  id uuid, changes json, first_at timestamptz default null, zone_version text default null, by text default null, revision integer default null)
  returns integer language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := pulse.now();
  timing constant text[] := '{kind,spec,tz,anchor}';
  job    constant text[] := '{job_kind,args,queue,priority,max_attempts,options,meta}';
  who    constant text[] := '{name,owner,declared_by}';
  policy constant text[] := '{missed,missed_most,missed_pace_s,within_s,overlap,jitter,delivery,pause_after,until,max_fires,lookahead_s}';
  said   constant text[] := array(select json_object_keys(changes));
  old    pulse.schedule := pulse.hold_schedule('edit', id, revision);
  s      pulse.schedule;
begin
  if not said <@ (timing || job || who || policy) then
    raise exception '%: a schedule has no such column to edit', (select min(c) from unnest(said) c where c <> all (timing || job || who || policy))
      using errcode = 'invalid_parameter_value';
  end if;
  if old.id is null then return null; end if;
  if said && (timing || policy) then
    perform pulse.withdraw(array[id], 'edited');
    select * into old from pulse.schedule k where k.id = edit_schedule.id;
  end if;
  s := json_populate_record(old, changes);
  if said && timing then
    s.anchor := case when s.kind = 'every' then coalesce(s.anchor, moment) end;
    s.tz := case when s.kind = 'cron' then coalesce(s.tz, 'UTC') end;
    s.next_run_at := coalesce(pulse.still_to_come(first_at, moment), pulse.first_run(s.kind, s.spec, s.anchor, moment));
    if s.kind = 'once' and s.next_run_at is null then
      perform pulse.refuse_schedule('edit', old.name, 'its moment has passed', 'Give one that is yet to come');
    end if;
    s.reckon_after := moment;
    s.zone_version := edit_schedule.zone_version;
    s.ended_at := null;
  elsif said && policy and s.ended_at is not null then
    s.reckon_after := greatest(s.reckon_after, moment);     -- it goes on from now
    s.ended_at := null;
  end if;
  update pulse.schedule k
     set name = s.name, owner = s.owner, declared_by = s.declared_by, kind = s.kind, spec = s.spec, tz = s.tz, anchor = s.anchor,
         job_kind = s.job_kind, args = s.args, queue = s.queue, priority = s.priority, max_attempts = s.max_attempts, options = s.options, meta = s.meta,
         missed = s.missed, missed_most = s.missed_most, missed_pace_s = s.missed_pace_s, within_s = s.within_s, overlap = s.overlap,
         jitter = s.jitter, delivery = s.delivery, pause_after = s.pause_after, until = s.until, max_fires = s.max_fires, lookahead_s = s.lookahead_s,
         reckon_after = s.reckon_after, next_run_at = s.next_run_at, zone_version = s.zone_version, ended_at = s.ended_at, look_at = moment,
         revision = k.revision + 1, updated_at = moment, updated_by = coalesce(edit_schedule.by, session_user)
   where k.id = edit_schedule.id;
  if said && job then
    update pulse.delayed d
       set queue = s.queue, priority = s.priority, lane = pulse.lane_of(s.queue, s.tenant), kind = s.job_kind, args = s.args,
           max_attempts = pulse.budget_of(s), options = pulse.options_of(s), meta = s.meta
     where d.schedule_id = edit_schedule.id
       and exists (select from pulse.occurrence o where o.job_id = d.id and o.schedule_id = d.schedule_id and o.due_at > moment);
  end if;
  return s.revision + 1;
exception when unique_violation then
  perform pulse.refuse_schedule('edit', old.name, 'the name is taken', 'Choose another name');
end $$;

-- budget_of: how often the jobs of a schedule are delivered. At most once: one attempt, and no delivery that may have started
-- is followed by another (pulse.close).
create function pulse.budget_of(s pulse.schedule) returns integer language sql immutable
  return case when s.delivery = 'at_most_once' then 1 else s.max_attempts::integer end;

-- options_of: the options of its jobs; see budget_of.
create function pulse.options_of(s pulse.schedule) returns json language sql immutable
  return case when s.delivery = 'at_most_once' then (coalesce(s.options::jsonb, '{}') || '{"at_most_once": true}')::json else s.options::json end;

-- pause_schedule: fire no more until resumed. What falls into the pause is written to the ledger as skipped.
--
-- returns   whether it was going before; null: there is no such schedule
create function pulse.pause_schedule(id uuid, reason text default null, by text default null) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  s pulse.schedule := pulse.hold_schedule('pause', id, null);
begin
  if s.id is null then return null; end if;
  if s.paused_at is not null then return false; end if;
  perform pulse.withdraw(array[id], 'paused');
  update pulse.schedule k
     set paused_at = pulse.now(), paused_by = coalesce(pause_schedule.by, session_user), pause_reason = reason, revision = k.revision + 1,
         look_at = case when k.ended_at is null then pulse.now() end
   where k.id = pause_schedule.id;
  return true;
end $$;

-- resume_schedule: go on with the next occurrence from now.
--
-- returns   whether it was paused before; null: there is no such schedule
create function pulse.resume_schedule(id uuid, by text default null) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  s pulse.schedule := pulse.hold_schedule('resume', id, null);
begin
  if s.id is null then return null; end if;
  if s.paused_at is null then return false; end if;
  update pulse.schedule k
     set paused_at = null, paused_by = null, pause_reason = null, resumed_at = pulse.now(), resumed_by = coalesce(resume_schedule.by, session_user),
         revision = k.revision + 1, look_at = case when k.ended_at is null then pulse.now() end
   where k.id = resume_schedule.id;
  -- Added, like endings: a row that is changed in a transaction left open would keep every fire waiting.
  insert into pulse.schedule_ending (schedule_id, occurrence, at, ending) values (id, pulse.now(), pulse.now(), 'resumed');
  return true;
end $$;

-- delete_schedule: it fires no more, and its name is free. Its history is kept for as long as that of jobs.
--
-- returns   whether there was one
create function pulse.delete_schedule(id uuid, by text default null) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  s pulse.schedule := pulse.hold_schedule('delete', id, null);
begin
  if s.id is null then return false; end if;
  perform pulse.remove_schedules(array[id], coalesce(by, session_user));
  return true;
end $$;

-- delete_schedules: all schedules of a tenant, or of one of its projects. A tenant of '' is those without one.
--
-- returns   how many
create function pulse.delete_schedules(tenant text, project text default null, by text default null) returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  ids uuid[];
begin
  perform pulse.refuse_isolation();
  if tenant is null then
    raise exception 'tenant: say which; '''' is for schedules without one' using errcode = 'invalid_parameter_value';
  end if;
  ids := array(
    select s.id from pulse.schedule s
     where coalesce(s.tenant, '') = delete_schedules.tenant and (delete_schedules.project is null or s.project = delete_schedules.project) and s.deleted_at is null
     order by s.id for update);
  perform pulse.remove_schedules(ids, coalesce(by, session_user));
  return cardinality(ids);
end $$;

-- remove_schedules: what deleting does. The caller holds the rows. An unfinished run frees its row of schedule_run itself: deleted
-- here, in a transaction left open, it would keep the outcome of that run waiting, and all that is settled with it.
create function pulse.remove_schedules(ids uuid[], by text) returns void
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pulse.withdraw(ids, 'deleted');
  update pulse.schedule s set deleted_at = pulse.now(), deleted_by = by, next_run_at = null, look_at = null, revision = s.revision + 1 where s.id = any (ids);
end $$;

-- run_schedule: fire once, now, beside its timing; also while it is paused. The ledger has it as an occurrence of this moment.
--
-- returns   the job's id; null: there is no such schedule
-- refused   PU410 if its runs must not overlap and one is not finished
create function pulse.run_schedule(id uuid, by text default null) returns uuid
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  s      pulse.schedule := pulse.hold_schedule('run', id, null);
  moment timestamptz := pulse.now();
  job    constant uuid := pulse.uuid7();
begin
  if s.id is null then return null; end if;
  while exists (select from pulse.occurrence o where o.tenant = coalesce(s.tenant, '') and o.schedule_id = s.id and o.occurrence = moment) loop
    moment := moment + interval '1 microsecond';   -- the key is taken by an occurrence of this very moment
  end loop;
  if s.overlap <> 'allow' then
    insert into pulse.schedule_run (schedule_id, job_id) values (s.id, job) on conflict on constraint schedule_run_pkey do nothing;
    if not found then
      perform pulse.refuse_schedule('run', s.name, 'its last run is not finished, and its runs do not overlap', 'Wait for that, or cancel it');
    end if;
  end if;
  insert into pulse.occurrence (tenant, schedule_id, occurrence, due_at, decided_at, verdict, reason, job_id)
    values (coalesce(s.tenant, ''), s.id, moment, moment, moment, 'fired', 'run now by ' || coalesce(by, session_user), job);
  return pulse.enqueue(kind => s.job_kind, args => s.args, queue => s.queue, priority => s.priority, tenant => s.tenant, project => s.project,
                       max_attempts => pulse.budget_of(s), options => pulse.options_of(s), meta => s.meta, id => job, schedule_id => s.id, occurrence => moment);
end $$;

revoke all on all functions in schema pulse from public;
