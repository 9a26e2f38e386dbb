-- The ledger: one row per claimed batch. The newest row of a lane IS the lane's cursor.

-- The holders of leases: one row per incarnation of an executor. A living one is extended by raising `beats`; lapse is
-- observed by whoever sees `beats` stand still for a lease time, never computed from clocks.
create table pulse.executor (
  id         bigint generated always as identity primary key,
  runtime    text        not null,
  host       text        not null,
  boot_id    text        not null,
  pid        integer     not null,
  pid_start  text        not null default '',
  kinds      text[],
  started_at timestamptz not null,
  beats      bigint      not null default 0,
  beat_at    timestamptz not null,
  ended_at   timestamptz,
  ended_why  text
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
create index executor_alive on pulse.executor (runtime, id) where ended_at is null;

create table pulse.claim (
  id       bigint      generated always as identity primary key,
  token    uuid        not null,                -- ids are reused after failover to a lagging standby; tokens are not
  executor bigint      not null,
  request  bigint      not null,                -- asked again, the same request gets the same batch
  at       timestamptz not null,
  queue    text        not null,
  priority smallint    not null,
  lane     smallint    not null,
  n        bigint      not null,
  x        xid8        not null,                -- cursor after this claim: everything up to (x, s) is decided …
  s        bigint      not null,
  late_x   xid8[]      not null,                -- … except what these transactions, open at the time, wrote
  late_s   bigint[]    not null,                --   beyond these numbers
  floor_s  bigint      not null,                -- every undecided row with xid > x has a number above this one
  next_x   xid8        not null,                -- the next floor: once the cursor has passed next_x, it is next_s
  next_s   bigint      not null,
  low_x    xid8,                                -- oldest transaction in a batch that holds late rows
  ids      uuid[]      not null,
  seqs     bigint[]    not null,
  retrying bigint,                              -- the row of pulse.retrying that these jobs were taken from, behind the first s of it.
  attempt  smallint,                            --   Such a claim is beside the lane's order (n is negative, x is 0), and its attempt
  charged  smallint,                            --   and charged are not those that the log says
  unique (queue, priority, lane, n)             -- two claims can never follow the same predecessor
);
-- Random bytes, and numbers that cost more to compress than to write: a fifth of a claim's time.
alter table pulse.claim alter column ids set storage external, alter column seqs set storage external;
alter table pulse.claim set (toast_tuple_target = 8160);
create index claim_cursor  on pulse.claim (queue, priority, lane, x, s);
create index claim_late    on pulse.claim (queue, priority, lane, n, low_x) where low_x is not null;
create index claim_request on pulse.claim (executor, request);
create index claim_at      on pulse.claim (at);
create unique index claim_retrying on pulse.claim (retrying, s) where retrying is not null;    -- nor can two claims take the same part

-- One row per live batch. Bit i is job ids[i + 1], not settled yet; a missing row or bit is the fence.
create table pulse.lease (
  claim    bigint    primary key,
  token    uuid      not null,
  executor bigint    not null,
  open     bit varying not null,
  tracked  integer[]                            -- positions of jobs with a key or a schedule
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index lease_executor on pulse.lease (executor);

-- Successes: one row per settled batch, and how long each of its jobs ran, in the order of the bits.
create table pulse.done (
  claim   bigint      not null,
  at      timestamptz not null,
  mask    bit varying not null,
  took_us integer[]   not null
);
create index done_claim on pulse.done (claim);
create index done_at on pulse.done (at);
