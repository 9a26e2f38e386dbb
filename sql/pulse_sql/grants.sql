-- Five roles for Pulse, to be granted to the accounts of applications and people. Run again after every migration.
--
--   pulse_producer   may enqueue, and nothing else
--   pulse_planner    may make, change and delete schedules
--   pulse_viewer     may read
--   pulse_runtime    what pulse-runtime needs; xid and seq of the log are not its to write
--   pulse_admin      pulse_runtime, and settings, and COPY into the log

do $roles$
declare
  wanted text;
begin
  foreach wanted in array array['pulse_producer', 'pulse_planner', 'pulse_viewer', 'pulse_runtime', 'pulse_admin'] loop
    if not exists (select from pg_catalog.pg_roles where rolname = wanted) then
      execute format('create role %I nologin', wanted);
    end if;
  end loop;
end $roles$;

grant usage on schema pulse to pulse_producer, pulse_planner, pulse_viewer, pulse_runtime, pulse_admin;

grant execute on function pulse.enqueue, pulse.enqueue_plain, pulse.enqueue_many to pulse_producer;

grant select on pulse.schedules, pulse.schedule, pulse.occurrence, pulse.occurrence_floor to pulse_planner;
grant execute on function pulse.now, pulse.schedule_id, pulse.add_schedule, pulse.edit_schedule, pulse.pause_schedule, pulse.resume_schedule,
  pulse.delete_schedule, pulse.delete_schedules, pulse.run_schedule, pulse.backfill to pulse_planner;

grant select on all tables in schema pulse to pulse_viewer, pulse_runtime;
grant execute on function pulse.now, pulse.uuid7_at, pulse.lane_id, pulse.cursor_of, pulse.find, pulse.is_pending, pulse.claim_of, pulse.retry_of, pulse.state_of, pulse.get,
  pulse.deliveries, pulse.history, pulse.last_error, pulse.listed_of, pulse.cursors, pulse.ready, pulse.list, pulse.list_ended, pulse.list_running,
  pulse.list_completed, pulse.list_pending, pulse.list_retrying, pulse.list_delayed, pulse.list_delayed_retries, pulse.delayed_queues, pulse.list_all, pulse.counts,
  pulse.oldest_due, pulse.schedule_id, pulse.schedule_history, pulse.schedule_verdicts, pulse.audit
  to pulse_viewer;

grant execute on all functions in schema pulse to pulse_runtime;
grant insert, update, delete on
  pulse.place, pulse.delayed, pulse.retrying, pulse.outcome, pulse.failure, pulse.result, pulse.progress, pulse.key, pulse.lane, pulse.discovery,
  pulse.cancel_request, pulse.executor, pulse.claim, pulse.lease, pulse.done,
  pulse.schedule, pulse.occurrence, pulse.schedule_run, pulse.schedule_ending, pulse.schedule_tally to pulse_runtime;
grant delete on pulse.log to pulse_runtime;
grant insert (submitted_at, id, lane_id, priority, lane, attempt, charged, max_attempts, suspect, queue, kind, args, tenant, project, key,
              schedule_id, occurrence, options, trace, meta) on pulse.log to pulse_runtime;
grant usage on sequence pulse.log_seq, pulse.retrying_id_seq to pulse_runtime;
grant select, update on sequence pulse.log_seq, pulse.parked to pulse_runtime;
revoke update on sequence pulse.log_seq from pulse_runtime;

grant pulse_runtime to pulse_admin;
grant insert, update, delete on pulse.queue, pulse.dispatch, pulse.partition to pulse_admin;
