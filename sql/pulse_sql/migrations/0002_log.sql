-- The log: one immutable row per delivery of a job (the first, and each further one). Rows are inserted and, if nobody
-- claimed them yet, deleted; never updated.
--
-- A lane is (queue, priority, lane) and is ordered by (xid, seq). Both are drawn by the row itself, xid BEFORE seq:
-- the argument that nothing is lost (docs/decisions/0002) stands on that order, and on CACHE 1.

-- Bounds of what producers send, as domains: a CHECK of the table is read and compiled anew by every INSERT, which was half of
-- the cost of an enqueue (the checks of this table: 25 µs; the same as domains: 6). So most columns of the log have plain types,
-- and pulse.enqueue, the only door, holds what enters against the domains: without a cast where it can tell for less.
create domain pulse.priority_number as smallint check (value between -10 and 10);
create domain pulse.attempts_budget as smallint check (value between 1 and 1000);
create domain pulse.queue_name      as text     check (octet_length(value) between 1 and 100);
create domain pulse.kind_name       as text     check (octet_length(value) between 1 and 200);
create domain pulse.tenant_name     as text     check (octet_length(value) between 1 and 200);
create domain pulse.project_name    as text     check (octet_length(value) between 1 and 200);
create domain pulse.key_text        as text     check (octet_length(value) between 1 and 500);
create domain pulse.trace_text      as text     check (octet_length(value) <= 512);
-- (What is stored in less than 16 KB cannot be longer than 4 MB, however well it was compressed.)
create domain pulse.args_json       as json     check (pg_column_size(value) < 16384 or octet_length(value::text) <= 4194304);
create domain pulse.meta_json       as json     check (octet_length(value::text) <= 65536);
-- Not counted by size_of, so it is small: a batch of 500 stays far below what a claim can return.
create domain pulse.options_json    as json     check (octet_length(value::text) <= 8192);

-- lane_id: a lane as one number, the first column of the log's index. With text as its first column every comparison was slow (an
-- enqueue of 500 took 0.15 ms longer), and an expression instead of a column is planned anew by every INSERT (a single enqueue took
-- 5 µs longer). Two lanes may share one, once in 10^11 databases with ten thousand lanes: whoever reads a lane asks for its
-- queue, priority and number too. Discovery and retention would see the second only where the first has no rows.
create function pulse.lane_id(queue text, priority smallint, lane smallint) returns bigint language sql immutable parallel safe
  return hashtextextended(queue, priority::bigint * 1024 + lane);

create sequence pulse.log_seq cache 1;

create table pulse.log (
  xid          xid8        not null default pg_current_xact_id(),
  seq          bigint      not null default nextval('pulse.log_seq'),
  submitted_at timestamptz not null,                                  -- of the job: the same in all its deliveries
  id           uuid        not null,                                  -- of the job: a retry is a new row with the same id
  lane_id      bigint      not null,                                  -- of queue, priority and lane: whoever inserts says pulse.lane_id
  priority     pulse.priority_number not null default 0,
  lane         smallint              not null default 0,
  attempt      smallint              not null default 1,              -- rises with every delivery that may have started
  charged      smallint              not null default 0,              -- counts against max_attempts
  max_attempts smallint              not null default 25,
  suspect      boolean               not null default false,          -- was running when an executor died among others: runs alone
  queue        text                  not null default 'default',      -- from here on bounded where it enters (pulse.enqueue)
  kind         text                  not null,
  args         json                  not null default '{}',
  tenant       text,
  project      text,
  key          text,
  schedule_id  uuid,
  occurrence   timestamptz,
  options      json,                                                  -- retry, timeout_ms, keep_result: read by executors
  trace        text,
  meta         json
) partition by range (seq);

create index log_lane on pulse.log (lane_id, xid, seq);
create index log_id   on pulse.log (id);

-- What no partition was made for lands here: an enqueue never fails because maintenance is behind.
create table pulse.log_default partition of pulse.log default;

-- The log's partitions, and the ranges that fell to log_default because maintenance was behind (pulse.keep_ahead). Numbers
-- of a range were drawn after `opened_at` and before `closed_at`, which lets a lookup by a UUIDv7 find its partition; only
-- transactions up to `closed_x` can have drawn one.
create table pulse.partition (
  lower_seq bigint      primary key,
  upper_seq bigint      not null check (upper_seq > lower_seq),
  name      text        not null,
  opened_at timestamptz not null,
  closed_at timestamptz,
  closed_x  xid8
);

-- refuse_update: the log is append-only for everyone, its owner included.
create function pulse.refuse_update() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception 'pulse.% is append-only: a change is a new delivery', tg_table_name using errcode = 'object_not_in_prerequisite_state';
end $$;
create trigger append_only before update on pulse.log for each row execute function pulse.refuse_update();

-- wire: a delivery as executors read it: [id, kind, args, attempt, charged, max_attempts, suspect] and, when any of the
-- rare ones is set, an object with them and the metadata. Forwarded as text; only the executor decodes it.
--
-- Columns and not a row, so that it is inlined and arguments are read from where they are stored only when needed. What a
-- producer wrote as JSON is never looked into: one job with "\u0000" in its options would make its lane unclaimable.
create function pulse.wire(
  id uuid, kind text, args json, attempt smallint, charged smallint, max_attempts smallint, suspect boolean, tenant text, project text,
  key text, schedule_id uuid, occurrence timestamptz, options json, trace text, meta json) returns text language sql stable
  return '["' || id || '",' || to_json(kind) || ',' || args || ',' || attempt || ',' || charged || ',' || max_attempts
      || case when suspect then ',1' else ',0' end
      || case when num_nonnulls(tenant, project, key, schedule_id, occurrence, options, trace, meta) = 0 then ']'
              else ',{' || concat_ws(',', '"tenant":' || to_json(tenant), '"project":' || to_json(project), '"key":' || to_json(key),
                             '"schedule_id":' || to_json(schedule_id), '"occurrence":' || to_json(occurrence),
                             '"options":' || options, '"trace":' || to_json(trace)) || '},' || coalesce(meta::text, 'null') || ']' end;

-- size_of: bytes of a delivery, for bounding a batch. Lengths are known without reading what is stored elsewhere.
create function pulse.size_of(args json, meta json) returns integer language sql immutable parallel safe
  return octet_length(args::text) + coalesce(octet_length(meta::text), 0);

-- Where a delivery is in the log, for those that their id does not tell: redeliveries, promoted ones, foreign ids.
-- Retries of young jobs need it too: it hides their earlier deliveries when the partition of the newest is dropped first.
create table pulse.place (
  id  uuid   not null,
  seq bigint not null,
  primary key (id, seq)
);
create index place_seq on pulse.place (seq);

-- Jobs that are not due yet: delayed first deliveries and retries.
create table pulse.delayed (
  id           uuid        primary key,
  run_at       timestamptz not null,
  submitted_at timestamptz not null,
  priority     pulse.priority_number not null,
  lane         smallint    not null,
  attempt      smallint    not null,
  charged      smallint    not null,
  max_attempts pulse.attempts_budget not null,
  suspect      boolean               not null default false,
  queue        pulse.queue_name      not null,
  kind         pulse.kind_name       not null,
  args         pulse.args_json       not null,
  tenant       pulse.tenant_name,
  project      pulse.project_name,
  key          pulse.key_text,
  schedule_id  uuid,
  occurrence   timestamptz,
  options      pulse.options_json,
  trace        pulse.trace_text,
  meta         pulse.meta_json
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index delayed_due on pulse.delayed (run_at, id);

-- Failed jobs that wait together: a row for all that one report named of a lane, with one attempt and one moment. They stay where
-- they are in the log, and are claimed from there once more: to write each twice more, here and there, was half of what a failure cost.
create table pulse.retrying (
  id       bigint      generated by default as identity primary key,
  run_at   timestamptz not null,
  queue    text        not null,
  priority smallint    not null,
  lane     smallint    not null,
  attempt  smallint    not null,                  -- of the deliveries to come
  charged  smallint    not null,
  taken    integer     not null default 0,        -- so many of them, from the first on, were claimed
  ids      uuid[]      not null,                  -- in their order, so that the log gives them in the same one
  seqs     bigint[]    not null
) with (fillfactor = 70, toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table pulse.retrying alter column ids set storage external, alter column seqs set storage external;
create index retrying_due on pulse.retrying (run_at, id);
create index retrying_lane on pulse.retrying (queue, priority, lane, run_at, id);

-- Jobs that ended otherwise than by success, with all that a retry needs: their log may be gone by then (or all the ended ones,
-- after a rebase).
create table pulse.outcome (
  id           uuid        primary key,
  status       text        not null check (status in ('DEAD_LETTERED', 'CANCELED', 'COMPLETED')),   -- COMPLETED: by rebase alone
  at           timestamptz not null,
  reason       text,
  submitted_at timestamptz not null,
  priority     smallint    not null,
  lane         smallint    not null,
  attempt      smallint    not null,
  charged      smallint    not null,
  max_attempts smallint    not null,
  queue        text        not null,
  kind         text        not null,
  args         json        not null,
  tenant       text,
  project      text,
  key          text,
  schedule_id  uuid,
  occurrence   timestamptz,
  options      json,
  trace        text,
  meta         json
);
create index outcome_at on pulse.outcome (at, id);
create index outcome_status on pulse.outcome (status, at, id);

-- One row per delivery that started and did not succeed.
create table pulse.failure (
  id       uuid        not null,
  attempt  smallint    not null,
  charged  smallint    not null,
  ending   text        not null,
  claim    bigint      not null,
  executor bigint      not null,
  at       timestamptz not null,
  took_us  bigint,
  error    text,
  retrying bigint,                                -- the row of pulse.retrying in which the job waited then
  together uuid[]                                 -- at the first of those that wait there: all of them
);
alter table pulse.failure alter column together set storage external;
create index failure_id on pulse.failure (id, attempt);
-- Of those that wait together, the first one is enough to find all: an entry for each was a tenth of what a failure cost.
create index failure_at on pulse.failure (at, id) where retrying is null or together is not null;

-- Results that were asked for.
create table pulse.result (
  id     uuid        primary key,
  at     timestamptz not null,
  result json        not null
);
create index result_at on pulse.result (at);

-- Keys: at most one unfinished job per (tenant, key); with `until`, one per period.
create table pulse.key (
  tenant text not null,             -- '' for none
  key    text not null,
  id     uuid not null,
  until  timestamptz,
  primary key (tenant, key)
);
create index key_id on pulse.key (id);
create index key_until on pulse.key (until) where until is not null;

-- Queues that have a setting. A queue needs no row to exist.
create table pulse.queue (
  name         pulse.queue_name primary key,
  lanes        smallint    not null default 1 check (lanes between 1 and 1024),   -- tenants are spread over so many
  paused_at    timestamptz,
  paused_by    text,
  pause_reason text,
  updated_at   timestamptz not null default pulse.now()
);

-- Lanes that were seen in the log (pulse.discover), so that an enqueue writes nothing but the log.
create table pulse.lane (
  queue    text     not null,
  priority smallint not null,
  lane     smallint not null,
  primary key (queue, priority, lane)
);
-- Where discovery goes on: no row of an unknown lane has a number up to `floor_s`.
create table pulse.discovery (
  only_one boolean primary key default true check (only_one),
  floor_s  bigint not null default 0,
  next_x   xid8   not null default '0',
  next_s   bigint not null default 0
) with (fillfactor = 50);
insert into pulse.discovery default values;

-- The dispatch switch: one row; paused stops claiming everywhere and nothing else.
create table pulse.dispatch (
  only_one     boolean primary key default true check (only_one),
  paused_at    timestamptz,
  paused_by    text,
  pause_reason text
);
insert into pulse.dispatch default values;

-- Which queues have a parked claimer, as bits (pulse.queue_bit). A sequence, because its value is not a row: it never
-- leaves a dead version behind, and everybody sees it at once whatever their snapshot.
create sequence pulse.parked minvalue 0 start 0;
do $$ begin perform setval('pulse.parked', 0); end $$;      -- never null

-- A wish to cancel a job that runs; looked up by the runtime that runs it.
create table pulse.cancel_request (
  id       uuid        primary key,
  claim    bigint      not null,
  pos      integer     not null,
  executor bigint      not null,
  at       timestamptz not null,
  by       text,
  reason   text
);
create index cancel_request_executor on pulse.cancel_request (executor);
