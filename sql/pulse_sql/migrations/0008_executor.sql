-- Executors: who may hold leases, who is alive, and what becomes of the leases of those who are not.

-- executor_lock: the key of an executor's advisory lock: held by its claims, so that "ended" comes after the last of them.
-- (claim uses the same expression.)

-- register_executor: a new incarnation of an executor. Asked again for the same process, the same id.
create function pulse.register_executor(runtime text, host text, boot_id text, pid integer, pid_start text default '', kinds text[] default null)
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  known bigint;
begin
  select e.id into known from pulse.executor e
   where e.runtime = register_executor.runtime and e.ended_at is null and e.host = register_executor.host
     and e.boot_id = register_executor.boot_id and e.pid = register_executor.pid
     and e.pid_start = register_executor.pid_start and e.pid_start <> '';
  if found then return known; end if;
  insert into pulse.executor as e (runtime, host, boot_id, pid, pid_start, kinds, started_at, beat_at)
    values (runtime, host, boot_id, pid, pid_start, kinds, pulse.now(), pulse.now()) returning e.id into known;
  return known;
end $$;

-- extend: these executors are alive.
--
-- sent by   reporter, once per beat for all executors of a runtime
-- returns   those that were refused: they have ended or never were, and must stop
create function pulse.extend(executors bigint[]) returns bigint[]
  language sql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
  with alive as (
    select e.id from pulse.executor e where e.id = any (executors) and e.ended_at is null order by e.id for no key update),
  beaten as (
    update pulse.executor e set beats = e.beats + 1, beat_at = pulse.now() from alive a where e.id = a.id returning e.id)
  select coalesce(array_agg(x), '{}') from unnest(executors) x where x not in (select id from beaten)
$$;

-- end_executor: from now on this executor may not claim. Waits for a claim of it that is under way.
--
-- sent by   reporter, before it releases what a dead executor held; reap
-- takes     beats: end it only if it has not beaten since (compare-and-set); null: in any case
-- returns   whether it is ended by this call
-- locks     the executor until commit
create function pulse.end_executor(executor bigint, why text, beats bigint default null) returns boolean
  language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
begin
  perform pulse.refuse_isolation();
  perform pg_advisory_xact_lock(1886745444, (end_executor.executor & 2147483647)::integer);
  update pulse.executor e set ended_at = pulse.now(), ended_why = why
   where e.id = end_executor.executor and e.ended_at is null and (end_executor.beats is null or e.beats = end_executor.beats);
  return found;
end $$;

-- give_back: end all open deliveries of an executor with one ending.
--
-- sent by   reap, and the reporter at a drain ('release') or after a death without a black box ('lost')
-- returns   how many
create function pulse.give_back(executor bigint, ending text, error text) returns bigint
  language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  l     record;
  total bigint := 0;
begin
  for l in select e.claim, e.token, e.open from pulse.lease e where e.executor = give_back.executor order by e.claim loop
    -- One claim at a time; close locks it and looks again. A lease that cannot be given back does not hold up the others: it
    -- stays, and is tried again for as long as its executor is among those that stand (executors_standing).
    begin
      total := total + pulse.close(array_agg(l.claim), array_agg(l.token), array_agg(p), array_agg(give_back.ending),
                                   array_agg(null::bigint), array_agg(give_back.error), array_agg(null::bigint))
        from generate_series(0, length(l.open) - 1) p where get_bit(l.open, p) = 1;
    exception when others then
      raise warning 'claim % of executor % cannot be given back: %', l.claim, give_back.executor, sqlerrm;
    end;
  end loop;
  return total;
end $$;

-- reap: end an executor that was seen to stand still, and give its jobs to others.
--
-- sent by   reporter, for the watchdog that saw `beats` unchanged for a lease time on its own clock
-- returns   how many deliveries were given back; null if the executor has beaten since or has ended: nothing was done
create function pulse.reap(executor bigint, beats bigint) returns bigint
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not pulse.end_executor(executor, 'its lease lapsed', beats) then
    return null;
  end if;
  return pulse.give_back(executor, 'lost', 'the executor''s lease lapsed');
end $$;

-- executors_standing: the executors that have not ended, for those who watch them stand still, and those that ended but
-- left a lease behind (the reaper died half-way).
create function pulse.executors_standing(out id bigint, out runtime text, out beats bigint, out ended boolean) returns setof record
  language sql stable set search_path = pg_catalog, pg_temp as $$
  select e.id, e.runtime, e.beats, false from pulse.executor e where e.ended_at is null
  union all
  select distinct l.executor, e.runtime, e.beats, true from pulse.lease l left join pulse.executor e on e.id = l.executor
   where e.ended_at is not null or e.id is null
$$;
