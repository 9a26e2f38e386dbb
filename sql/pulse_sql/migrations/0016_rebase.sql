-- Rebase: after a logical dump and restore, rows and cursors carry transaction ids of another cluster. That is harmless as long
-- as all of them lie below this cluster's next one. If not, new jobs would sort behind cursors that never saw them, and be
-- lost without a word: so a runtime refuses to start, and an admin calls pulse.rebase().

-- foreign_xids: lanes that carry a transaction id which this cluster has not reached; the marks of discovery and of
-- partitions are told as a lane without a name.
--
-- sent by   runtimes at their first boot, doctor, rebase
-- index     claim's unique key, log_lane: two probes per lane (and partition)
create function pulse.foreign_xids() returns table (queue text, priority smallint, lane smallint, xid xid8)
  language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
begin
  perform pulse.discover();
  return query
    -- What is visible has ended, and so lies below xmax; except what we write ourselves.
    with horizon as materialized (select greatest(pg_snapshot_xmax(pg_current_snapshot()), pg_current_xact_id_if_assigned()) as x)
    select l.queue, l.priority, l.lane, greatest(k.x, k.next_x, k.late, j.xid)
      from pulse.lane l
      left join lateral (
        select c.x, c.next_x, (select max(o) from unnest(c.late_x) o) as late from pulse.claim c
         where c.queue = l.queue and c.priority = l.priority and c.lane = l.lane order by c.n desc limit 1) k on true
      left join lateral (
        select g.xid from pulse.log g
         where g.lane_id = pulse.lane_id(l.queue, l.priority, l.lane)
           and g.queue = l.queue and g.priority = l.priority and g.lane = l.lane order by g.xid desc limit 1) j on true
     where greatest(k.x, k.next_x, k.late, j.xid) > (select h.x from horizon h)
    union all
    select null, null, null, m.x
      from (select greatest((select d.next_x from pulse.discovery d), (select max(p.closed_x) from pulse.partition p)) as x) m
     where m.x > (select h.x from horizon h);
end $$;

-- rebase: give everything that is pending or was running a new delivery of this cluster's own, and forget the ledger.
--
-- sent by   an admin, with no runtime running: `pulse-runtime db rebase`
-- returns   how many jobs wait again, how many of them were running (attempt + 1, not charged), and how many were completed:
--           those are kept as outcomes, without the history of their deliveries
-- locks     everything, until commit; refused after two seconds if someone uses the log
create function pulse.rebase(out pending bigint, out running bigint, out completed bigint)
  language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
  moment constant timestamptz := pulse.now();
begin
  perform pulse.refuse_isolation();
  lock table pulse.log, pulse.claim, pulse.lease, pulse.done, pulse.place, pulse.lane, pulse.discovery, pulse.partition, pulse.delayed,
             pulse.retrying, pulse.outcome, pulse.executor in access exclusive mode;
  -- Those that wait together to be retried are delayed ones from now on: their place in the log goes.
  insert into pulse.delayed (id, run_at, submitted_at, priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
    select j.id, t.run_at, j.submitted_at, j.priority, j.lane, t.attempt, t.charged, j.max_attempts, j.suspect, j.queue, j.kind, j.args, j.tenant, j.project, j.key, j.schedule_id, j.occurrence, j.options, j.trace, j.meta
      from pulse.retrying t, unnest(t.ids[t.taken + 1 :], t.seqs[t.taken + 1 :]) u(id, seq) join pulse.log j on j.id = u.id and j.seq = u.seq
    on conflict (id) do nothing;
  delete from pulse.retrying;
  create temporary table pulse_rebase on commit drop as
    with cursors as materialized (
      select distinct on (c.queue, c.priority, c.lane) c.queue, c.priority, c.lane, c.x, c.s, c.late_x, c.late_s
        from pulse.claim c order by c.queue, c.priority, c.lane, c.n desc),
    leased as materialized (
      select u.id, u.seq, l.claim, l.executor, c.attempt, c.charged from pulse.lease l join pulse.claim c on c.id = l.claim, unnest(c.ids, c.seqs) with ordinality u(id, seq, ord)
       where get_bit(l.open, u.ord::integer - 1) = 1)
    select j.*, case when l.id is not null then 'running'
                     when k.x is null or (j.xid, j.seq) > (k.x, k.s)
                       or exists (select from unnest(k.late_x, k.late_s) o(x, s) where o.x = j.xid and j.seq > o.s) then 'pending'
                     else 'completed' end as state, l.claim, l.executor, coalesce(l.attempt, j.attempt) as attempt_now, coalesce(l.charged, j.charged) as charged_now
      from pulse.log j
      left join cursors k on k.queue = j.queue and k.priority = j.priority and k.lane = j.lane
      left join leased l on l.id = j.id and l.seq = j.seq
     where not exists (select from pulse.place p where p.id = j.id and p.seq > j.seq)
       and not exists (select from pulse.log n where n.id = j.id and n.seq > j.seq)
       and not exists (select from pulse.outcome o where o.id = j.id)
       and not exists (select from pulse.delayed d where d.id = j.id);
  insert into pulse.outcome (id, status, at, submitted_at, priority, lane, attempt, charged, max_attempts, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
    select r.id, 'COMPLETED', coalesce(f.at, r.submitted_at), r.submitted_at, r.priority, r.lane, coalesce(f.attempt, r.attempt), coalesce(f.charged, r.charged), r.max_attempts, r.queue, r.kind, r.args, r.tenant, r.project, r.key, r.schedule_id, r.occurrence, r.options, r.trace, r.meta
      from pg_temp.pulse_rebase r
      left join (select u.seq, d.at, c.attempt, c.charged from pulse.done d join pulse.claim c on c.id = d.claim, unnest(c.seqs) with ordinality u(seq, ord)
                  where get_bit(d.mask, u.ord::integer - 1) = 1) f on f.seq = r.seq
     where r.state = 'completed'
    on conflict (id) do nothing;
  get diagnostics completed = row_count;
  insert into pulse.failure (id, attempt, charged, ending, claim, executor, at, error)
    select r.id, r.attempt_now, r.charged_now, 'lost', r.claim, r.executor, moment, 'the database was restored'
      from pg_temp.pulse_rebase r where r.state = 'running';
  get diagnostics running = row_count;
  truncate pulse.log, pulse.claim, pulse.lease, pulse.done, pulse.place, pulse.lane, pulse.cancel_request;
  update pulse.executor e set ended_at = moment, ended_why = 'the database was restored' where e.ended_at is null;
  update pulse.discovery set floor_s = 0, next_x = '0', next_s = 0;
  update pulse.partition p set closed_x = '3' where p.closed_x is not null;
  with added as (
    insert into pulse.log (submitted_at, id, lane_id, priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      select r.submitted_at, r.id, r.lane_id, r.priority, r.lane, r.attempt_now + (r.state = 'running')::integer, r.charged_now, r.max_attempts, r.suspect, r.queue, r.kind, r.args, r.tenant, r.project, r.key, r.schedule_id, r.occurrence, r.options, r.trace, r.meta
        from (select * from pg_temp.pulse_rebase x where x.state <> 'completed' order by x.xid, x.seq) r
      returning id, seq)
  insert into pulse.place (id, seq) select a.id, a.seq from added a;
  get diagnostics pending = row_count;
  delete from pulse.schedule_run x where exists (select from pg_temp.pulse_rebase r where r.id = x.job_id and r.state = 'completed');
  drop table pg_temp.pulse_rebase;
end $$;
