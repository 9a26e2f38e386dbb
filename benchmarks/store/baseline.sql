-- The baseline of the store's rows: a well-tuned status table. Partial indexes, SKIP LOCKED, batches, prepared statements.
create schema baseline;
create table baseline.job (
  id           bigint generated always as identity primary key,
  queue        text        not null default 'default',
  priority     smallint    not null default 0,
  status       text        not null default 'pending',
  kind         text        not null,
  args         json        not null default '{}',
  attempt      smallint    not null default 1,
  max_attempts smallint    not null default 25,
  run_at       timestamptz not null default now(),
  claimed_by   bigint,
  claimed_at   timestamptz,
  finished_at  timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
create index job_ready on baseline.job (queue, priority desc, id) where status = 'pending';
create index job_running on baseline.job (claimed_by) where status = 'running';
