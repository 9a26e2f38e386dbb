-- look: everything that a claimer wants to know when it polls, as one question. Writes nothing unless a lane is new, so that
-- an idle system writes nothing at all.
--
-- sent by   claimer, at every poll
-- takes     queues that it serves, executors of its runtime, parked_x: what pulse.park returned; schedules: how many due schedules
--           to tell at most (0: do not look for them); runtime, shards, shard: as for due_schedules
-- returns   moment: the database's time; drawn: the last number of the log; paused: dispatch is; resting: those of the queues
--           that are paused; ready: a claim would find something; new_lanes: how many were discovered just now; due_s: seconds
--           until the next delayed job is due (0: promote now; null: there is none); cancels: null or an array of
--           [claim, position, reason] for jobs that these executors run and someone wants canceled, until they have ended;
--           parked: enqueues into all of these queues would wake us; quiet: no producer is left that may have missed that;
--           due and next_s: as of due_schedules
-- index     delayed_due, cancel_request_executor, and those of lanes_with_work
create function pulse.look(queues text[], executors bigint[] default '{}', parked_x xid8 default null,
    schedules integer default 0, runtime text default null, shards integer default null, shard integer default null,
    out moment timestamptz, out drawn bigint, out paused boolean, out resting text[], out ready boolean, out new_lanes integer,
    out due_s float8, out cancels json, out parked boolean, out quiet boolean,
    out due json, out next_s float8)
  language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off set plan_cache_mode = force_generic_plan as $$
begin
  moment := pulse.now();
  drawn := coalesce(pg_sequence_last_value('pulse.log_seq'), 0);
  quiet := parked_x is null or pulse.is_quiet(parked_x);      -- before we look, so that we see what made it so
  new_lanes := pulse.discover();
  parked := coalesce((select bit_or(pulse.queue_bit(q)) & ~coalesce(pg_sequence_last_value('pulse.parked'), 0) = 0 from unnest(queues) q), false);
  select d.paused_at is not null,
         array(select q.name from pulse.queue q where q.name = any (queues) and q.paused_at is not null),
         exists (select from pulse.lanes_with_work(queues, array_fill(1, array[cardinality(queues)]), 0, false)),
         (select greatest(extract(epoch from n - moment), 0) from pulse.next_due(moment) n where n is not null),
         (select json_agg(json_build_array(r.claim, r.pos, r.reason)) from pulse.cancel_request r
           where r.executor = any (executors) and exists (select from pulse.lease l where l.claim = r.claim and get_bit(l.open, r.pos) = 1))
    into paused, resting, ready, due_s, cancels
    from pulse.dispatch d;
  if schedules > 0 then
    select s.due, s.next_s into due, next_s from pulse.due_schedules(schedules, runtime, shards, shard) s;
  end if;
end $$;
