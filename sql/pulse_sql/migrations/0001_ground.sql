-- The ground: a schema of our own, the record of what was applied to it, and the clock.

create schema if not exists pulse;

create table pulse.migration (
  number     integer     primary key,
  name       text        not null unique,
  checksum   text        not null,
  applied_at timestamptz not null default clock_timestamp(),
  applied_by text        not null default session_user
);
comment on table pulse.migration is 'What was applied, in order. Written by `pulse-runtime db migrate`.';

-- now: the time, for every statement of Pulse. The test kit replaces this function; nothing else may.
--
-- returns   the clock's time, which goes on inside a transaction (a lease must not look younger because
--           its transaction began early)
--
-- Functions with a `return` body, like this one, are bound to what they name when they are made: no search_path can
-- mislead them, and they are inlined. All others set theirs.
create function pulse.now() returns timestamptz
  language sql volatile parallel safe
  return clock_timestamp();
