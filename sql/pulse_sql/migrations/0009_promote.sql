-- next_due: when the next promote has something to do: the next delayed job is due, or the next that wait together. Those of the
-- latter that are due already wait for a claim and nothing else.
create function pulse.next_due(moment timestamptz) returns timestamptz language plpgsql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  return least((select d.run_at from pulse.delayed d order by d.run_at, d.id limit 1),
               (select t.run_at from pulse.retrying t where t.run_at > moment order by t.run_at, t.id limit 1));
end $$;

-- promote: move delayed jobs that are due into the log. Those that wait together are claimed from where they are.
--
-- sent by   claimer, when look says that some are due
-- returns   moved: how many; due: whether any can be claimed, these or others that waited together; next_s: seconds until the next
--           one is due (null: there is none)
-- index     delayed_due, retrying_due
-- locks     the rows it moves; two at once take different ones
create function pulse.promote(most integer, out moved bigint, out due boolean, out next_s float8)
  language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  moment constant timestamptz := pulse.now();
  q      text;
  woken  text[];
begin
  moved := 0;
  if exists (select from pulse.delayed d where d.run_at <= moment) then
    -- Nobody is told of the move before a claim commits, and that flushes this commit too; lost in a crash, the rows are where
    -- they were. So it does not wait for the disk.
    perform set_config('synchronous_commit', 'off', true);
    with taken as (
      delete from pulse.delayed d where d.ctid = any (array(
        select e.ctid from pulse.delayed e where e.run_at <= moment order by e.run_at, e.id limit most for update skip locked))
      returning d.*),
    added as (
      insert into pulse.log (submitted_at, id, lane_id, priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
        select submitted_at, id, pulse.lane_id(queue, priority, lane), priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta
          from taken order by run_at, id
        returning id, seq, queue),
    seats as (
      insert into pulse.place (id, seq) select a.id, a.seq from added a)
    select count(*), array_agg(distinct a.queue) into moved, woken from added a;
    if pg_sequence_last_value('pulse.parked') <> 0 then
      foreach q in array coalesce(woken, '{}') loop
        perform pulse.wake(q);
      end loop;
    end if;
  end if;
  due := moved > 0 or exists (select from pulse.retrying t where t.run_at <= moment);
  next_s := (select greatest(extract(epoch from n - moment), 0) from pulse.next_due(moment) n where n is not null);
end $$;
