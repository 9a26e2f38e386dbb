-- What became of schedules: lists, history, and what must not exist.

-- schedules: one row per schedule that is not deleted, with how its runs ended as far as a scheduler has counted them.
create view pulse.schedules as
  select s.*, case when s.paused_at is not null then 'PAUSED' when s.ended_at is not null then 'ENDED' else 'ACTIVE' end as status,
         t.last_attempt_at, t.last_success_at, t.last_failure_at, t.last_error, coalesce(t.failures, 0) as failures,
         coalesce(t.succeeded, 0) as succeeded, coalesce(t.failed, 0) as failed,
         (select min(d.run_at) from pulse.delayed d where d.schedule_id = s.id and d.attempt > 1) as retry_at
    from pulse.schedule s left join pulse.schedule_tally t on t.schedule_id = s.id
   where s.deleted_at is null;

-- schedule_history: what became of the occurrences of a schedule, the latest first, also of a deleted one.
--
-- takes     before: an occurrence; those earlier than it
-- returns   lateness_s: from due to the first start of the job, or to the decision if it has not started or there is none
-- index     the ledger's primary key, that of failure
create function pulse.schedule_history(id uuid, most integer default 50, before timestamptz default null)
  returns table (occurrence timestamptz, due_at timestamptz, decided_at timestamptz, verdict text, reason text, job_id uuid, status text, lateness_s float8)
  language sql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
  select o.occurrence, o.due_at, o.decided_at, o.verdict, o.reason, o.job_id, j.status,
         greatest(extract(epoch from coalesce((select min(f.at - coalesce(f.took_us, 0) * interval '1 us') from pulse.failure f where f.id = o.job_id),
                                              j.started_at, greatest(o.decided_at, o.due_at)) - o.due_at), 0)::float8
    from (select k.* from pulse.occurrence k
           where k.tenant = coalesce((select s.tenant from pulse.schedule s where s.id = $1), '') and k.schedule_id = $1
             and k.occurrence < coalesce($3, 'infinity')
           order by k.occurrence desc limit least($2, 1000)) o
    left join lateral pulse.get(o.job_id) j on o.job_id is not null
   order by o.occurrence desc
$$;

-- schedule_verdicts: how many occurrences of a schedule in [begins, ends] had which verdict; those of people (run now) are left out.
create function pulse.schedule_verdicts(id uuid, begins timestamptz, ends timestamptz) returns table (verdict text, n bigint)
  language sql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
  select k.verdict, count(*) from pulse.occurrence k
   where k.tenant = coalesce((select s.tenant from pulse.schedule s where s.id = $1), '') and k.schedule_id = $1
     and k.occurrence >= begins and k.occurrence <= ends and coalesce(k.reason, '') not like 'run now by %'
   group by k.verdict
$$;

-- prune_schedules: forget occurrences that were decided longer ago than `keep`, and schedules deleted before.
--
-- sent by   reporter, for the watchdog, again until it deletes less than `most`
-- returns   how many rows went
-- index     occurrence_decided, schedule_deleted
create function pulse.prune_schedules(keep interval, most integer default 5000) returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  old   constant timestamptz := pulse.now() - keep;
  last  timestamptz;
  total bigint;
begin
  if not pg_try_advisory_xact_lock(1886745447, 0) then return 0; end if;
  with gone as (
    delete from pulse.occurrence o
     where o.ctid = any (array(select k.ctid from pulse.occurrence k where k.decided_at < old and k.verdict <> 'queued' order by k.decided_at limit most))
    returning greatest(o.occurrence, o.decided_at) as at)
  select count(*), max(g.at) into total, last from gone g;
  update pulse.occurrence_floor f set at = greatest(f.at, last) where last > coalesce(f.at, '-infinity');
  with gone as (
    delete from pulse.schedule s
     where s.id = any (array(select k.id from pulse.schedule k where k.deleted_at < old order by k.deleted_at limit most))
       and not exists (select from pulse.occurrence o where o.tenant = coalesce(s.tenant, '') and o.schedule_id = s.id)
    returning s.id)
  delete from pulse.schedule_tally t using gone g where t.schedule_id = g.id;
  return total;
end $$;

-- audit: what must not exist. The expected number of rows is none; nothing is repaired.
--
-- sent by   reporter, for the watchdog, once a day; `pulse-runtime db audit`
-- takes     tolerance: how late a cursor, or a job that was just added, may be; most: of each kind
create function pulse.audit(tolerance interval default '2 min', most integer default 100) returns table (finding text, id text, detail text)
  language plpgsql stable set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  moment constant timestamptz := pulse.now();
  -- Jobs of earlier ones may be gone with their partition of the log.
  kept   constant timestamptz := (select min(p.opened_at) from pulse.partition p);
begin
  return query
    select 'a schedule that is overdue', s.id::text, format('%s: its cursor is at %s, and it wants to be seen at %s', s.name, coalesce(s.next_run_at::text, 'none'), coalesce(s.look_at::text, 'none'))
      from pulse.schedule s
     where s.deleted_at is null and s.paused_at is null and s.ended_at is null
       and case when s.look_at is null then s.queued_at is null        -- nobody will ever look at it
                when s.look_at < moment - tolerance then coalesce(s.next_run_at, s.look_at) < moment - tolerance
                else s.jitter = 0 and s.next_run_at < moment - tolerance end limit most;
  return query
    select 'an occurrence without its job', o.schedule_id::text, format('of %s, job %s', o.occurrence, o.job_id)
      from pulse.occurrence o
     where o.verdict in ('fired', 'late') and o.decided_at > kept + tolerance and o.decided_at < moment - tolerance
       and not exists (select from pulse.place p where p.id = o.job_id)
       and not exists (select from pulse.delayed d where d.id = o.job_id)
       and not exists (select from pulse.outcome x where x.id = o.job_id)
       and not exists (select from pulse.find(o.job_id)) limit most;
  return query
    select 'a job of a schedule without its occurrence', j.id::text, format('schedule %s, occurrence %s', j.schedule_id, j.occurrence)
      from (select l.id, l.schedule_id, l.occurrence, l.submitted_at from pulse.log l where l.schedule_id is not null
            union all
            select d.id, d.schedule_id, d.occurrence, d.submitted_at from pulse.delayed d where d.schedule_id is not null) j
     where j.submitted_at > coalesce((select f.at from pulse.occurrence_floor f), '-infinity')
       and not exists (select from pulse.occurrence o where o.job_id = j.id and o.schedule_id = j.schedule_id) limit most;
  return query
    select 'a run that is over and blocks the next one', r.schedule_id::text, format('job %s', r.job_id)
      from pulse.schedule_run r
     where coalesce((select g.status from pulse.get(r.job_id) g), 'gone') in ('COMPLETED', 'DEAD_LETTERED', 'CANCELED', 'gone') limit most;
  return query
    select 'a lease without its claim', l.claim::text, format('executor %s', l.executor)
      from pulse.lease l where not exists (select from pulse.claim c where c.id = l.claim) limit most;
end $$;

revoke all on all tables in schema pulse from public;
revoke all on all functions in schema pulse from public;
