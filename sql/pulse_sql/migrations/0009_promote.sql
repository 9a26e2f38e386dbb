-- promote: move delayed jobs that are due into the log.
--
-- sent by   reporter, when look says that some are due
-- returns   how many were moved, and the seconds until the next one is due (null: there is none)
-- index     delayed_due
-- locks     the rows it moves; two at once take different ones
create function pulse.promote(most integer, out moved bigint, out next_s float8)
  language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  q      text;
  woken  text[];
begin
  -- Nobody is told of the move before a claim commits, and that flushes this commit too; lost in a crash, the rows are where
  -- they were. So it does not wait for the disk.
  perform set_config('synchronous_commit', 'off', true);
  with taken as (
    delete from pulse.delayed d where d.ctid = any (array(
      select e.ctid from pulse.delayed e where e.run_at <= pulse.now() order by e.run_at, e.id limit most for update skip locked))
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
  next_s := (select greatest(extract(epoch from d.run_at - pulse.now()), 0) from pulse.delayed d order by d.run_at, d.id limit 1);
end $$;
