-- Lanes and who waits at them: discovery, parking, pausing.

-- discover: remember the lanes of jobs that were added since, so that claims look into them.
--
-- sent by   claimer, every second or so while numbers are drawn, and on a wake-up
-- returns   how many lanes are new
-- index     log_lane, one probe per lane and partition; partitions below the floor are pruned
-- locks     discovery (only tried: whoever is at it does it for all)
create function pulse.discover() returns integer
  language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  -- As in claim: first the sequence, then our xid. If we have one already, the floor stays where it is.
  first   constant boolean := pg_current_xact_id_if_assigned() is null;
  drawn   constant bigint := coalesce(pg_sequence_last_value('pulse.log_seq'), 0);
  d       pulse.discovery;
  -- Where the floor's partition begins: a condition that every row of it meets, so that no lane is waded through.
  start   bigint;
  snap    pg_snapshot;
  added   integer;
begin
  select * into d from pulse.discovery;
  if d.floor_s >= drawn or not pg_try_advisory_xact_lock(1886745442, 0) then
    return 0;
  end if;
  select * into d from pulse.discovery;          -- again, under the lock
  start := coalesce((select max(p.lower_seq) from pulse.partition p where p.lower_seq <= d.floor_s), 0);
  with recursive lanes as (
    (select j.lane_id as id, j.queue, j.priority, j.lane from pulse.log j where j.seq >= start order by 1 limit 1)
    union all
    select n.* from lanes l, lateral (
      select j.lane_id, j.queue, j.priority, j.lane from pulse.log j
       where j.lane_id > l.id and j.seq >= start order by 1 limit 1) n),
  new as (
    insert into pulse.lane (queue, priority, lane)
      select l.queue, l.priority, l.lane from lanes l
       where not exists (select from pulse.lane k where k.queue = l.queue and k.priority = l.priority and k.lane = l.lane)
      on conflict do nothing returning 1)
  select pg_current_snapshot(), (select count(*) from new) into snap, added;
  -- Numbers up to next_s belong to transactions before next_x. Once all of those have ended, this scan has seen their rows.
  if first and pg_snapshot_xmin(snap) > d.next_x then
    update pulse.discovery set floor_s = greatest(floor_s, next_s), next_s = drawn, next_x = pg_current_xact_id();
  end if;
  return added;
end $$;

-- park: from now on, enqueues into these queues wake us.
--
-- sent by   claimer, when it found nothing
-- returns   a transaction id: producers that may have missed that we are parked are below it. As long as one of them is
--           open, polling goes on (pulse.is_quiet)
create function pulse.park(queues text[]) returns xid8
  language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  bits bigint;
begin
  select coalesce(bit_or(pulse.queue_bit(q)), 0) into bits from unnest(queues) q;
  perform pg_advisory_xact_lock(1886745443, 0);
  if (select last_value from pulse.parked) & bits <> bits then
    perform setval('pulse.parked', (select last_value from pulse.parked) | bits);
  end if;
  return pg_current_xact_id();                    -- drawn after the flag is up
end $$;

-- unpark: we are awake. Others who are parked at these queues raise the flag again when they poll.
create function pulse.unpark(queues text[]) returns void
  language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  bits bigint;
begin
  select coalesce(bit_or(pulse.queue_bit(q)), 0) into bits from unnest(queues) q;
  perform pg_advisory_xact_lock(1886745443, 0);
  if (select last_value from pulse.parked) & bits <> 0 then
    perform setval('pulse.parked', (select last_value from pulse.parked) & ~bits);
  end if;
end $$;

-- is_quiet: has every producer that may have missed that we are parked committed or rolled back?
create function pulse.is_quiet(parked xid8) returns boolean language sql volatile
  return not exists (select from pg_snapshot_xip(pg_current_snapshot()) i where i < parked);

-- pause: stop claiming, from one queue or (null) from all. Jobs that run go on; enqueues go on.
--
-- returns   whether it was going before
create function pulse.pause(queue text, by text, reason text) returns boolean
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if queue is null then
    update pulse.dispatch set paused_at = pulse.now(), paused_by = by, pause_reason = reason where paused_at is null;
    return found;
  end if;
  insert into pulse.queue as q (name, paused_at, paused_by, pause_reason) values (pause.queue, pulse.now(), by, reason)
    on conflict (name) do update set paused_at = excluded.paused_at, paused_by = excluded.paused_by, pause_reason = excluded.pause_reason, updated_at = pulse.now()
      where q.paused_at is null;
  return found;
end $$;

-- resume: claim again, from one queue or (null) undo a pause of all; a queue paused by itself stays so.
create function pulse.resume(queue text) returns boolean
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if queue is null then
    update pulse.dispatch set paused_at = null, paused_by = null, pause_reason = null where paused_at is not null;
  else
    update pulse.queue q set paused_at = null, paused_by = null, pause_reason = null, updated_at = pulse.now()
     where q.name = resume.queue and q.paused_at is not null;
  end if;
  return found;
end $$;
