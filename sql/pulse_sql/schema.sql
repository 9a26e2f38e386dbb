-- What the migrations make, read from the catalogues. Not to be applied: see migrations/.
-- Written by `make snapshot`; a test fails when it is stale. A function is given by the md5 of its body.

-- types

type pulse.args_json domain json CHECK ((octet_length((VALUE)::text) <= 4194304))
type pulse.attempt_number domain smallint CHECK ((VALUE >= 1))
type pulse.attempts_budget domain smallint CHECK (((VALUE >= 1) AND (VALUE <= 1000)))
type pulse.charged_number domain smallint CHECK ((VALUE >= 0))
type pulse.key_text domain text CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 500)))
type pulse.kind_name domain text CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 200)))
type pulse.lane_cursor composite (queue text, priority smallint, lane smallint, x xid8, s bigint, floor_s bigint, late_x xid8[], late_s bigint[])
type pulse.lane_number domain smallint CHECK (((VALUE >= 0) AND (VALUE <= 1023)))
type pulse.listed composite (id uuid, status text, queue text, kind text, tenant text, project text, priority smallint, attempt smallint, charged smallint, max_attempts smallint, submitted_at timestamp with time zone, run_at timestamp with time zone, started_at timestamp with time zone, finished_at timestamp with time zone, last_error text, executor bigint, schedule_id uuid, occurrence timestamp with time zone, key text, after text)
type pulse.meta_json domain json CHECK ((octet_length((VALUE)::text) <= 65536))
type pulse.options_json domain json CHECK ((octet_length((VALUE)::text) <= 8192))
type pulse.priority_number domain smallint CHECK (((VALUE >= '-10'::integer) AND (VALUE <= 10)))
type pulse.project_name domain text CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 200)))
type pulse.queue_name domain text CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 100)))
type pulse.tenant_name domain text CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 200)))
type pulse.trace_text domain text CHECK ((octet_length(VALUE) <= 512))

-- sequences

sequence pulse.claim_id_seq as bigint start 1 increment 1 min 1 max 9223372036854775807 cache 1 owned by pulse.claim.id
sequence pulse.executor_id_seq as bigint start 1 increment 1 min 1 max 9223372036854775807 cache 1 owned by pulse.executor.id
sequence pulse.log_seq as bigint start 1 increment 1 min 1 max 9223372036854775807 cache 1
sequence pulse.parked as bigint start 0 increment 1 min 0 max 9223372036854775807 cache 1

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
  constraint claim_pkey PRIMARY KEY (id),
  constraint claim_queue_priority_lane_n_key UNIQUE (queue, priority, lane, n)
)

table pulse.delayed (
  id uuid not null,
  run_at timestamp with time zone not null,
  submitted_at timestamp with time zone not null,
  priority pulse.priority_number not null,
  lane pulse.lane_number not null,
  attempt pulse.attempt_number not null,
  charged pulse.charged_number not null,
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
  error text
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
) as md5 2e42a2a5fa242bcd9eb2ebea73c22543

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
  priority pulse.priority_number not null default 0,
  lane pulse.lane_number not null default 0,
  attempt pulse.attempt_number not null default 1,
  charged pulse.charged_number not null default 0,
  max_attempts pulse.attempts_budget not null default 25,
  suspect boolean not null default false,
  queue pulse.queue_name not null default 'default'::text,
  kind pulse.kind_name not null,
  args pulse.args_json not null default '{}'::json,
  tenant pulse.tenant_name,
  project pulse.project_name,
  key pulse.key_text,
  schedule_id uuid,
  occurrence timestamp with time zone,
  options pulse.options_json,
  trace pulse.trace_text,
  meta pulse.meta_json
) partition by RANGE (seq)

table pulse.log_1 of pulse.log FOR VALUES FROM ('1') TO ('1000001') (
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('pulse.log_seq'::regclass),
  submitted_at timestamp with time zone not null,
  id uuid not null,
  priority pulse.priority_number not null default 0,
  lane pulse.lane_number not null default 0,
  attempt pulse.attempt_number not null default 1,
  charged pulse.charged_number not null default 0,
  max_attempts pulse.attempts_budget not null default 25,
  suspect boolean not null default false,
  queue pulse.queue_name not null default 'default'::text,
  kind pulse.kind_name not null,
  args pulse.args_json not null default '{}'::json,
  tenant pulse.tenant_name,
  project pulse.project_name,
  key pulse.key_text,
  schedule_id uuid,
  occurrence timestamp with time zone,
  options pulse.options_json,
  trace pulse.trace_text,
  meta pulse.meta_json
) with (autovacuum_vacuum_insert_threshold=-1)

table pulse.log_1000001 of pulse.log FOR VALUES FROM ('1000001') TO ('2000001') (
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('pulse.log_seq'::regclass),
  submitted_at timestamp with time zone not null,
  id uuid not null,
  priority pulse.priority_number not null default 0,
  lane pulse.lane_number not null default 0,
  attempt pulse.attempt_number not null default 1,
  charged pulse.charged_number not null default 0,
  max_attempts pulse.attempts_budget not null default 25,
  suspect boolean not null default false,
  queue pulse.queue_name not null default 'default'::text,
  kind pulse.kind_name not null,
  args pulse.args_json not null default '{}'::json,
  tenant pulse.tenant_name,
  project pulse.project_name,
  key pulse.key_text,
  schedule_id uuid,
  occurrence timestamp with time zone,
  options pulse.options_json,
  trace pulse.trace_text,
  meta pulse.meta_json
) with (autovacuum_vacuum_insert_threshold=-1)

table pulse.log_default of pulse.log DEFAULT (
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('pulse.log_seq'::regclass),
  submitted_at timestamp with time zone not null,
  id uuid not null,
  priority pulse.priority_number not null default 0,
  lane pulse.lane_number not null default 0,
  attempt pulse.attempt_number not null default 1,
  charged pulse.charged_number not null default 0,
  max_attempts pulse.attempts_budget not null default 25,
  suspect boolean not null default false,
  queue pulse.queue_name not null default 'default'::text,
  kind pulse.kind_name not null,
  args pulse.args_json not null default '{}'::json,
  tenant pulse.tenant_name,
  project pulse.project_name,
  key pulse.key_text,
  schedule_id uuid,
  occurrence timestamp with time zone,
  options pulse.options_json,
  trace pulse.trace_text,
  meta pulse.meta_json
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


-- indexes

CREATE INDEX cancel_request_executor ON pulse.cancel_request USING btree (executor)
CREATE INDEX claim_at ON pulse.claim USING btree (at)
CREATE INDEX claim_cursor ON pulse.claim USING btree (queue, priority, lane, x, s)
CREATE INDEX claim_late ON pulse.claim USING btree (queue, priority, lane, n, low_x) WHERE (low_x IS NOT NULL)
CREATE INDEX claim_request ON pulse.claim USING btree (executor, request)
CREATE INDEX delayed_due ON pulse.delayed USING btree (run_at, id)
CREATE INDEX delayed_queue ON pulse.delayed USING btree (queue, run_at, id) WHERE ((charged)::smallint = 0)
CREATE INDEX done_at ON pulse.done USING btree (at)
CREATE INDEX done_claim ON pulse.done USING btree (claim)
CREATE INDEX executor_alive ON pulse.executor USING btree (runtime, id) WHERE (ended_at IS NULL)
CREATE INDEX failure_at ON pulse.failure USING btree (at, id)
CREATE INDEX failure_id ON pulse.failure USING btree (id, attempt)
CREATE INDEX key_id ON pulse.key USING btree (id)
CREATE INDEX key_until ON pulse.key USING btree (until) WHERE (until IS NOT NULL)
CREATE INDEX lease_executor ON pulse.lease USING btree (executor)
CREATE INDEX log_1000001_id_idx ON pulse.log_1000001 USING btree (id)
CREATE INDEX log_1000001_queue_priority_lane_xid_seq_idx ON pulse.log_1000001 USING btree (queue, priority, lane, xid, seq)
CREATE INDEX log_1_id_idx ON pulse.log_1 USING btree (id)
CREATE INDEX log_1_queue_priority_lane_xid_seq_idx ON pulse.log_1 USING btree (queue, priority, lane, xid, seq)
CREATE INDEX log_default_id_idx ON pulse.log_default USING btree (id)
CREATE INDEX log_default_queue_priority_lane_xid_seq_idx ON pulse.log_default USING btree (queue, priority, lane, xid, seq)
CREATE INDEX log_id ON ONLY pulse.log USING btree (id)
CREATE INDEX log_lane ON ONLY pulse.log USING btree (queue, priority, lane, xid, seq)
CREATE INDEX outcome_at ON pulse.outcome USING btree (at, id)
CREATE INDEX outcome_queue ON pulse.outcome USING btree (queue, status, at, id)
CREATE INDEX outcome_status ON pulse.outcome USING btree (status, at, id)
CREATE INDEX place_seq ON pulse.place USING btree (seq)
CREATE INDEX result_at ON pulse.result USING btree (at)

-- functions

function pulse.add_follow_ups(claim bigint, hit bit varying, follow_ups json) returns void
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 48f56207e61e895a9ea6d1494045a12c
function pulse.add_partition(width bigint) returns text
  plpgsql volatile security definer set lock_timeout=50ms set search_path=pg_catalog, pg_temp md5 6d6389a0fa27d799aea4f0e29fa8f2d1
function pulse.backoff(options json, charged integer) returns interval
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 5999b47fa203a554ea17bb8b2ce388e4
function pulse.bury(executor bigint, why text, claims bigint[], tokens uuid[], masks bit varying[], ended_claims bigint[], ended_tokens uuid[], positions integer[], endings text[], errors text[], rest text, OUT settled bigint, OUT ended bigint, OUT given_back bigint) returns record
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 9786c3c8afe808f38f9337bca75b4f91
function pulse.cancel(id uuid, by text DEFAULT NULL::text, reason text DEFAULT NULL::text) returns text
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 9bd9a255ebae9e274581a70e182139fc
function pulse.claim(executor bigint, request bigint, queues text[], shares integer[], slots integer, bytes integer DEFAULT 4194304) returns TABLE(claim bigint, token uuid, queue text, priority smallint, lane smallint, n integer, jobs text)
  plpgsql volatile set enable_bitmapscan=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 726045219b62ff93fa9b947e2d8d87db
function pulse.claim_lane(executor bigint, request bigint, queue text, priority smallint, lane smallint, slots integer, bytes integer, drawn bigint, OUT claim bigint, OUT token uuid, OUT n integer, OUT jobs text, OUT size bigint) returns record
  plpgsql volatile set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 66db6b21f1fdbd632e9fc4648f6f26f2
function pulse.claim_of(j pulse.log, OUT claim bigint, OUT pos integer, OUT executor bigint, OUT at timestamp with time zone) returns record
  plpgsql stable set enable_bitmapscan=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 b1be33d5a047c00d4a426ddaa5c88596
function pulse.close(claims bigint[], tokens uuid[], positions integer[], endings text[], delays_ms bigint[], errors text[], took_us bigint[]) returns bigint
  plpgsql volatile set enable_bitmapscan=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 16ee98e742f2524b570a74d71c90441e
function pulse.close_held(claims bigint[], tokens uuid[], positions integer[], endings text[], delays_ms bigint[], errors text[], took_us bigint[], first bigint, last bigint, careful boolean) returns bigint
  plpgsql volatile set enable_nestloop=off set search_path=pg_catalog, pg_temp md5 94cb379c240a13144d43461f270e75a6
function pulse.counts(most integer DEFAULT 10000) returns TABLE(queue text, waiting bigint, running bigint, delayed bigint, retrying bigint, dead bigint, oldest_due timestamp with time zone, exact boolean)
  sql stable set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 3d9bbd6cb864e7b94b3a52ad21e9de2a
function pulse.cursor_of(queue text, priority smallint, lane smallint) returns pulse.claim
  plpgsql stable set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 c582394c601084e406fa11331cbb5aba
function pulse.cursors(wanted text) returns SETOF pulse.lane_cursor
  plpgsql stable set enable_bitmapscan=off set enable_seqscan=off set jit=off set plan_cache_mode=force_custom_plan set search_path=pg_catalog, pg_temp md5 1ebb95d3a93ab158c2401a67ed873637
function pulse.cut(most bigint) returns bigint
  sql volatile security definer set search_path=pg_catalog, pg_temp md5 31e9e154af151f856f847c4493f928a8
function pulse.delayed_queues(wanted text) returns SETOF text
  sql stable set enable_bitmapscan=off set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 982dd658d3bc29591f4b9e50d070cd18
function pulse.deliveries(id uuid) returns SETOF pulse.log
  plpgsql stable set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 72c73475b4a8f30f0259ddd6ba157115
function pulse.discover() returns integer
  plpgsql volatile set enable_bitmapscan=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 3c61afe80c676cc4e7f3e7244052e02b
function pulse.drop_partitions(keep interval, OUT dropped text[], OUT starved boolean) returns record
  plpgsql volatile security definer set lock_timeout=50ms set search_path=pg_catalog, pg_temp md5 17a3b8240abf3d221d95d37a783c5853
function pulse.empty_default(keep interval) returns boolean
  plpgsql volatile security definer set lock_timeout=50ms set search_path=pg_catalog, pg_temp md5 de3224c1e6af7821b1e74b9cd75b4226
function pulse.end_executor(executor bigint, why text, beats bigint DEFAULT NULL::bigint) returns boolean
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 028eba48c10c08e868c8feca67d1f2ff
function pulse.enqueue(kind text, args json DEFAULT '{}'::json, queue text DEFAULT 'default'::text, priority integer DEFAULT 0, run_at timestamp with time zone DEFAULT NULL::timestamp with time zone, key text DEFAULT NULL::text, key_for interval DEFAULT NULL::interval, tenant text DEFAULT NULL::text, project text DEFAULT NULL::text, max_attempts integer DEFAULT 25, options json DEFAULT NULL::json, trace text DEFAULT NULL::text, meta json DEFAULT NULL::json, id uuid DEFAULT NULL::uuid, schedule_id uuid DEFAULT NULL::uuid, occurrence timestamp with time zone DEFAULT NULL::timestamp with time zone) returns uuid
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 1360252e90291b8b39ddd9c9fc674375
function pulse.enqueue_many(ids uuid[], kinds text[], args text[], queues text[] DEFAULT '{default}'::text[], priorities smallint[] DEFAULT '{0}'::smallint[], rest json[] DEFAULT NULL::json[]) returns uuid[]
  plpgsql volatile security definer set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 c31b603f955c066449c15797f24d5c06
function pulse.enqueue_rest(ids uuid[], kinds text[], args text[], queues text[], priorities smallint[], rest json[]) returns uuid[]
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 23de3ad465b69e67d9bd00f1a0a9e3b5
function pulse.executors_standing(OUT id bigint, OUT runtime text, OUT beats bigint, OUT ended boolean) returns SETOF record
  sql stable set search_path=pg_catalog, pg_temp md5 57c46635b1a51dfed587de4d9f0c37b7
function pulse.extend(executors bigint[]) returns bigint[]
  sql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 56b39b0579a6e7aad4aa971ae798bf42
function pulse.fail(claims bigint[], tokens uuid[], positions integer[], errors text[], delays_ms bigint[] DEFAULT NULL::bigint[], took_us bigint[] DEFAULT NULL::bigint[]) returns bigint
  sql volatile set search_path=pg_catalog, pg_temp md5 ac4e3bae91341999ce2d65929fe79127
function pulse."fetch"(claim bigint, token uuid) returns text
  sql stable set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 b8b40aa58c97e58493c89c835bc53c56
function pulse.find(id uuid) returns SETOF pulse.log
  plpgsql stable set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 6b571b4b763b94f900a627a38f9b1e7f
function pulse.foreign_xids() returns TABLE(queue text, priority smallint, lane smallint, xid xid8)
  plpgsql volatile set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 feaec120beb187c9a46a60cc15c0ddc8
function pulse.free_keys(ids uuid[]) returns void
  sql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 faf2a5c8616a62e6aed54e61874b87c2
function pulse.get(id uuid) returns SETOF pulse.jobs
  plpgsql stable set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 e2fbb9dda5758c050231d1eaf84dbd50
function pulse.give_back(executor bigint, ending text, error text) returns bigint
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 b7db5b692e1e114d7d5cabceb769cddc
function pulse.give_back_claims(claims bigint[], tokens uuid[], ending text, error text) returns bigint
  sql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 1ba2f354f9c0a5fe0b7f0985ef37446c
function pulse.history(id uuid) returns TABLE(attempt smallint, claim bigint, claimed_at timestamp with time zone, executor bigint, runtime text, host text, ended_at timestamp with time zone, took_us bigint, ending text, error text)
  sql stable set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 37f3aecbe2bdc60be20b3ce1d8e036e1
function pulse.hold_key(tenant text, key text, id uuid, until timestamp with time zone) returns uuid
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 d9c8d81be4721a12d2f104958bc89bd9
function pulse.hold_lane(j pulse.log) returns void
  sql volatile set search_path=pg_catalog, pg_temp md5 bec0260d8963958a8c8c4e1ea69322c2
function pulse.is_decided(p pulse.partition) returns boolean
  plpgsql volatile security definer set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 c418abe908675aaffa147b57c471e2d6
function pulse.is_fresh(id uuid) returns boolean
  sql volatile parallel safe md5 8ea5cb9b8421042bf3bf0fd18ddbb527
function pulse.is_pending(j pulse.log) returns boolean
  plpgsql stable set search_path=pg_catalog, pg_temp md5 0e5161e3f67a71aff4d896bfdaa36c9e
function pulse.is_quiet(parked xid8) returns boolean
  sql volatile md5 763962b01cfc0191e2253e37a3f57c4e
function pulse.keep_ahead(period interval DEFAULT '1 day'::interval, least_width bigint DEFAULT 1000000, OUT added text[], OUT burnt bigint, OUT starved boolean) returns record
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 00d422681ea7dd3bb0b59f69a2a3cb74
function pulse.keep_results(claim bigint, hit bit varying, results json, at timestamp with time zone) returns void
  sql volatile set search_path=pg_catalog, pg_temp md5 8228baade61d9ddc093de228577f78f8
function pulse.lane_lock(queue text, priority smallint, lane smallint) returns integer
  sql immutable parallel safe md5 8d8eb5a76b0afc4d153119aa72796a81
function pulse.lane_of(queue text, tenant text) returns smallint
  sql stable md5 dac8361810c4d319830058d46caa220b
function pulse.lanes_with_work(queues text[], shares integer[], request bigint, low boolean) returns TABLE(queue text, priority smallint, lane smallint, siblings bigint)
  plpgsql stable set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 df477edc6df782966d17bb9bfaec9cda
function pulse.last_error(id uuid) returns text
  sql stable md5 3d68347e7dbc581b994f88cbd8f1308b
function pulse.list(status text DEFAULT NULL::text, queue text DEFAULT NULL::text, kind text DEFAULT NULL::text, tenant text DEFAULT NULL::text, most integer DEFAULT 50, after text DEFAULT NULL::text, reads integer DEFAULT 5000) returns SETOF pulse.listed
  plpgsql stable set search_path=pg_catalog, pg_temp md5 c7bba57933b70f902f11dd9251be984d
function pulse.list_all(queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_seqscan=off set jit=off set plan_cache_mode=force_custom_plan set search_path=pg_catalog, pg_temp md5 8fb45d13ec702c721645b046c0c38082
function pulse.list_completed(queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_hashagg=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 1f869b8833848a0e1b77e9a8a8aeda01
function pulse.list_delayed(queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 75e483bdb74cd11d277bd65f2f02569b
function pulse.list_delayed_retries(queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 c90145ea9ae88497885e8006ee044502
function pulse.list_ended(status text, queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_seqscan=off set jit=off set plan_cache_mode=force_custom_plan set search_path=pg_catalog, pg_temp md5 132b8d86dd868d782950fa67f5287b68
function pulse.list_pending(queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 b61e2fb74fb07fd0b8fae5c7da0f0cc2
function pulse.list_retrying(queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_custom_plan set search_path=pg_catalog, pg_temp md5 cead269c9ee57d0abf96dfb0559115f7
function pulse.list_running(queue text, kind text, tenant text, most integer, after text, reads integer) returns SETOF pulse.listed
  plpgsql stable set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 c4fa84f52bdd4a89be22b89c696e8429
function pulse.listed_of(j pulse.log, status text, started_at timestamp with time zone, finished_at timestamp with time zone, executor bigint, after text) returns pulse.listed
  sql stable md5 730c9792c8ed15091c02d9a2e826b1fd
function pulse.look(queues text[], executors bigint[] DEFAULT '{}'::bigint[], parked_x xid8 DEFAULT NULL::xid8, OUT moment timestamp with time zone, OUT drawn bigint, OUT paused boolean, OUT resting text[], OUT ready boolean, OUT new_lanes integer, OUT due_s double precision, OUT cancels json, OUT parked boolean, OUT quiet boolean) returns record
  plpgsql volatile set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 65ce5082f917da4a8a87a46627de6203
function pulse.mask_of(positions integer[], bits integer) returns bit varying
  plpgsql immutable set search_path=pg_catalog, pg_temp md5 4e8c6ff870b71e329b26ca6502f3f41d
function pulse.move(id uuid, queue text DEFAULT NULL::text, priority integer DEFAULT NULL::integer) returns boolean
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 5fb62fa8100e3a283bdbb1a85d452511
function pulse.namesakes(runtime text, OUT id bigint, OUT host text, OUT boot_id text, OUT pid integer, OUT pid_start text, OUT beats bigint) returns SETOF record
  sql stable set search_path=pg_catalog, pg_temp md5 ad205028bcb17c2670c47453e58a0d08
function pulse.note_partitions() returns void
  plpgsql volatile security definer set search_path=pg_catalog, pg_temp md5 06002923b337f980bae8190543fa5cad
function pulse.now() returns timestamp with time zone
  sql volatile parallel safe md5 94fc2f526401760006cf0a2bd7692e58
function pulse.oldest_due(queue text, priority smallint, lane smallint, x xid8, s bigint, floor_s bigint, late_x xid8[], late_s bigint[]) returns TABLE(due timestamp with time zone)
  sql stable md5 e7835aa3927d5650329e83d794ed558e
function pulse.park(queues text[]) returns xid8
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 f11a3a7bd902924f21c4bf907fbe3275
function pulse.partition_width(period interval, least_width bigint) returns bigint
  sql volatile security definer set search_path=pg_catalog, pg_temp md5 c3f768f97528c1c11428454199a19579
function pulse.pass_lane(queue text, priority smallint, lane smallint, executor bigint, request bigint, drawn bigint, slow interval) returns boolean
  plpgsql volatile set enable_bitmapscan=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 a9ca291845b1a3b99d1760c8f1ca6ef5
function pulse.pass_open(queues text[], executor bigint, request bigint, drawn bigint) returns void
  sql volatile set search_path=pg_catalog, pg_temp md5 863346a677b2a08371dd7b61131213b2
function pulse.pause(queue text, by text, reason text) returns boolean
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 7bf23e1b64003bab4247055ad6575816
function pulse.promote(most integer, OUT moved bigint, OUT next_s double precision) returns record
  plpgsql volatile set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 9dc17cf4c7d0099c31622b549e39c41d
function pulse.prune(keep interval, keep_failures interval, most integer DEFAULT 5000, OUT claims bigint, OUT places bigint, OUT failures bigint, OUT outcomes bigint, OUT results bigint, OUT keys bigint, OUT wishes bigint, OUT executors bigint) returns record
  plpgsql volatile security definer set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 96aa287287b2bfd0effd878bc709c5aa
function pulse.prune_lanes(keep interval) returns integer
  plpgsql volatile security definer set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 c6d19f9110a10b01988f84cd78d7415f
function pulse.queue_bit(queue text) returns bigint
  sql immutable parallel safe md5 a065e7cb2957ea74bb2f172c098572ba
function pulse.raise_floors() returns integer
  plpgsql volatile set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 934d4916a7ba8ccf0e2f38c05fc800ba
function pulse.ready(queue text, priority smallint, lane smallint, x xid8, s bigint, floor_s bigint, late_x xid8[], late_s bigint[], below_x xid8, below_s bigint, most integer) returns TABLE(xid xid8, seq bigint)
  sql stable md5 eabec690f4d5fa965418b6f9ca0d3ad9
function pulse.reap(executor bigint, beats bigint) returns bigint
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 10cafa481ddd91449d6e9ab2fd5c6a40
function pulse.rebase(OUT pending bigint, OUT running bigint, OUT completed bigint) returns record
  plpgsql volatile set lock_timeout=2s set search_path=pg_catalog, pg_temp md5 78c228ee8154cd2742640f3601fa414a
function pulse.refuse_isolation() returns void
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 657492d3dfa93adf8adaae43c94679eb
function pulse.refuse_transition(asked text, id uuid, status text) returns void
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 c8467e0987c87a394942529ca574f04f
function pulse.refuse_update() returns trigger
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 9128b33862a54c2657630543094b4a57
function pulse.register_executor(runtime text, host text, boot_id text, pid integer, pid_start text DEFAULT ''::text, kinds text[] DEFAULT NULL::text[]) returns bigint
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 9473bcd88ae20781f23f5e9d63110e17
function pulse.release(claims bigint[], tokens uuid[], positions integer[]) returns bigint
  sql volatile set search_path=pg_catalog, pg_temp md5 4ad90d9fec7e6b29b4ed88959e511458
function pulse.resume(queue text) returns boolean
  plpgsql volatile set search_path=pg_catalog, pg_temp md5 2f7fa421615da5a889bf8b9f0c65538e
function pulse.retry(id uuid) returns boolean
  plpgsql volatile set enable_seqscan=off set search_path=pg_catalog, pg_temp md5 0fbbd71584641509d4cf256404040909
function pulse.see_partitions() returns bigint
  sql volatile md5 fa52d7df79a7e5457dc9770c1302af90
function pulse.settle(claims bigint[], tokens uuid[], masks bit varying[], took_us integer[], results json DEFAULT NULL::json, follow_ups json DEFAULT NULL::json, OUT settled bigint, OUT stale bigint[]) returns record
  plpgsql volatile set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off set jit=off set plan_cache_mode=force_generic_plan set search_path=pg_catalog, pg_temp md5 f074e6ad298a2ea3f3b4f82c45e488a9
function pulse.size_of(args json, meta json) returns integer
  sql immutable parallel safe md5 3869c0e7ff801e703a5d07564067e08d
function pulse.snooze(claims bigint[], tokens uuid[], positions integer[], delays_ms bigint[]) returns bigint
  sql volatile set search_path=pg_catalog, pg_temp md5 f714d281595782a0855f8f103d0cce6e
function pulse.state_of(j pulse.log, OUT status text, OUT executor bigint, OUT started_at timestamp with time zone, OUT finished_at timestamp with time zone) returns record
  plpgsql stable set enable_seqscan=off set jit=off set search_path=pg_catalog, pg_temp md5 6bec4bc60c56577133d4c1d952bf21ac
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
  sql stable md5 67efcc59f576e50d3735c6bf8520f660
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
function pulse.backoff(json,integer): nobody but the owner
function pulse.bury(bigint,text,bigint[],uuid[],bit varying[],bigint[],uuid[],integer[],text[],text[],text): nobody but the owner
function pulse.cancel(uuid,text,text): nobody but the owner
function pulse.claim(bigint,bigint,text[],integer[],integer,integer): nobody but the owner
function pulse.claim_lane(bigint,bigint,text,smallint,smallint,integer,integer,bigint): nobody but the owner
function pulse.claim_of(pulse.log): nobody but the owner
function pulse.close(bigint[],uuid[],integer[],text[],bigint[],text[],bigint[]): nobody but the owner
function pulse.close_held(bigint[],uuid[],integer[],text[],bigint[],text[],bigint[],bigint,bigint,boolean): nobody but the owner
function pulse.counts(integer): nobody but the owner
function pulse.cursor_of(text,smallint,smallint): nobody but the owner
function pulse.cursors(text): nobody but the owner
function pulse.cut(bigint): nobody but the owner
function pulse.delayed_queues(text): nobody but the owner
function pulse.deliveries(uuid): nobody but the owner
function pulse.discover(): nobody but the owner
function pulse.drop_partitions(interval): nobody but the owner
function pulse.empty_default(interval): nobody but the owner
function pulse.end_executor(bigint,text,bigint): nobody but the owner
function pulse.enqueue(text,json,text,integer,timestamp with time zone,text,interval,text,text,integer,json,text,json,uuid,uuid,timestamp with time zone): nobody but the owner
function pulse.enqueue_many(uuid[],text[],text[],text[],smallint[],json[]): nobody but the owner
function pulse.enqueue_rest(uuid[],text[],text[],text[],smallint[],json[]): nobody but the owner
function pulse.executors_standing(): nobody but the owner
function pulse.extend(bigint[]): nobody but the owner
function pulse.fail(bigint[],uuid[],integer[],text[],bigint[],bigint[]): nobody but the owner
function pulse.find(uuid): nobody but the owner
function pulse.foreign_xids(): nobody but the owner
function pulse.free_keys(uuid[]): nobody but the owner
function pulse.get(uuid): nobody but the owner
function pulse.give_back(bigint,text,text): nobody but the owner
function pulse.give_back_claims(bigint[],uuid[],text,text): nobody but the owner
function pulse.history(uuid): nobody but the owner
function pulse.hold_key(text,text,uuid,timestamp with time zone): nobody but the owner
function pulse.hold_lane(pulse.log): nobody but the owner
function pulse.is_decided(pulse.partition): nobody but the owner
function pulse.is_fresh(uuid): nobody but the owner
function pulse.is_pending(pulse.log): nobody but the owner
function pulse.is_quiet(xid8): nobody but the owner
function pulse.keep_ahead(interval,bigint): nobody but the owner
function pulse.keep_results(bigint,bit varying,json,timestamp with time zone): nobody but the owner
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
function pulse.listed_of(pulse.log,text,timestamp with time zone,timestamp with time zone,bigint,text): nobody but the owner
function pulse.look(text[],bigint[],xid8): nobody but the owner
function pulse.mask_of(integer[],integer): nobody but the owner
function pulse.move(uuid,text,integer): nobody but the owner
function pulse.namesakes(text): nobody but the owner
function pulse.note_partitions(): nobody but the owner
function pulse.now(): nobody but the owner
function pulse.oldest_due(text,smallint,smallint,xid8,bigint,bigint,xid8[],bigint[]): nobody but the owner
function pulse.park(text[]): nobody but the owner
function pulse.partition_width(interval,bigint): nobody but the owner
function pulse.pass_lane(text,smallint,smallint,bigint,bigint,bigint,interval): nobody but the owner
function pulse.pass_open(text[],bigint,bigint,bigint): nobody but the owner
function pulse.pause(text,text,text): nobody but the owner
function pulse.promote(integer): nobody but the owner
function pulse.prune(interval,interval,integer): nobody but the owner
function pulse.prune_lanes(interval): nobody but the owner
function pulse.queue_bit(text): nobody but the owner
function pulse.raise_floors(): nobody but the owner
function pulse.ready(text,smallint,smallint,xid8,bigint,bigint,xid8[],bigint[],xid8,bigint,integer): nobody but the owner
function pulse.reap(bigint,bigint): nobody but the owner
function pulse.rebase(): nobody but the owner
function pulse.refuse_isolation(): nobody but the owner
function pulse.refuse_transition(text,uuid,text): nobody but the owner
function pulse.refuse_update(): nobody but the owner
function pulse.register_executor(text,text,text,integer,text,text[]): nobody but the owner
function pulse.release(bigint[],uuid[],integer[]): nobody but the owner
function pulse.resume(text): nobody but the owner
function pulse.retry(uuid): nobody but the owner
function pulse.see_partitions(): nobody but the owner
function pulse.settle(bigint[],uuid[],bit varying[],integer[],json,json): nobody but the owner
function pulse.size_of(json,json): nobody but the owner
function pulse.snooze(bigint[],uuid[],integer[],bigint[]): nobody but the owner
function pulse.state_of(pulse.log): nobody but the owner
function pulse.took_of(bit varying,bit varying,integer[]): nobody but the owner
function pulse.unheld(bigint[],bigint[]): nobody but the owner
function pulse.unpark(text[]): nobody but the owner
function pulse.uuid7(): nobody but the owner
function pulse.uuid7_at(uuid): nobody but the owner
function pulse.uuid7_from(timestamp with time zone): nobody but the owner
function pulse.wake(text): nobody but the owner
function pulse.wire(uuid,text,json,smallint,smallint,smallint,boolean,text,text,text,uuid,timestamp with time zone,json,text,json): nobody but the owner
function pulse.write_claim(pulse.claim,bigint,bigint,text,smallint,smallint,bigint,integer[]): nobody but the owner
schema pulse: nobody but the owner
sequence pulse.claim_id_seq: nobody but the owner
sequence pulse.executor_id_seq: nobody but the owner
sequence pulse.log_seq: nobody but the owner
sequence pulse.parked: nobody but the owner
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
table pulse.outcome: nobody but the owner
table pulse.partition: nobody but the owner
table pulse.place: nobody but the owner
table pulse.queue: nobody but the owner
table pulse.result: nobody but the owner
