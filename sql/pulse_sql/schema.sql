-- What the migrations make, read from the catalogues. Not to be applied: see migrations/.
-- Written by `make snapshot`; a test fails when it is stale. A function is given by the md5 of its body.

-- tables and views

table pulse.migration (
  number integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default clock_timestamp(),
  applied_by text not null default SESSION_USER,
  constraint migration_name_key UNIQUE (name),
  constraint migration_pkey PRIMARY KEY (number)
) -- What was applied, in order. Written by `pulse-runtime db migrate`.


-- functions

function pulse.now() returns timestamp with time zone
  sql volatile parallel safe md5 94fc2f526401760006cf0a2bd7692e58
