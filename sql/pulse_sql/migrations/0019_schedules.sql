-- Schedules: a mutable row that says when, and a ledger of what became of each occurrence. All timing is in one column, the
-- cursor `next_run_at`: the first occurrence that was not decided yet. What it takes to find the next one is the
-- scheduler's (pulse_runtime/timing/timings.py); what was decided is guarded here.

-- The calendar that Python and JSON know too: a date beyond it in one row would keep the scheduler from reading the others.
create domain pulse.schedule_time as timestamptz check (value >= '1970-01-01T00:00:00Z' and value < '3000-01-01T00:00:00Z');
create domain pulse.schedule_name as text check (octet_length(value) between 1 and 200);

create table pulse.schedule (
  id            uuid        primary key,
  tenant        pulse.tenant_name,
  project       pulse.project_name,
  name          pulse.schedule_name not null,
  owner         text        check (octet_length(owner) <= 200),
  declared_by   text        check (octet_length(declared_by) <= 1000),      -- the application whose code declares it; null: made through the API
  -- when
  kind          text        not null check (kind in ('once', 'every', 'cron')),
  spec          text        not null check (octet_length(spec) between 1 and 1000),
  tz            text        check (octet_length(tz) between 1 and 100),
  anchor        pulse.schedule_time,
  -- what
  job_kind      pulse.kind_name       not null,
  args          pulse.args_json       not null default '{}',
  queue         pulse.queue_name      not null default 'default',
  priority      pulse.priority_number not null default 0,
  max_attempts  pulse.attempts_budget not null default 25,
  options       pulse.options_json,
  meta          pulse.meta_json,
  -- policies
  missed        text        not null default 'latest' check (missed in ('latest', 'all', 'none')),
  missed_most   integer     not null default 100 check (missed_most between 1 and 1000),
  missed_pace_s float8      not null default 0 check (missed_pace_s between 0 and 3600),
  within_s      float8      check (within_s > 0 and within_s <= 31536000),
  overlap       text        not null default 'allow' check (overlap in ('allow', 'skip', 'queue_one')),
  jitter        float8      not null default 0 check (jitter between 0 and 0.5),
  delivery      text        not null default 'at_least_once' check (delivery in ('at_least_once', 'at_most_once')),
  pause_after   integer     not null default 10 check (pause_after = 0 or pause_after between 3 and 100),
  until         pulse.schedule_time,
  max_fires     bigint      check (max_fires >= 1),
  lookahead_s   float8      not null default 60 check (lookahead_s between 0 and 3600),
  -- the cursor
  reckon_after  timestamptz not null,               -- the last decided occurrence, or when the timing was made: what comes after it counts
  next_run_at   pulse.schedule_time,                -- null: to be reckoned, or there is none
  last_due_at   timestamptz,                        -- until then the last decided occurrences may be waiting
  look_at       timestamptz,                        -- when the scheduler wants to see it; null: never
  queued_at     timestamptz,                        -- overlap queue_one: the occurrence that waits for the run to end
  zone_version  text,                               -- the zone database that the cursor was reckoned with
  fires         bigint      not null default 0,
  -- who and when
  revision      integer     not null default 1,     -- rises with every change by a person, so that a decision from before it is void
  created_at    timestamptz not null,
  created_by    text        not null,
  updated_at    timestamptz,
  updated_by    text,
  paused_at     timestamptz,
  paused_by     text,
  pause_reason  text,
  resumed_at    timestamptz,
  resumed_by    text,
  ended_at      timestamptz,                        -- `until` or `max_fires` is reached, or nothing comes any more
  deleted_at    timestamptz,
  deleted_by    text,
  check (kind <> 'every' or anchor is not null),
  check (kind <> 'cron' or tz is not null)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
create unique index schedule_name on pulse.schedule (coalesce(tenant, ''), coalesce(project, ''), name) where deleted_at is null;
create index schedule_due on pulse.schedule (look_at, id) where look_at is not null;
create index schedule_queued on pulse.schedule (queued_at) where queued_at is not null;
create index schedule_deleted on pulse.schedule (deleted_at) where deleted_at is not null;

-- One row per occurrence that was decided. The key is why there is one job for each.
create table pulse.occurrence (
  tenant      text        not null,                 -- '' for none
  schedule_id uuid        not null,
  occurrence  timestamptz not null,                 -- the nominal time, whatever the jitter
  due_at      timestamptz not null,
  decided_at  timestamptz not null,
  verdict     text        not null check (verdict in ('fired', 'late', 'skipped', 'missed', 'lost', 'withdrawn', 'queued')),
  reason      text,
  job_id      uuid,
  primary key (tenant, schedule_id, occurrence)
);
create index occurrence_job on pulse.occurrence (job_id) where job_id is not null;
create index occurrence_decided on pulse.occurrence (decided_at);

-- The unfinished run of each schedule whose runs must not overlap. Freed with the job's key, however the job ends.
create table pulse.schedule_run (
  schedule_id uuid primary key,
  job_id      uuid not null
);
create index schedule_run_job on pulse.schedule_run (job_id);

-- How deliveries of schedules' jobs ended, until they are counted; and that a schedule was resumed, after which failures are counted
-- from none. Only ever added to by settle, close and resume: counters in a row would make every reporter wait for whoever holds it.
create table pulse.schedule_ending (
  schedule_id uuid        not null,
  occurrence  timestamptz not null,
  at          timestamptz not null,
  ending      text        not null check (ending in ('completed', 'failed', 'dead', 'lost', 'canceled', 'resumed')),   -- failed: will be tried again
  error       text
);

create table pulse.schedule_tally (
  schedule_id     uuid        primary key,
  last_attempt_at timestamptz,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_error      text,
  failures        integer     not null default 0,   -- final ones, in a row
  succeeded       bigint      not null default 0,
  failed          bigint      not null default 0    -- final ones, in all
) with (fillfactor = 70);

-- Occurrences before this moment may be gone from the ledger (pulse.prune_schedules).
create table pulse.occurrence_floor (
  only_one boolean     primary key default true check (only_one),
  at       timestamptz
);
insert into pulse.occurrence_floor default values;

-- What waits of a schedule: retries, and occurrences that were fired ahead of time.
create index delayed_schedule on pulse.delayed (schedule_id) where schedule_id is not null;

-- first_run: the first occurrence after a moment, where SQL can tell: null for cron, which is reckoned by the scheduler.
create function pulse.first_run(kind text, spec text, anchor timestamptz, after timestamptz) returns timestamptz
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  period_s constant numeric := case when kind = 'every' then extract(epoch from spec::interval) end;
begin
  if kind = 'once' then
    return case when spec::timestamptz > after then spec::timestamptz end;
  elsif kind = 'every' then
    if not period_s between 1 and 315360000 then
      raise exception 'spec: a period of % is not from 1 s to 10 years', spec using errcode = 'invalid_parameter_value';
    end if;
    return anchor + (greatest(floor(extract(epoch from after - anchor) / period_s) + 1, 0) * period_s)::float8 * interval '1 s';
  end if;
  return null;
end $$;

-- schedule_id: the id of a schedule that is not deleted, by its name; null if there is none.
create function pulse.schedule_id(name text, tenant text default null, project text default null) returns uuid
  language sql stable set search_path = pg_catalog, pg_temp as $$
  select s.id from pulse.schedule s
   where s.name = $1 and coalesce(s.tenant, '') = coalesce($2, '') and coalesce(s.project, '') = coalesce($3, '') and s.deleted_at is null
$$;

revoke all on all tables in schema pulse from public;
revoke all on all functions in schema pulse from public;
