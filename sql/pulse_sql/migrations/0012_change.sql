-- Changing a job's fate from outside: cancel, retry, move. Each is one short statement of its own, because it holds a lane.
-- A job that is in no state for it is refused with SQLSTATE PU409.

-- refuse_transition: what was asked cannot follow from the state that the job is in. The detail has what was asked, the id and
-- the status, for programs; the hint is for people.
create function pulse.refuse_transition(asked text, id uuid, status text) returns void
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception '% is not possible: job % is %', asked, id, status
    using errcode = 'PU409', detail = concat_ws(' ', asked, id, status),
          hint = case asked when 'cancel' then 'Only a job that waits or runs can be canceled'
                            when 'retry' then 'Only a dead letter can be retried'
                            else 'Only a job that waits can be moved' end;
end $$;

-- hold_lane: no claim of this delivery's lane is under way from now until commit.
create function pulse.hold_lane(j pulse.log) returns void language sql set search_path = pg_catalog, pg_temp as $$
  select pg_advisory_xact_lock(1886745441, pulse.lane_lock(j.queue, j.priority, j.lane))
$$;

-- set_apart: if a job waits with others to be retried, give it a row of its own among the delayed ones. The caller holds its lane.
--
-- takes     its newest delivery in the log
-- returns   whether it was such a job
create function pulse.set_apart(j pulse.log) returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  t pulse.retrying;
  p integer;
begin
  select x.* into t from pulse.retrying x where x.id = (pulse.retry_of(j)).retrying;
  p := array_position(t.seqs, j.seq);
  if p is null or p <= t.taken then return false; end if;
  update pulse.failure f set retrying = null where f.id = j.id and f.retrying = t.id;
  if cardinality(t.ids) = t.taken + 1 then
    delete from pulse.retrying x where x.id = t.id;
  else
    update pulse.retrying x set ids = t.ids[: p - 1] || t.ids[p + 1 :], seqs = t.seqs[: p - 1] || t.seqs[p + 1 :] where x.id = t.id;
  end if;
  insert into pulse.delayed (id, run_at, submitted_at, priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
    values (j.id, t.run_at, j.submitted_at, j.priority, j.lane, t.attempt, t.charged, j.max_attempts, j.suspect, j.queue, j.kind, j.args, j.tenant, j.project, j.key, j.schedule_id, j.occurrence, j.options, j.trace, j.meta)
    on conflict on constraint delayed_pkey do nothing;
  return true;
end $$;

-- cancel: end a job that waits, or ask the executor that runs it to. Asked again, it says the same again.
--
-- returns   CANCELED; RUNNING: the wish was noted and the runtime will pass it on; null: there is no such job
-- locks     the job's lane until commit
create function pulse.cancel(id uuid, by text default null, reason text default null) returns text
  language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  j      pulse.log;
  now_is text;
  c      record;
begin
  perform pulse.refuse_isolation();
  for i in 1 .. 100 loop
    with gone as (delete from pulse.delayed d where d.id = cancel.id returning d.*)
    insert into pulse.outcome (id, status, at, reason, submitted_at, priority, lane, attempt, charged, max_attempts, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      select g.id, 'CANCELED', pulse.now(), cancel.reason, g.submitted_at, g.priority, g.lane, g.attempt, g.charged, g.max_attempts, g.queue, g.kind, g.args, g.tenant, g.project, g.key, g.schedule_id, g.occurrence, g.options, g.trace, g.meta from gone g;
    if found then
      perform pulse.free_keys(array[id]);
      return 'CANCELED';
    end if;
    select * into j from pulse.find(id);
    if found then
      perform pulse.hold_lane(j);
    end if;
    select g.status into now_is from pulse.get(id) g;
    if not found then return null; end if;
    if now_is in ('PENDING', 'RETRYING') then
      -- Waits in the log, or with others. Unless it left (or came to another place) while we waited for the lane: then look again.
      continue when pulse.set_apart(j);
      delete from pulse.log l where l.id = cancel.id and l.seq = j.seq and pulse.is_pending(l);
      continue when not found;
      insert into pulse.outcome (id, status, at, reason, submitted_at, priority, lane, attempt, charged, max_attempts, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
        values (j.id, 'CANCELED', pulse.now(), cancel.reason, j.submitted_at, j.priority, j.lane, j.attempt, j.charged, j.max_attempts, j.queue, j.kind, j.args, j.tenant, j.project, j.key, j.schedule_id, j.occurrence, j.options, j.trace, j.meta);
      perform pulse.free_keys(array[id]);
      return 'CANCELED';
    elsif now_is = 'RUNNING' then
      -- By now it may run as another delivery than the one whose lane we hold: moved, or retried, by someone else.
      select * into j from pulse.find(id);
      c := pulse.state_of(j);
      continue when c.pos is null;
      insert into pulse.cancel_request (id, claim, pos, executor, at, by, reason)
        values (cancel.id, c.claim, c.pos, c.executor, pulse.now(), cancel.by, cancel.reason)
        on conflict on constraint cancel_request_pkey do update set claim = excluded.claim, pos = excluded.pos, executor = excluded.executor;
      return 'RUNNING';
    elsif now_is = 'CANCELED' then
      return 'CANCELED';
    else
      perform pulse.refuse_transition('cancel', id, now_is);
    end if;
  end loop;
  raise exception 'job % moved all the time; try again', id using errcode = 'serialization_failure';
end $$;

-- retry: run a dead letter again, as a new delivery with its whole budget.
--
-- returns   whether there is such a job
create function pulse.retry(id uuid) returns boolean
  language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  o      pulse.outcome;
  now_is text;
  number bigint;
begin
  perform pulse.refuse_isolation();
  delete from pulse.outcome x where x.id = retry.id and x.status = 'DEAD_LETTERED' returning x.* into o;
  if not found then
    select g.status into now_is from pulse.get(id) g;
    if not found then return false; end if;
    perform pulse.refuse_transition('retry', id, now_is);
  end if;
  if o.key is not null and pulse.hold_key(o.tenant, o.key, o.id, null) is not null then
    raise exception 'retry is not possible: the key of job % is held by another job', id
      using errcode = 'PU409', detail = concat_ws(' ', 'retry', id, o.status),
            hint = 'Its key is held by another job. Retry it when that one has ended';
  end if;
  insert into pulse.log (submitted_at, id, lane_id, priority, lane, attempt, charged, max_attempts, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
    values (o.submitted_at, o.id, pulse.lane_id(o.queue, o.priority, o.lane), o.priority, o.lane, least(o.attempt + 1, 32767), 0, o.max_attempts, o.queue, o.kind, o.args, o.tenant, o.project, o.key, o.schedule_id, o.occurrence, o.options, o.trace, o.meta)
    returning seq into number;
  insert into pulse.place (id, seq) values (retry.id, number);
  perform pulse.wake(o.queue);
  return true;
end $$;

-- move: give a waiting job another queue or priority (null: as it was), as a new delivery.
--
-- returns   whether there is such a job
-- locks     the job's lane until commit
create function pulse.move(id uuid, queue text default null, priority integer default null) returns boolean
  language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  j      pulse.log;
  now_is text;
  lane   smallint;
  number bigint;
begin
  perform pulse.refuse_isolation();
  for i in 1 .. 100 loop
    update pulse.delayed d set queue = coalesce(move.queue, d.queue), priority = coalesce(move.priority, d.priority),
           lane = pulse.lane_of(coalesce(move.queue, d.queue), d.tenant) where d.id = move.id;
    if found then return true; end if;
    select * into j from pulse.find(id);
    if found then
      perform pulse.hold_lane(j);
    end if;
    select g.status into now_is from pulse.get(id) g;
    if not found then return false; end if;
    if now_is not in ('PENDING', 'RETRYING') then
      perform pulse.refuse_transition('move', id, now_is);
    end if;
    continue when pulse.set_apart(j);
    delete from pulse.log l where l.id = move.id and l.seq = j.seq and pulse.is_pending(l);
    continue when not found;
    queue := coalesce(queue, j.queue);
    priority := coalesce(priority, j.priority);
    lane := pulse.lane_of(queue, j.tenant);
    insert into pulse.log (submitted_at, id, lane_id, priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      values (j.submitted_at, j.id, pulse.lane_id(move.queue, move.priority::smallint, lane), move.priority, lane, j.attempt, j.charged, j.max_attempts, j.suspect, move.queue, j.kind, j.args, j.tenant, j.project, j.key, j.schedule_id, j.occurrence, j.options, j.trace, j.meta)
      returning seq into number;
    insert into pulse.place (id, seq) values (move.id, number);
    perform pulse.wake(queue);
    return true;
  end loop;
  raise exception 'job % moved all the time; try again', id using errcode = 'serialization_failure';
end $$;
