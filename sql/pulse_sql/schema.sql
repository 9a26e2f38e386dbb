-- What the migrations make, read from the catalogues. Not to be applied: see migrations/.
-- Written by `make snapshot`; a test fails when it is stale. A function is given by the md5 of its body.

-- types

type pulse.args_json domain json CHECK (((pg_column_size(VALUE) < 16384) OR (octet_length((VALUE)::text) <= 4194304)))
type pulse.attempts_budget domain smallint CHECK (((VALUE >= 1) AND (VALUE <= 1000)))
type pulse.closed composite (claim bigint, executor bigint, attempt smallint, charged smallint, id uuid, seq bigint, ending text, delay_ms bigint, error text, took_us bigint)
type pulse.key_text domain text CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 500)))
type pulse.kind_name domain text CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 200)))
type pulse.lane_cursor composite (queue text, priority smallint, lane smallint, x xid8, s bigint, floor_s bigint, late_x xid8[], late_s bigint[])
type pulse.listed composite (id uuid, status text, queue text, kind text, tenant text, project text, priority smallint, attempt smallint, charged smallint, max_attempts smallint, submitted_at timestamp with time zone, run_at timestamp with time zone, started_at timestamp with time zone, finished_at timestamp with time zone, last_error text, executor bigint, schedule_id uuid, occurrence timestamp with time zone, key text, after text)
type pulse.meta_json domain json CHECK ((octet_length((VALUE)::text) <= 65536))
type pulse.options_json domain json CHECK ((octet_length((VALUE)::text) <= 8192))
type pulse.priority_number domain smallint CHECK (((VALUE >= '-10'::integer) AND (VALUE <= 10)))
type pulse.project_name domain text CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 200)))
type pulse.queue_name domain text CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 100)))
type pulse.schedule_name domain text CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 200)))
type pulse.schedule_time domain timestamp with time zone CHECK (((VALUE >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (VALUE < '3000-01-01 00:00:00+00'::timestamp with time zone)))
type pulse.tenant_name domain text CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 200)))
type pulse.trace_text domain text CHECK ((octet_length(VALUE) <= 512))
type pulse.verdict composite (status text, run_at timestamp with time zone, ending text, error text, id uuid, submitted_at timestamp with time zone, lane_id bigint, priority smallint, lane smallint, attempt smallint, attempt_next smallint, charged_now smallint, max_attempts smallint, suspect_next boolean, queue text, kind text, args json, tenant text, project text, key text, schedule_id uuid, occurrence timestamp with time zone, at_most_once boolean, options json, trace text, meta json)

-- sequences

sequence pulse.claim_id_seq as bigint start 1 increment 1 min 1 max 9223372036854775807 cache 1 owned by pulse.claim.id
sequence pulse.executor_id_seq as bigint start 1 increment 1 min 1 max 9223372036854775807 cache 1 owned by pulse.executor.id
sequence pulse.log_seq as bigint start 1 increment 1 min 1 max 9223372036854775807 cache 1
sequence pulse.parked as bigint start 0 increment 1 min 0 max 9223372036854775807 cache 1
sequence pulse.retrying_id_seq as bigint start 1 increment 1 min 1 max 9223372036854775807 cache 1 owned by pulse.retrying.id

-- tables and views

table pulse.cancel_request (
  id uuid not null,
  claim bigint not null,
  pos integer not null,
  executor bigint not null,
  at timestamp with time zone not null,
  by text,
  reason text,
  constraint cancel_request_pkey PRIMARY KEY (id)
)

table pulse.claim (
  id bigint not null generated always as identity,
  token uuid not null,
  executor bigint not null,
  request bigint not null,
  at timestamp with time zone not null,
  queue text not null,
  priority smallint not null,
  lane smallint not null,
  n bigint not null,
  x xid8 not null,
  s bigint not null,
  late_x xid8[] not null,
  late_s bigint[] not null,
  floor_s bigint not null,
  next_x xid8 not null,
  next_s bigint not null,
  low_x xid8,
  ids uuid[] not null,
  seqs bigint[] not null,
  retrying bigint,
  attempt smallint,
  charged smallint,
  constraint claim_pkey PRIMARY KEY (id),
  constraint claim_queue_priority_lane_n_key UNIQUE (queue, priority, lane, n)
) with (toast_tuple_target=8160)

table pulse.delayed (
  id uuid not null,
  run_at timestamp with time zone not null,
  submitted_at timestamp with time zone not null,
  priority pulse.priority_number not null,
  lane smallint not null,
  attempt smallint not null,
  charged smallint not null,
  max_attempts pulse.attempts_budget not null,
  suspect boolean not null default false,
  queue pulse.queue_name not null,
  kind pulse.kind_name not null,
  args pulse.args_json not null,
  tenant pulse.tenant_name,
  project pulse.project_name,
  key pulse.key_text,
  schedule_id uuid,
  occurrence timestamp with time zone,
  options pulse.options_json,
  trace pulse.trace_text,
  meta pulse.meta_json,
  constraint delayed_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000)

table pulse.discovery (
  only_one boolean not null default true,
  floor_s bigint not null default 0,
  next_x xid8 not null default '0'::xid8,
  next_s bigint not null default 0,
  constraint discovery_only_one_check CHECK (only_one),
  constraint discovery_pkey PRIMARY KEY (only_one)
) with (fillfactor=50)

table pulse.dispatch (
  only_one boolean not null default true,
  paused_at timestamp with time zone,
  paused_by text,
  pause_reason text,
  constraint dispatch_only_one_check CHECK (only_one),
  constraint dispatch_pkey PRIMARY KEY (only_one)
)

table pulse.done (
  claim bigint not null,
  at timestamp with time zone not null,
  mask bit varying not null,
  took_us integer[] not null
)

table pulse.executor (
  id bigint not null generated always as identity,
  runtime text not null,
  host text not null,
  boot_id text not null,
  pid integer not null,
  pid_start text not null default ''::text,
  kinds text[],
  started_at timestamp with time zone not null,
  beats bigint not null default 0,
  beat_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  ended_why text,
  constraint executor_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=500, fillfactor=50)

table pulse.failure (
  id uuid not null,
  attempt smallint not null,
  charged smallint not null,
  ending text not null,
  claim bigint not null,
  executor bigint not null,
  at timestamp with time zone not null,
  took_us bigint,
  error text,
  retrying bigint,
  together uuid[]
)

view pulse.jobs (
  id uuid,
  tenant text,
  project text,
  queue text,
  kind text,
  args json,
  priority smallint,
  status text,
  attempt smallint,
  charged smallint,
  max_attempts smallint,
  submitted_at timestamp with time zone,
  run_at timestamp with time zone,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  last_error text,
  executor bigint,
  schedule_id uuid,
  occurrence timestamp with time zone,
  key text,
  trace text,
  meta json
) as md5 2e31e13fe01b0199d1f8ccb1f05a9863

table pulse.key (
  tenant text not null,
  key text not null,
  id uuid not null,
  until timestamp with time zone,
  constraint key_pkey PRIMARY KEY (tenant, key)
)

table pulse.lane (
  queue text not null,
  priority smallint not null,
  lane smallint not null,
  constraint lane_pkey PRIMARY KEY (queue, priority, lane)
)

table pulse.lease (
  claim bigint not null,
  token uuid not null,
  executor bigint not null,
  open bit varying not null,
  tracked integer[],
  constraint lease_pkey PRIMARY KEY (claim)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, fillfactor=50)

table pulse.log (
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('pulse.log_seq'::regclass),
  submitted_at timestamp with time zone not null,
  id uuid not null,
  lane_id bigint not null,
  priority pulse.priority_number not null default 0,
  lane smallint not null default 0,
  attempt smallint not null default 1,
  charged smallint not null default 0,
  max_attempts smallint not null default 25,
  suspect boolean not null default false,
  queue text not null default 'default'::text,
  kind text not null,
  args json not null default '{}'::json,
  tenant text,
  project text,
  key text,
  schedule_id uuid,
  occurrence timestamp with time zone,
  options json,
  trace text,
  meta json
) partition by RANGE (seq)

table pulse.log_1 of pulse.log FOR VALUES FROM ('1') TO ('1000001') (
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('pulse.log_seq'::regclass),
  submitted_at timestamp with time zone not null,
  id uuid not null,
  lane_id bigint not null,
  priority pulse.priority_number not null default 0,
  lane smallint not null default 0,
  attempt smallint not null default 1,
  charged smallint not null default 0,
  max_attempts smallint not null default 25,
  suspect boolean not null default false,
  queue text not null default 'default'::text,
  kind text not null,
  args json not null default '{}'::json,
  tenant text,
  project text,
  key text,
  schedule_id uuid,
  occurrence timestamp with time zone,
  options json,
  trace text,
  meta json
) with (autovacuum_vacuum_insert_threshold=-1)

table pulse.log_1000001 of pulse.log FOR VALUES FROM ('1000001') TO ('2000001') (
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('pulse.log_seq'::regclass),
  submitted_at timestamp with time zone not null,
  id uuid not null,
  lane_id bigint not null,
  priority pulse.priority_number not null default 0,
  lane smallint not null default 0,
  attempt smallint not null default 1,
  charged smallint not null default 0,
  max_attempts smallint not null default 25,
  suspect boolean not null default false,
  queue text not null default 'default'::text,
  kind text not null,
  args json not null default '{}'::json,
  tenant text,
  project text,
  key text,
  schedule_id uuid,
  occurrence timestamp with time zone,
  options json,
  trace text,
  meta json
) with (autovacuum_vacuum_insert_threshold=-1)

table pulse.log_default of pulse.log DEFAULT (
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('pulse.log_seq'::regclass),
  submitted_at timestamp with time zone not null,
  id uuid not null,
  lane_id bigint not null,
  priority pulse.priority_number not null default 0,
  lane smallint not null default 0,
  attempt smallint not null default 1,
  charged smallint not null default 0,
  max_attempts smallint not null default 25,
  suspect boolean not null default false,
  queue text not null default 'default'::text,
  kind text not null,
  args json not null default '{}'::json,
  tenant text,
  project text,
  key text,
  schedule_id uuid,
  occurrence timestamp with time zone,
  options json,
  trace text,
  meta json
)

table pulse.migration (
  number integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default clock_timestamp(),
  applied_by text not null default SESSION_USER,
  constraint migration_name_key UNIQUE (name),
  constraint migration_pkey PRIMARY KEY (number)
) -- What was applied, in order. Written by `pulse-runtime db migrate`.

table pulse.occurrence (
  tenant text not null,
  schedule_id uuid not null,
  occurrence timestamp with time zone not null,
  due_at timestamp with time zone not null,
  decided_at timestamp with time zone not null,
  verdict text not null,
  reason text,
  job_id uuid,
  constraint occurrence_pkey PRIMARY KEY (tenant, schedule_id, occurrence),
  constraint occurrence_verdict_check CHECK ((verdict = ANY (ARRAY['fired'::text, 'late'::text, 'skipped'::text, 'missed'::text, 'lost'::text, 'withdrawn'::text, 'queued'::text])))
)

table pulse.occurrence_floor (
  only_one boolean not null default true,
  at timestamp with time zone,
  constraint occurrence_floor_only_one_check CHECK (only_one),
  constraint occurrence_floor_pkey PRIMARY KEY (only_one)
)

table pulse.outcome (
  id uuid not null,
  status text not null,
  at timestamp with time zone not null,
  reason text,
  submitted_at timestamp with time zone not null,
  priority smallint not null,
  lane smallint not null,
  attempt smallint not null,
  charged smallint not null,
  max_attempts smallint not null,
  queue text not null,
  kind text not null,
  args json not null,
  tenant text,
  project text,
  key text,
  schedule_id uuid,
  occurrence timestamp with time zone,
  options json,
  trace text,
  meta json,
  constraint outcome_pkey PRIMARY KEY (id),
  constraint outcome_status_check CHECK ((status = ANY (ARRAY['DEAD_LETTERED'::text, 'CANCELED'::text, 'COMPLETED'::text])))
)

table pulse.partition (
  lower_seq bigint not null,
  upper_seq bigint not null,
  name text not null,
  opened_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  closed_x xid8,
  constraint partition_check CHECK ((upper_seq > lower_seq)),
  constraint partition_pkey PRIMARY KEY (lower_seq)
)

table pulse.place (
  id uuid not null,
  seq bigint not null,
  constraint place_pkey PRIMARY KEY (id, seq)
)

table pulse.progress (
  id uuid not null,
  attempt smallint not null,
  at timestamp with time zone not null,
  done double precision not null,
  total double precision,
  note text,
  constraint progress_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, fillfactor=50)

table pulse.queue (
  name pulse.queue_name not null,
  lanes smallint not null default 1,
  paused_at timestamp with time zone,
  paused_by text,
  pause_reason text,
  updated_at timestamp with time zone not null default pulse.now(),
  constraint queue_lanes_check CHECK (((lanes >= 1) AND (lanes <= 1024))),
  constraint queue_pkey PRIMARY KEY (name)
)

table pulse.result (
  id uuid not null,
  at timestamp with time zone not null,
  result json not null,
  constraint result_pkey PRIMARY KEY (id)
)

table pulse.retrying (
  id bigint not null generated by default as identity,
  run_at timestamp with time zone not null,
  queue text not null,
  priority smallint not null,
  lane smallint not null,
  attempt smallint not null,
  charged smallint not null,
  taken integer not null default 0,
  ids uuid[] not null,
  seqs bigint[] not null,
  constraint retrying_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000, fillfactor=70, toast_tuple_target=8160)

table pulse.schedule (
  id uuid not null,
  tenant pulse.tenant_name,
  project pulse.project_name,
  name pulse.schedule_name not null,
  owner text,
  declared_by text,
  kind text not null,
  spec text not null,
  tz text,
  anchor pulse.schedule_time,
  job_kind pulse.kind_name not null,
  args pulse.args_json not null default '{}'::json,
  queue pulse.queue_name not null default 'default'::text,
  priority pulse.priority_number not null default 0,
  max_attempts pulse.attempts_budget not null default 25,
  options pulse.options_json,
  meta pulse.meta_json,
  missed text not null default 'latest'::text,
  missed_most integer not null default 100,
  missed_pace_s double precision not null default 0,
  within_s double precision,
  overlap text not null default 'allow'::text,
  jitter double precision not null default 0,
  delivery text not null default 'at_least_once'::text,
  pause_after integer not null default 10,
  until pulse.schedule_time,
  max_fires bigint,
  lookahead_s double precision not null default 60,
  reckon_after timestamp with time zone not null,
  next_run_at pulse.schedule_time,
  last_due_at timestamp with time zone,
  look_at timestamp with time zone,
  queued_at timestamp with time zone,
  zone_version text,
  fires bigint not null default 0,
  revision integer not null default 1,
  created_at timestamp with time zone not null,
  created_by text not null,
  updated_at timestamp with time zone,
  updated_by text,
  paused_at timestamp with time zone,
  paused_by text,
  pause_reason text,
  resumed_at timestamp with time zone,
  resumed_by text,
  ended_at timestamp with time zone,
  deleted_at timestamp with time zone,
  deleted_by text,
  constraint schedule_check CHECK (((kind <> 'every'::text) OR (anchor IS NOT NULL))),
  constraint schedule_check1 CHECK (((kind <> 'cron'::text) OR (tz IS NOT NULL))),
  constraint schedule_declared_by_check CHECK ((octet_length(declared_by) <= 1000)),
  constraint schedule_delivery_check CHECK ((delivery = ANY (ARRAY['at_least_once'::text, 'at_most_once'::text]))),
  constraint schedule_jitter_check CHECK (((jitter >= (0)::double precision) AND (jitter <= (0.5)::double precision))),
  constraint schedule_kind_check CHECK ((kind = ANY (ARRAY['once'::text, 'every'::text, 'cron'::text]))),
  constraint schedule_lookahead_s_check CHECK (((lookahead_s >= (0)::double precision) AND (lookahead_s <= (3600)::double precision))),
  constraint schedule_max_fires_check CHECK ((max_fires >= 1)),
  constraint schedule_missed_check CHECK ((missed = ANY (ARRAY['latest'::text, 'all'::text, 'none'::text]))),
  constraint schedule_missed_most_check CHECK (((missed_most >= 1) AND (missed_most <= 1000))),
  constraint schedule_missed_pace_s_check CHECK (((missed_pace_s >= (0)::double precision) AND (missed_pace_s <= (3600)::double precision))),
  constraint schedule_overlap_check CHECK ((overlap = ANY (ARRAY['allow'::text, 'skip'::text, 'queue_one'::text]))),
  constraint schedule_owner_check CHECK ((octet_length(owner) <= 200)),
  constraint schedule_pause_after_check CHECK (((pause_after = 0) OR ((pause_after >= 3) AND (pause_after <= 100)))),
  constraint schedule_pkey PRIMARY KEY (id),
  constraint schedule_spec_check CHECK (((octet_length(spec) >= 1) AND (octet_length(spec) <= 1000))),
  constraint schedule_tz_check CHECK (((octet_length(tz) >= 1) AND (octet_length(tz) <= 100))),
  constraint schedule_within_s_check CHECK (((within_s > (0)::double precision) AND (within_s <= (31536000)::double precision)))
) with (autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=1000, fillfactor=70)

table pulse.schedule_ending (
  schedule_id uuid not null,
  occurrence timestamp with time zone not null,
  at timestamp with time zone not null,
  ending text not null,
  error text,
  constraint schedule_ending_ending_check CHECK ((ending = ANY (ARRAY['completed'::text, 'failed'::text, 'dead'::text, 'lost'::text, 'canceled'::text, 'resumed'::text])))
)

table pulse.schedule_run (
  schedule_id uuid not null,
  job_id uuid not null,
  constraint schedule_run_pkey PRIMARY KEY (schedule_id)
)

table pulse.schedule_tally (
  schedule_id uuid not null,
  last_attempt_at timestamp with time zone,
  last_success_at timestamp with time zone,
  last_failure_at timestamp with time zone,
  last_error text,
  failures integer not null default 0,
  succeeded bigint not null default 0,
  failed bigint not null default 0,
  constraint schedule_tally_pkey PRIMARY KEY (schedule_id)
) with (fillfactor=70)

view pulse.schedules (
  id uuid,
  tenant pulse.tenant_name,
  project pulse.project_name,
  name pulse.schedule_name,
  owner text,
  declared_by text,
  kind text,
  spec text,
  tz text,
  anchor pulse.schedule_time,
  job_kind pulse.kind_name,
  args pulse.args_json,
  queue pulse.queue_name,
  priority pulse.priority_number,
  max_attempts pulse.attempts_budget,
  options pulse.options_json,
  meta pulse.meta_json,
  missed text,
  missed_most integer,
  missed_pace_s double precision,
  within_s double precision,
  overlap text,
  jitter double precision,
  delivery text,
  pause_after integer,
  until pulse.schedule_time,
  max_fires bigint,
  lookahead_s double precision,
  reckon_after timestamp with time zone,
  next_run_at pulse.schedule_time,
  last_due_at timestamp with time zone,
  look_at timestamp with time zone,
  queued_at timestamp with time zone,
  zone_version text,
  fires bigint,
  revision integer,
  created_at timestamp with time zone,
  created_by text,
  updated_at timestamp with time zone,
  updated_by text,
  paused_at timestamp with time zone,
  paused_by text,
  pause_reason text,
  resumed_at timestamp with time zone,
  resumed_by text,
  ended_at timestamp with time zone,
  deleted_at timestamp with time zone,
  deleted_by text,
  status text,
  last_attempt_at timestamp with time zone,
  last_success_at timestamp with time zone,
  last_failure_at timestamp with time zone,
  last_error text,
  failures integer,
  succeeded bigint,
  failed bigint,
  retry_at timestamp with time zone
) as md5 5fabfd2353f8647ebc1652e0436b903c


-- indexes

CREATE INDEX cancel_request_executor ON pulse.cancel_request USING btree (executor)
CREATE INDEX claim_at ON pulse.claim USING btree (at)
CREATE INDEX claim_cursor ON pulse.claim USING btree (queue, priority, lane, x, s)
CREATE INDEX claim_late ON pulse.claim USING btree (queue, priority, lane, n, low_x) WHERE (low_x IS NOT NULL)
CREATE INDEX claim_request ON pulse.claim USING btree (executor, request)
CREATE UNIQUE INDEX claim_retrying ON pulse.claim USING btree (retrying, s) WHERE (retrying IS NOT NULL)
CREATE INDEX delayed_due ON pulse.delayed USING btree (run_at, id)
CREATE INDEX delayed_queue ON pulse.delayed USING btree (queue, run_at, id) WHERE (charged = 0)
CREATE INDEX delayed_schedule ON pulse.delayed USING btree (schedule_id) WHERE (schedule_id IS NOT NULL)
CREATE INDEX done_at ON pulse.done USING btree (at)
CREATE INDEX done_claim ON pulse.done USING btree (claim)
CREATE INDEX executor_alive ON pulse.executor USING btree (runtime, id) WHERE (ended_at IS NULL)
CREATE INDEX failure_at ON pulse.failure USING btree (at, id) WHERE ((retrying IS NULL) OR (together IS NOT NULL))
CREATE INDEX failure_id ON pulse.failure USING btree (id, attempt)
CREATE INDEX key_id ON pulse.key USING btree (id)
CREATE INDEX key_until ON pulse.key USING btree (until) WHERE (until IS NOT NULL)
CREATE INDEX lease_executor ON pulse.lease USING btree (executor)
CREATE INDEX log_1000001_id_idx ON pulse.log_1000001 USING btree (id)
CREATE INDEX log_1000001_lane_id_xid_seq_idx ON pulse.log_1000001 USING btree (lane_id, xid, seq)
CREATE INDEX log_1_id_idx ON pulse.log_1 USING btree (id)
CREATE INDEX log_1_lane_id_xid_seq_idx ON pulse.log_1 USING btree (lane_id, xid, seq)
CREATE INDEX log_default_id_idx ON pulse.log_default USING btree (id)
CREATE INDEX log_default_lane_id_xid_seq_idx ON pulse.log_default USING btree (lane_id, xid, seq)
CREATE INDEX log_id ON ONLY pulse.log USING btree (id)
CREATE INDEX log_lane ON ONLY pulse.log USING btree (lane_id, xid, seq)
CREATE INDEX occurrence_decided ON pulse.occurrence USING btree (decided_at)
CREATE INDEX occurrence_job ON pulse.occurrence USING btree (job_id) WHERE (job_id IS NOT NULL)
CREATE INDEX outcome_at ON pulse.outcome USING btree (at, id)
CREATE INDEX outcome_queue ON pulse.outcome USING btree (queue, status, at, id)
CREATE INDEX outcome_status ON pulse.outcome USING btree (status, at, id)
CREATE INDEX place_seq ON pulse.place USING btree (seq)
CREATE INDEX progress_at ON pulse.progress USING btree (at)
CREATE INDEX result_at ON pulse.result USING btree (at)
CREATE INDEX retrying_due ON pulse.retrying USING btree (run_at, id)
CREATE INDEX retrying_lane ON pulse.retrying USING btree (queue, priority, lane, run_at, id)
CREATE INDEX schedule_deleted ON pulse.schedule USING btree (deleted_at) WHERE (deleted_at IS NOT NULL)
CREATE INDEX schedule_due ON pulse.schedule USING btree (look_at, id) WHERE (look_at IS NOT NULL)
CREATE UNIQUE INDEX schedule_name ON pulse.schedule USING btree (COALESCE((tenant)::text, ''::text), COALESCE((project)::text, ''::text), name) WHERE (deleted_at IS NULL)
CREATE INDEX schedule_queued ON pulse.schedule USING btree (queued_at) WHERE (queued_at IS NOT NULL)
CREATE INDEX schedule_run_job ON pulse.schedule_run USING btree (job_id)

-- functions

function pulse.add_follow_ups(claim bigint, hit bit varying, follow_ups json) returns void
  plpgsql volatile set lock_timeout=100ms set search_path=pg_catalog, pg_temp md5 184f32670a1829c4246cc40c98566dc9
function pulse.add_partition(width bigint) returns text
  plpgsql volatile security definer set lock_timeout=50ms set search_path=pg_catalog, pg_temp md5 6606603a0d7fcaa92e0351f27cbbad39
function pulse.add_schedule(name text, kind text, spec text, job_kind text, args json DEFAULT '{}'::json, tz text DEFAULT NULL::text, anchor timestamp with time zone DEFAULT NULL::timestamp with time zone, queue text DEFAULT 'default'::text, priority integer DEFAULT 0, max_attempts integer DEFAULT 25, options json DEFAULT NULL::json, meta json DEFAULT NULL::json, tenant text DEFAULT NULL::text, project text DEFAULT NULL::text, owner text DEFAULT NULL::text, declared_by text DEFAULT NULL::text, missed text DEFAULT 'latest'::text, missed_most integer DEFAULT 100, missed_pace_s double precision DEFAULT 0, within_s double precision DEFAULT NULL::double precision, overlap text DEFAULT 'allow'::text, jitter double precision DEFAULT 0, delivery text DEFAULT 'at_least_once'::text, pause_after integer DEFAULT 10, until timestamp with time zone DEFAULT NULL::timestamp with time zone, max_fires bigint DEFAULT NULL::bigint, lookahead_s double precision DEFAULT 60, first_at timestamp with time zone DEFAULT NULL::timestamp with time zone, zone_version text DEFAULT NULL::text, by text DEFAULT NULL::text, id uuid DEFAULT NULL::uuid) returns uuid
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 89dcc709595283cf5d30707f03cc29d9
function pulse.any_visible(xids xid8[], snap pg_snapshot) returns boolean
  sql immutable parallel safe md5 fd66107cb3fffca6034639b89be59be4
function pulse.audit(tolerance interval DEFAULT '00:02:00'::interval, most integer DEFAULT 100) returns TABLE(finding text, id text, detail text)
  plpgsql stable set jit=off set search_path=pg_catalog, pg_temp md5 10eb764245a6b39c59b31fba11d4f81b
function pulse.backfill(id uuid, occurrences timestamp with time zone[], jobs uuid[], missed boolean DEFAULT false, by text DEFAULT NULL::text) returns timestamp with time zone[]
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 164b757f39d39d25aae319c1bfbbdbff
function pulse.backoff(options json, charged integer) returns interval
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 0a694e7298512c0197dceed859794c1a
function pulse.budget_of(s pulse.schedule) returns integer
  sql immutable md5 3c9fd88becf89ad4d67802a562c242fd
function pulse.bury(executor bigint, why text, claims bigint[], tokens uuid[], masks bit varying[], ended_claims bigint[], ended_tokens uuid[], positions integer[], endings text[], errors text[], rest text, OUT settled bigint, OUT ended bigint, OUT given_back bigint) returns record
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 9786c3c8afe808f38f9337bca75b4f91
function pulse.cancel(id uuid, by text DEFAULT NULL::text, reason text DEFAULT NULL::text) returns text
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 b93ce338f446631918e2b70fdaed02a2
function pulse.claim(executor bigint, request bigint, queues text[], shares integer[], slots integer, bytes integer DEFAULT 4194304) returns TABLE(claim bigint, token uuid, queue text, priority smallint, lane smallint, n integer, jobs text)
  plpgsql volatile set enable_bitmapscan=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 a07f2f934cfcf56cb8baa28e2ba1623c
function pulse.claim_lane(executor bigint, request bigint, queue text, priority smallint, lane smallint, slots integer, bytes integer, drawn bigint, OUT claim bigint, OUT token uuid, OUT n integer, OUT jobs text, OUT size bigint) returns record
  plpgsql volatile set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 f442b40755dcd57dcbe88c06b2ee0b97
function pulse.claim_of(j pulse.log, OUT claim bigint, OUT pos integer, OUT executor bigint, OUT at timestamp with time zone) returns record
  plpgsql stable set enable_bitmapscan=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 340c15ba0f4e429fb15abde0d83e3545
function pulse.claim_retrying(executor bigint, request bigint, queue text, priority smallint, lane smallint, slots integer, bytes integer) returns TABLE(claim bigint, token uuid, n integer, jobs text, size bigint)
  plpgsql volatile set enable_bitmapscan=off set enable_mergejoin=off set enable_nestloop=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 f39f24e5ea7a532e6adaad5b9de041ea
function pulse.close(claims bigint[], tokens uuid[], positions integer[], endings text[], delays_ms bigint[], errors text[], took_us bigint[]) returns bigint
  plpgsql volatile set enable_bitmapscan=off set enable_mergejoin=off set enable_nestloop=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 0459b3adec52ee2591bbf6282cd62528
function pulse.close_apart(ours pulse.closed[], moment timestamp with time zone, first bigint, last bigint, careful boolean) returns bigint
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 a97e885dff5668029d0f893bf6e3ad49
function pulse.close_following(claims bigint[], tokens uuid[], positions integer[], endings text[], delays_ms bigint[], errors text[], took_us bigint[], follow_ups json) returns bigint
  plpgsql volatile set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 4974e0b44652ffbb712c66449fd02ba6
function pulse.close_rest(verdicts pulse.verdict[], moment timestamp with time zone, careful boolean) returns void
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 435a50edeb7c755edd08de40b9823aeb
function pulse.count_endings(most integer DEFAULT 20000) returns bigint
  plpgsql volatile set jit=off set search_path=pg_catalog, pg_temp md5 36eceeabee3c7fd29b2b6861af566d18
function pulse.counts(most integer DEFAULT 10000) returns TABLE(queue text, waiting bigint, running bigint, delayed bigint, retrying bigint, dead bigint, oldest_due timestamp with time zone, exact boolean)
  sql stable set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 61f93155e1b2d5d3c7841d43531f8454
function pulse.cursor_of(queue text, priority smallint, lane smallint) returns pulse.claim
  plpgsql stable set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 c582394c601084e406fa11331cbb5aba
function pulse.cursors(wanted text) returns SETOF pulse.lane_cursor
  plpgsql stable set enable_bitmapscan=off set enable_seqscan=off set jit=off set plan_cache_mode=force_custom_plan set search_path=pg_catalog, pg_temp md5 8c0e7cea576c8696c3ade71c4705e3b6
function pulse.cut(most bigint) returns bigint
  sql volatile security definer set search_path=pg_catalog, pg_temp md5 31e9e154af151f856f847c4493f928a8
function pulse.delayed_queues(wanted text) returns SETOF text
  sql stable set enable_bitmapscan=off set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 982dd658d3bc29591f4b9e50d070cd18
function pulse.delete_schedule(id uuid, by text DEFAULT NULL::text) returns boolean
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 7a36373ccbe8dd41357a9972fc657f73
function pulse.delete_schedules(tenant text, project text DEFAULT NULL::text, by text DEFAULT NULL::text) returns bigint
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 167287d11a5565bc88adac5e5400342c
function pulse.deliveries(id uuid) returns SETOF pulse.log
  plpgsql stable set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 72c73475b4a8f30f0259ddd6ba157115
function pulse.discover() returns integer
  plpgsql volatile set enable_bitmapscan=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 11c2d2b4faf2d0e54ffd7a0177615582
function pulse.drop_partitions(keep interval, OUT dropped text[], OUT starved boolean) returns record
  plpgsql volatile security definer set lock_timeout=50ms set search_path=pg_catalog, pg_temp md5 17a3b8240abf3d221d95d37a783c5853
function pulse.due_schedules(most integer, runtime text DEFAULT NULL::text, shards integer DEFAULT NULL::integer, shard integer DEFAULT NULL::integer, OUT due json, OUT next_s double precision) returns record
  plpgsql stable set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 d10aa22791eeae023829aa328e433044
function pulse.edit_schedule(id uuid, changes json, first_at timestamp with time zone DEFAULT NULL::timestamp with time zone, zone_version text DEFAULT NULL::text, by text DEFAULT NULL::text, revision integer DEFAULT NULL::integer) returns integer
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 e00e5d383f8687105b4543d88bb15752
function pulse.empty_default(keep interval) returns boolean
  plpgsql volatile security definer set lock_timeout=50ms set search_path=pg_catalog, pg_temp md5 de3224c1e6af7821b1e74b9cd75b4226
function pulse.end_executor(executor bigint, why text, beats bigint DEFAULT NULL::bigint) returns boolean
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 028eba48c10c08e868c8feca67d1f2ff
function pulse.enqueue(kind text, args json DEFAULT '{}'::json, queue text DEFAULT 'default'::text, priority integer DEFAULT 0, run_at timestamp with time zone DEFAULT NULL::timestamp with time zone, key text DEFAULT NULL::text, key_for interval DEFAULT NULL::interval, tenant text DEFAULT NULL::text, project text DEFAULT NULL::text, max_attempts integer DEFAULT 25, options json DEFAULT NULL::json, trace text DEFAULT NULL::text, meta json DEFAULT NULL::json, id uuid DEFAULT NULL::uuid, schedule_id uuid DEFAULT NULL::uuid, occurrence timestamp with time zone DEFAULT NULL::timestamp with time zone) returns uuid
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 086de628c85939c96cd3a350a917e35e
function pulse.enqueue_many(ids uuid[], kinds text[], args text[], queues text[] DEFAULT '{default}'::text[], priorities smallint[] DEFAULT '{0}'::smallint[], rest json[] DEFAULT NULL::json[]) returns uuid[]
  plpgsql volatile security definer set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 ec24a430d2b3abf48b017bbf112efa37
function pulse.enqueue_plain(kind text, args json, queue text, id uuid) returns uuid
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 d69660f77c4a4b6f9bb33b60ff69428a
function pulse.enqueue_rest(ids uuid[], kinds text[], args text[], queues text[], priorities smallint[], rest json[]) returns uuid[]
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 07c9f6476bada27b83e5fb1e681c60c3
function pulse.executors_standing(OUT id bigint, OUT runtime text, OUT beats bigint, OUT ended boolean) returns SETOF record
  sql stable set search_path=pg_catalog, pg_temp md5 57c46635b1a51dfed587de4d9f0c37b7
function pulse.extend(executors bigint[]) returns bigint[]
  sql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 56b39b0579a6e7aad4aa971ae798bf42
function pulse.fail(claims bigint[], tokens uuid[], positions integer[], errors text[], delays_ms bigint[] DEFAULT NULL::bigint[], took_us bigint[] DEFAULT NULL::bigint[]) returns bigint
  sql volatile set search_path=pg_catalog, pg_temp md5 ac4e3bae91341999ce2d65929fe79127
function pulse."fetch"(claim bigint, token uuid) returns text
  sql stable set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 cb5945a498595edd7119d7b265d23cd4
function pulse.find(id uuid) returns SETOF pulse.log
  plpgsql stable set enable_seqscan=off set jit=off set plan_cache_mode=auto set search_path=pg_catalog, pg_temp md5 6b571b4b763b94f900a627a38f9b1e7f
function pulse.fire(decisions json, OUT moved bigint, OUT fired bigint) returns record
  plpgsql volatile set enable_seqscan=off set jit=off set lock_timeout=500ms set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 b1a25e6aa4b9a6dd633688bd44143682
function pulse.fire_held(decisions json, mine uuid[], barred uuid[], moment timestamp with time zone, OUT moved bigint, OUT fired bigint, OUT woken text[]) returns record
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 304a8f9fbe5c72bc66c1a67c7889ac88
function pulse.first_run(kind text, spec text, anchor timestamp with time zone, after timestamp with time zone) returns timestamp with time zone
  plpgsql stable set search_path=pg_catalog, pg_temp md5 4a4785d92c5d70812ce82f99081ee7c7
function pulse.foreign_xids() returns TABLE(queue text, priority smallint, lane smallint, xid xid8)
  plpgsql volatile set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 ca3d1a44ee003b8059e4a63837dd5aa4
function pulse.free_keys(ids uuid[]) returns void
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 55f7a513c0c7bda19e93a3e006da3855
function pulse.get(id uuid) returns SETOF pulse.jobs
  plpgsql stable set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 e20e9619295c38c979789848a5203bfc
function pulse.give_back(executor bigint, ending text, error text) returns bigint
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 d5d24bdf6ebf5abf62b57b51866c8d3c
function pulse.give_back_claims(claims bigint[], tokens uuid[], ending text, error text) returns bigint
  sql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 1ba2f354f9c0a5fe0b7f0985ef37446c
function pulse.history(id uuid) returns TABLE(attempt smallint, claim bigint, claimed_at timestamp with time zone, executor bigint, runtime text, host text, ended_at timestamp with time zone, took_us bigint, ending text, error text)
  sql stable set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 577359ce27fa85a01183197d8ebd0a20
function pulse.hold_key(tenant text, key text, id uuid, until timestamp with time zone) returns uuid
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 d9c8d81be4721a12d2f104958bc89bd9
function pulse.hold_lane(j pulse.log) returns void
  sql volatile set search_path=pg_catalog, pg_temp md5 bec0260d8963958a8c8c4e1ea69322c2
function pulse.hold_schedule(asked text, id uuid, revision integer) returns pulse.schedule
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 b692423d391240e06f814b90e5382518
function pulse.is_dated(id uuid) returns boolean
  sql immutable parallel safe differs between versions
function pulse.is_decided(p pulse.partition) returns boolean
  plpgsql volatile security definer set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 ba31ddb9783b79d83e622fa23c20d9bf
function pulse.is_fresh(id uuid) returns boolean
  sql volatile parallel safe differs between versions
function pulse.is_pending(j pulse.log) returns boolean
  plpgsql stable set search_path=pg_catalog, pg_temp md5 42c72c54a6abd7d0201e034904c837f3
function pulse.is_quiet(parked xid8) returns boolean
  sql volatile md5 763962b01cfc0191e2253e37a3f57c4e
function pulse.keep_ahead(period interval DEFAULT '1 day'::interval, least_width bigint DEFAULT 1000000, OUT added text[], OUT burnt bigint, OUT starved boolean) returns record
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 2dc1ad1c5fcc8b87a6e9d7c7412fb0fb
function pulse.keep_results(claim bigint, hit bit varying, results json, at timestamp with time zone) returns void
  sql volatile set search_path=pg_catalog, pg_temp md5 8228baade61d9ddc093de228577f78f8
function pulse.lane_id(queue text, priority smallint, lane smallint) returns bigint
  sql immutable parallel safe md5 0b701f69c5dc93a39e4ea042181443fb
function pulse.lane_lock(queue text, priority smallint, lane smallint) returns integer
  sql immutable parallel safe md5 8d8eb5a76b0afc4d153119aa72796a81
function pulse.lane_of(queue text, tenant text) returns smallint
  sql stable md5 dac8361810c4d319830058d46caa220b
function pulse.lanes_with_work(queues text[], shares integer[], request bigint, low boolean) returns TABLE(queue text, priority smallint, lane smallint, siblings bigint, fresh boolean, due boolean)
  plpgsql stable set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 e81305d576d007fd0c6fc5bd0f2a9f67
function pulse.last_error(id uuid) returns text
  sql stable md5 3d68347e7dbc581b994f88cbd8f1308b
function pulse.list(status text DEFAULT NULL::text, queue text DEFAULT NULL::text, kind text DEFAULT NULL::text, tenant text DEFAULT NULL::text, most integer DEFAULT 50, after text DEFAULT NULL::text, reads integer DEFAULT 5000) returns SETOF pulse.listed
  plpgsql stable set search_path=pg_catalog, pg_temp md5 c7bba57933b70f902f11dd9251be984d
function pulse.list_all(queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_seqscan=off set jit=off set plan_cache_mode=force_custom_plan set search_path=pg_catalog, pg_temp md5 8fb45d13ec702c721645b046c0c38082
function pulse.list_completed(queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_hashagg=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 4a4665405194b87cee822d986cb1351a
function pulse.list_delayed(queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 75e483bdb74cd11d277bd65f2f02569b
function pulse.list_delayed_retries(queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 cd16af6d8464ca2b87dd4f964ea2db87
function pulse.list_ended(status text, queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_seqscan=off set jit=off set plan_cache_mode=force_custom_plan set search_path=pg_catalog, pg_temp md5 132b8d86dd868d782950fa67f5287b68
function pulse.list_pending(queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 bda88ed4852d22c5bc1f355632404773
function pulse.list_retrying(queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_custom_plan set search_path=pg_catalog, pg_temp md5 69ff3e9b212ecc33d7d2e7b3e2edeb14
function pulse.list_running(queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 a4617333528accfae59392c2322cbd11
function pulse.listed_of(j pulse.log, status text, attempt smallint, charged smallint, run_at timestamp with time zone, started_at timestamp with time zone, finished_at timestamp with time zone, executor bigint, after text) returns pulse.listed
  sql stable md5 31c832bb89fd098b2868ef23ff77cca9
function pulse.look(queues text[], executors bigint[] DEFAULT '{}'::bigint[], parked_x xid8 DEFAULT NULL::xid8, schedules integer DEFAULT 0, runtime text DEFAULT NULL::text, shards integer DEFAULT NULL::integer, shard integer DEFAULT NULL::integer, OUT moment timestamp with time zone, OUT drawn bigint, OUT paused boolean, OUT resting text[], OUT ready boolean, OUT new_lanes integer, OUT due_s double precision, OUT cancels json, OUT parked boolean, OUT quiet boolean, OUT due json, OUT next_s double precision) returns record
  plpgsql volatile set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 6635c0bf86f39bf69ab2df0848392504
function pulse.mask_of(positions integer[], bits integer) returns bit varying
  plpgsql immutable set search_path=pg_catalog, pg_temp md5 4e8c6ff870b71e329b26ca6502f3f41d
function pulse.merge_masks(INOUT claims bigint[], INOUT tokens uuid[], INOUT masks bit varying[], INOUT took_us integer[]) returns record
  sql immutable set search_path=pg_catalog, pg_temp md5 87a32c4f53c8d9661a9ff99598ff8f1e
function pulse.move(id uuid, queue text DEFAULT NULL::text, priority integer DEFAULT NULL::integer) returns boolean
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 6affebaec048abb3ef19576e402f84be
function pulse.namesakes(runtime text, OUT id bigint, OUT host text, OUT boot_id text, OUT pid integer, OUT pid_start text, OUT beats bigint) returns SETOF record
  sql stable set search_path=pg_catalog, pg_temp md5 ad205028bcb17c2670c47453e58a0d08
function pulse.next_due(moment timestamp with time zone) returns timestamp with time zone
  plpgsql stable set enable_bitmapscan=off set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 ff200e14fab5bd13a1cb5085ae594e3f
function pulse.note_partitions() returns void
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 06002923b337f980bae8190543fa5cad
function pulse.note_progress(ids uuid[], attempts smallint[], dones double precision[], totals double precision[], notes text[]) returns void
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 3de121e9090ea482ecfc2e36e3c4a3dd
function pulse.note_successes(ids uuid[], at timestamp with time zone) returns void
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 de902772b9e93a314fe67e89a3cbe2cd
function pulse.now() returns timestamp with time zone
  sql volatile parallel safe md5 94fc2f526401760006cf0a2bd7692e58
function pulse.oldest_due(queue text, priority smallint, lane smallint, x xid8, s bigint, floor_s bigint, late_x xid8[], late_s bigint[]) returns TABLE(due timestamp with time zone)
  sql stable md5 572478c3b5b95d59e3a07649f41b4220
function pulse.options_of(s pulse.schedule) returns json
  sql immutable md5 87dca6654bc0110f1ece37c2321a3de6
function pulse.park(queues text[]) returns xid8
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 f11a3a7bd902924f21c4bf907fbe3275
function pulse.partition_width(period interval, least_width bigint) returns bigint
  sql volatile security definer set search_path=pg_catalog, pg_temp md5 c3f768f97528c1c11428454199a19579
function pulse.pass_lane(queue text, priority smallint, lane smallint, executor bigint, request bigint, drawn bigint, slow interval) returns boolean
  plpgsql volatile set enable_bitmapscan=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 820b87625ecc59c8d40d2affcb469ed3
function pulse.pass_open(queues text[], executor bigint, request bigint, drawn bigint) returns void
  sql volatile set search_path=pg_catalog, pg_temp md5 863346a677b2a08371dd7b61131213b2
function pulse.pause(queue text, by text, reason text) returns boolean
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 7bf23e1b64003bab4247055ad6575816
function pulse.pause_failing(ids uuid[]) returns uuid[]
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 db8414827f64e3d9c6da7abb54456328
function pulse.pause_schedule(id uuid, reason text DEFAULT NULL::text, by text DEFAULT NULL::text) returns boolean
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 f42af0645b99109156dcee705c7eabd0
function pulse.promote(most integer, OUT moved bigint, OUT due boolean, OUT next_s double precision) returns record
  plpgsql volatile set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 fbcd90a792fbea8e36e15a6df552a9e5
function pulse.prune(keep interval, keep_failures interval, most integer DEFAULT 5000, OUT claims bigint, OUT places bigint, OUT failures bigint, OUT outcomes bigint, OUT results bigint, OUT keys bigint, OUT wishes bigint, OUT executors bigint) returns record
  plpgsql volatile security definer set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 1c73ca7747de8d034141b70fdd3b572d
function pulse.prune_failures(failed timestamp with time zone, most integer) returns bigint
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 8045daf29df191fdbac7c04307cd672c
function pulse.prune_lanes(keep interval) returns integer
  plpgsql volatile security definer set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 56a4ca4f310d15cb8ae87ec0d8393107
function pulse.prune_schedules(keep interval, most integer DEFAULT 5000) returns bigint
  plpgsql volatile security definer set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 44d8f657184b3d2a01f116eb8152b7b5
function pulse.put_off_again(options json) returns json
  plpgsql immutable set search_path=pg_catalog, pg_temp md5 3040e417db55e8ca3fa2e84a8c9bcf65
function pulse.queue_bit(queue text) returns bigint
  sql immutable parallel safe md5 a065e7cb2957ea74bb2f172c098572ba
function pulse.raise_floors() returns integer
  plpgsql volatile set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 934d4916a7ba8ccf0e2f38c05fc800ba
function pulse.ready(queue text, priority smallint, lane smallint, x xid8, s bigint, floor_s bigint, late_x xid8[], late_s bigint[], below_x xid8, below_s bigint, most integer) returns TABLE(xid xid8, seq bigint)
  sql stable md5 2aeb6f11658ec041b3aa91aa74b454d4
function pulse.reap(executor bigint, beats bigint) returns bigint
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 10cafa481ddd91449d6e9ab2fd5c6a40
function pulse.rebase(OUT pending bigint, OUT running bigint, OUT completed bigint) returns record
  plpgsql volatile set lock_timeout=2s set search_path=pg_catalog, pg_temp md5 244c2275b53ef06f3ca1ad8abcfb03a5
function pulse.refuse_isolation() returns void
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 657492d3dfa93adf8adaae43c94679eb
function pulse.refuse_schedule(asked text, name text, problem text, hint text) returns void
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 b7089763d345fc3ac668d43cb145e187
function pulse.refuse_transition(asked text, id uuid, status text) returns void
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 c8467e0987c87a394942529ca574f04f
function pulse.refuse_update() returns trigger
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 9128b33862a54c2657630543094b4a57
function pulse.register_executor(runtime text, host text, boot_id text, pid integer, pid_start text DEFAULT ''::text, kinds text[] DEFAULT NULL::text[]) returns bigint
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 9473bcd88ae20781f23f5e9d63110e17
function pulse.release(claims bigint[], tokens uuid[], positions integer[]) returns bigint
  sql volatile set search_path=pg_catalog, pg_temp md5 4ad90d9fec7e6b29b4ed88959e511458
function pulse.remove_schedules(ids uuid[], by text) returns void
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 3999678a64b43df19236416e98fa894f
function pulse.resume(queue text) returns boolean
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 2f7fa421615da5a889bf8b9f0c65538e
function pulse.resume_schedule(id uuid, by text DEFAULT NULL::text) returns boolean
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 5c9b316a12f0df1c7c60ef7db2f6a1fc
function pulse.retry(id uuid) returns boolean
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 78d833cb10c338add46a5268571e2ede
function pulse.retry_of(j pulse.log, OUT retrying bigint, OUT attempt smallint, OUT charged smallint, OUT run_at timestamp with time zone, OUT claim bigint, OUT pos integer, OUT executor bigint, OUT at timestamp with time zone) returns record
  plpgsql stable set enable_bitmapscan=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 56ca457ec10c41ca16ccf82eb933044f
function pulse.rezone(version text) returns bigint
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 57740c6cd2426460d85f210bbc5a84a6
function pulse.run_schedule(id uuid, by text DEFAULT NULL::text) returns uuid
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 e3fcd77b1e675757f488ae4f593f7ae5
function pulse.schedule_history(id uuid, most integer DEFAULT 50, before timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(occurrence timestamp with time zone, due_at timestamp with time zone, decided_at timestamp with time zone, verdict text, reason text, job_id uuid, status text, lateness_s double precision)
  sql stable set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 0a9d83342dc6f545d99b09b4f665dd29
function pulse.schedule_id(name text, tenant text DEFAULT NULL::text, project text DEFAULT NULL::text) returns uuid
  sql stable set search_path=pg_catalog, pg_temp md5 0994284fed3ef100e41fc56bf998d51a
function pulse.schedule_verdicts(id uuid, begins timestamp with time zone, ends timestamp with time zone) returns TABLE(verdict text, n bigint)
  sql stable set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 73b47df5140f58302b5647186461e2a4
function pulse.set_apart(j pulse.log) returns boolean
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 17674579981c26d5667c25658be59266
function pulse.settle(claims bigint[], tokens uuid[], masks bit varying[], took_us integer[], results json DEFAULT NULL::json, follow_ups json DEFAULT NULL::json, OUT settled bigint, OUT stale bigint[]) returns record
  plpgsql volatile set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 eafceafa2d66e00905a354f5c5cd9585
function pulse.shard_of(id uuid, shards integer) returns integer
  sql immutable parallel safe md5 ed8f787da03b9d29f18737cdb9d46da9
function pulse.size_of(args json, meta json) returns integer
  sql immutable parallel safe md5 3869c0e7ff801e703a5d07564067e08d
function pulse.snooze(claims bigint[], tokens uuid[], positions integer[], delays_ms bigint[]) returns bigint
  sql volatile set search_path=pg_catalog, pg_temp md5 f714d281595782a0855f8f103d0cce6e
function pulse.squatted(decisions json, moment timestamp with time zone) returns uuid[]
  sql stable set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 afd7994fe23b8b1324b9caed566fd581
function pulse.state_of(j pulse.log, OUT status text, OUT attempt smallint, OUT charged smallint, OUT run_at timestamp with time zone, OUT claim bigint, OUT pos integer, OUT executor bigint, OUT started_at timestamp with time zone, OUT finished_at timestamp with time zone) returns record
  plpgsql stable set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 aa8d2ffd6514529c5b6b3118023a8df3
function pulse.step_up(delay_ms bigint) returns bigint
  sql immutable parallel safe md5 b4db5a2bbbb339b9991831bb407433f8
function pulse.still_to_come(first_at timestamp with time zone, moment timestamp with time zone) returns timestamp with time zone
  sql immutable md5 35fed6489c26d9eaa95c3941ec770f5a
function pulse.times_put_off(options json) returns integer
  plpgsql immutable set search_path=pg_catalog, pg_temp md5 ddd617c74e94c3b449f40c5284e1d9bd
function pulse.took_of(mask bit varying, hit bit varying, took integer[]) returns integer[]
  sql immutable set search_path=pg_catalog, pg_temp md5 819d34c16670da4c15fe8d03847aa1b0
function pulse.unheld(executors bigint[], held bigint[], OUT claim bigint, OUT token uuid) returns SETOF record
  sql stable set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 0850a0ac4571f48329c784671fc371ed
function pulse.unpark(queues text[]) returns void
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 c1c4adc99a9f264974187ec1808bbffd
function pulse.uuid7() returns uuid
  sql volatile parallel safe md5 60e12c5c35c9db981e778db12fb107be
function pulse.uuid7_at(id uuid) returns timestamp with time zone
  sql immutable strict parallel safe md5 b29aeb4b252beafc471185a81175f507
function pulse.uuid7_from(moment timestamp with time zone) returns uuid
  sql immutable parallel safe md5 59c9c487dde142ba484c716bc81fb16f
function pulse.wake(queue text) returns void
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 e65e4703c22d722e4108709190aa63ab
function pulse.wire(id uuid, kind text, args json, attempt smallint, charged smallint, max_attempts smallint, suspect boolean, tenant text, project text, key text, schedule_id uuid, occurrence timestamp with time zone, options json, trace text, meta json) returns text
  sql stable md5 b53d7a349c35797296624b953290cc6c
function pulse.withdraw(ids uuid[], why text) returns void
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 4b28cba1a9339417a24361bb14eb0a37
function pulse.write_claim(k pulse.claim, executor bigint, request bigint, queue text, priority smallint, lane smallint, drawn bigint, tracked integer[]) returns bigint
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 97b9c55a71e22ce6236d790768d734f7

-- triggers, rules, policies, statistics

CREATE TRIGGER append_only BEFORE UPDATE ON pulse.log FOR EACH ROW EXECUTE FUNCTION pulse.refuse_update()
CREATE TRIGGER append_only BEFORE UPDATE ON pulse.log_1 FOR EACH ROW EXECUTE FUNCTION pulse.refuse_update()
CREATE TRIGGER append_only BEFORE UPDATE ON pulse.log_1000001 FOR EACH ROW EXECUTE FUNCTION pulse.refuse_update()
CREATE TRIGGER append_only BEFORE UPDATE ON pulse.log_default FOR EACH ROW EXECUTE FUNCTION pulse.refuse_update()

-- grants

function pulse."fetch"(bigint,uuid): nobody but the owner
function pulse.add_follow_ups(bigint,bit varying,json): nobody but the owner
function pulse.add_partition(bigint): nobody but the owner
function pulse.add_schedule(text,text,text,text,json,text,timestamp with time zone,text,integer,integer,json,json,text,text,text,text,text,integer,double precision,double precision,text,double precision,text,integer,timestamp with time zone,bigint,double precision,timestamp with time zone,text,text,uuid): nobody but the owner
function pulse.any_visible(xid8[],pg_snapshot): nobody but the owner
function pulse.audit(interval,integer): nobody but the owner
function pulse.backfill(uuid,timestamp with time zone[],uuid[],boolean,text): nobody but the owner
function pulse.backoff(json,integer): nobody but the owner
function pulse.budget_of(pulse.schedule): nobody but the owner
function pulse.bury(bigint,text,bigint[],uuid[],bit varying[],bigint[],uuid[],integer[],text[],text[],text): nobody but the owner
function pulse.cancel(uuid,text,text): nobody but the owner
function pulse.claim(bigint,bigint,text[],integer[],integer,integer): nobody but the owner
function pulse.claim_lane(bigint,bigint,text,smallint,smallint,integer,integer,bigint): nobody but the owner
function pulse.claim_of(pulse.log): nobody but the owner
function pulse.claim_retrying(bigint,bigint,text,smallint,smallint,integer,integer): nobody but the owner
function pulse.close(bigint[],uuid[],integer[],text[],bigint[],text[],bigint[]): nobody but the owner
function pulse.close_apart(pulse.closed[],timestamp with time zone,bigint,bigint,boolean): nobody but the owner
function pulse.close_following(bigint[],uuid[],integer[],text[],bigint[],text[],bigint[],json): nobody but the owner
function pulse.close_rest(pulse.verdict[],timestamp with time zone,boolean): nobody but the owner
function pulse.count_endings(integer): nobody but the owner
function pulse.counts(integer): nobody but the owner
function pulse.cursor_of(text,smallint,smallint): nobody but the owner
function pulse.cursors(text): nobody but the owner
function pulse.cut(bigint): nobody but the owner
function pulse.delayed_queues(text): nobody but the owner
function pulse.delete_schedule(uuid,text): nobody but the owner
function pulse.delete_schedules(text,text,text): nobody but the owner
function pulse.deliveries(uuid): nobody but the owner
function pulse.discover(): nobody but the owner
function pulse.drop_partitions(interval): nobody but the owner
function pulse.due_schedules(integer,text,integer,integer): nobody but the owner
function pulse.edit_schedule(uuid,json,timestamp with time zone,text,text,integer): nobody but the owner
function pulse.empty_default(interval): nobody but the owner
function pulse.end_executor(bigint,text,bigint): nobody but the owner
function pulse.enqueue(text,json,text,integer,timestamp with time zone,text,interval,text,text,integer,json,text,json,uuid,uuid,timestamp with time zone): nobody but the owner
function pulse.enqueue_many(uuid[],text[],text[],text[],smallint[],json[]): nobody but the owner
function pulse.enqueue_plain(text,json,text,uuid): nobody but the owner
function pulse.enqueue_rest(uuid[],text[],text[],text[],smallint[],json[]): nobody but the owner
function pulse.executors_standing(): nobody but the owner
function pulse.extend(bigint[]): nobody but the owner
function pulse.fail(bigint[],uuid[],integer[],text[],bigint[],bigint[]): nobody but the owner
function pulse.find(uuid): nobody but the owner
function pulse.fire(json): nobody but the owner
function pulse.fire_held(json,uuid[],uuid[],timestamp with time zone): nobody but the owner
function pulse.first_run(text,text,timestamp with time zone,timestamp with time zone): nobody but the owner
function pulse.foreign_xids(): nobody but the owner
function pulse.free_keys(uuid[]): nobody but the owner
function pulse.get(uuid): nobody but the owner
function pulse.give_back(bigint,text,text): nobody but the owner
function pulse.give_back_claims(bigint[],uuid[],text,text): nobody but the owner
function pulse.history(uuid): nobody but the owner
function pulse.hold_key(text,text,uuid,timestamp with time zone): nobody but the owner
function pulse.hold_lane(pulse.log): nobody but the owner
function pulse.hold_schedule(text,uuid,integer): nobody but the owner
function pulse.is_dated(uuid): nobody but the owner
function pulse.is_decided(pulse.partition): nobody but the owner
function pulse.is_fresh(uuid): nobody but the owner
function pulse.is_pending(pulse.log): nobody but the owner
function pulse.is_quiet(xid8): nobody but the owner
function pulse.keep_ahead(interval,bigint): nobody but the owner
function pulse.keep_results(bigint,bit varying,json,timestamp with time zone): nobody but the owner
function pulse.lane_id(text,smallint,smallint): nobody but the owner
function pulse.lane_lock(text,smallint,smallint): nobody but the owner
function pulse.lane_of(text,text): nobody but the owner
function pulse.lanes_with_work(text[],integer[],bigint,boolean): nobody but the owner
function pulse.last_error(uuid): nobody but the owner
function pulse.list(text,text,text,text,integer,text,integer): nobody but the owner
function pulse.list_all(text,text,text,integer,text,integer): nobody but the owner
function pulse.list_completed(text,text,text,integer,text,integer): nobody but the owner
function pulse.list_delayed(text,text,text,integer,text,integer): nobody but the owner
function pulse.list_delayed_retries(text,text,text,integer,text,integer): nobody but the owner
function pulse.list_ended(text,text,text,text,integer,text,integer): nobody but the owner
function pulse.list_pending(text,text,text,integer,text,integer): nobody but the owner
function pulse.list_retrying(text,text,text,integer,text,integer): nobody but the owner
function pulse.list_running(text,text,text,integer,text,integer): nobody but the owner
function pulse.listed_of(pulse.log,text,smallint,smallint,timestamp with time zone,timestamp with time zone,timestamp with time zone,bigint,text): nobody but the owner
function pulse.look(text[],bigint[],xid8,integer,text,integer,integer): nobody but the owner
function pulse.mask_of(integer[],integer): nobody but the owner
function pulse.merge_masks(bigint[],uuid[],bit varying[],integer[]): nobody but the owner
function pulse.move(uuid,text,integer): nobody but the owner
function pulse.namesakes(text): nobody but the owner
function pulse.next_due(timestamp with time zone): nobody but the owner
function pulse.note_partitions(): nobody but the owner
function pulse.note_progress(uuid[],smallint[],double precision[],double precision[],text[]): nobody but the owner
function pulse.note_successes(uuid[],timestamp with time zone): nobody but the owner
function pulse.now(): nobody but the owner
function pulse.oldest_due(text,smallint,smallint,xid8,bigint,bigint,xid8[],bigint[]): nobody but the owner
function pulse.options_of(pulse.schedule): nobody but the owner
function pulse.park(text[]): nobody but the owner
function pulse.partition_width(interval,bigint): nobody but the owner
function pulse.pass_lane(text,smallint,smallint,bigint,bigint,bigint,interval): nobody but the owner
function pulse.pass_open(text[],bigint,bigint,bigint): nobody but the owner
function pulse.pause(text,text,text): nobody but the owner
function pulse.pause_failing(uuid[]): nobody but the owner
function pulse.pause_schedule(uuid,text,text): nobody but the owner
function pulse.promote(integer): nobody but the owner
function pulse.prune(interval,interval,integer): nobody but the owner
function pulse.prune_failures(timestamp with time zone,integer): nobody but the owner
function pulse.prune_lanes(interval): nobody but the owner
function pulse.prune_schedules(interval,integer): nobody but the owner
function pulse.put_off_again(json): nobody but the owner
function pulse.queue_bit(text): nobody but the owner
function pulse.raise_floors(): nobody but the owner
function pulse.ready(text,smallint,smallint,xid8,bigint,bigint,xid8[],bigint[],xid8,bigint,integer): nobody but the owner
function pulse.reap(bigint,bigint): nobody but the owner
function pulse.rebase(): nobody but the owner
function pulse.refuse_isolation(): nobody but the owner
function pulse.refuse_schedule(text,text,text,text): nobody but the owner
function pulse.refuse_transition(text,uuid,text): nobody but the owner
function pulse.refuse_update(): nobody but the owner
function pulse.register_executor(text,text,text,integer,text,text[]): nobody but the owner
function pulse.release(bigint[],uuid[],integer[]): nobody but the owner
function pulse.remove_schedules(uuid[],text): nobody but the owner
function pulse.resume(text): nobody but the owner
function pulse.resume_schedule(uuid,text): nobody but the owner
function pulse.retry(uuid): nobody but the owner
function pulse.retry_of(pulse.log): nobody but the owner
function pulse.rezone(text): nobody but the owner
function pulse.run_schedule(uuid,text): nobody but the owner
function pulse.schedule_history(uuid,integer,timestamp with time zone): nobody but the owner
function pulse.schedule_id(text,text,text): nobody but the owner
function pulse.schedule_verdicts(uuid,timestamp with time zone,timestamp with time zone): nobody but the owner
function pulse.set_apart(pulse.log): nobody but the owner
function pulse.settle(bigint[],uuid[],bit varying[],integer[],json,json): nobody but the owner
function pulse.shard_of(uuid,integer): nobody but the owner
function pulse.size_of(json,json): nobody but the owner
function pulse.snooze(bigint[],uuid[],integer[],bigint[]): nobody but the owner
function pulse.squatted(json,timestamp with time zone): nobody but the owner
function pulse.state_of(pulse.log): nobody but the owner
function pulse.step_up(bigint): nobody but the owner
function pulse.still_to_come(timestamp with time zone,timestamp with time zone): nobody but the owner
function pulse.times_put_off(json): nobody but the owner
function pulse.took_of(bit varying,bit varying,integer[]): nobody but the owner
function pulse.unheld(bigint[],bigint[]): nobody but the owner
function pulse.unpark(text[]): nobody but the owner
function pulse.uuid7(): nobody but the owner
function pulse.uuid7_at(uuid): nobody but the owner
function pulse.uuid7_from(timestamp with time zone): nobody but the owner
function pulse.wake(text): nobody but the owner
function pulse.wire(uuid,text,json,smallint,smallint,smallint,boolean,text,text,text,uuid,timestamp with time zone,json,text,json): nobody but the owner
function pulse.withdraw(uuid[],text): nobody but the owner
function pulse.write_claim(pulse.claim,bigint,bigint,text,smallint,smallint,bigint,integer[]): nobody but the owner
schema pulse: nobody but the owner
sequence pulse.claim_id_seq: nobody but the owner
sequence pulse.executor_id_seq: nobody but the owner
sequence pulse.log_seq: nobody but the owner
sequence pulse.parked: nobody but the owner
sequence pulse.retrying_id_seq: nobody but the owner
table pulse.cancel_request: nobody but the owner
table pulse.claim: nobody but the owner
table pulse.delayed: nobody but the owner
table pulse.discovery: nobody but the owner
table pulse.dispatch: nobody but the owner
table pulse.done: nobody but the owner
table pulse.executor: nobody but the owner
table pulse.failure: nobody but the owner
table pulse.jobs: nobody but the owner
table pulse.key: nobody but the owner
table pulse.lane: nobody but the owner
table pulse.lease: nobody but the owner
table pulse.log: nobody but the owner
table pulse.log_1: nobody but the owner
table pulse.log_1000001: nobody but the owner
table pulse.log_default: nobody but the owner
table pulse.migration: nobody but the owner
table pulse.occurrence: nobody but the owner
table pulse.occurrence_floor: nobody but the owner
table pulse.outcome: nobody but the owner
table pulse.partition: nobody but the owner
table pulse.place: nobody but the owner
table pulse.progress: nobody but the owner
table pulse.queue: nobody but the owner
table pulse.result: nobody but the owner
table pulse.retrying: nobody but the owner
table pulse.schedule: nobody but the owner
table pulse.schedule_ending: nobody but the owner
table pulse.schedule_run: nobody but the owner
table pulse.schedule_tally: nobody but the owner
table pulse.schedules: nobody but the owner
