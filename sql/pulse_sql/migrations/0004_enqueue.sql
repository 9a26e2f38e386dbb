-- The public door: any language enqueues by calling pulse.enqueue or pulse.enqueue_many in its own transaction.

-- uuid7: a UUIDv7 where the server has none of its own (Postgres 15–17).
create function pulse.uuid7() returns uuid language sql volatile parallel safe
  return encode(
    set_byte(
      set_byte(
        overlay(uuid_send(gen_random_uuid()) placing
          substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
        6, 112 | (get_byte(uuid_send(gen_random_uuid()), 6) & 15)),
      8, 128 | (get_byte(uuid_send(gen_random_uuid()), 8) & 63)),
    'hex')::uuid;

-- uuid7_at: the moment a UUIDv7 was made; null for other versions.
create function pulse.uuid7_at(id uuid) returns timestamptz language sql immutable strict parallel safe
  return case when substr(id::text, 15, 1) = '7'
              then to_timestamp(('x' || substr(id::text, 1, 8) || substr(id::text, 10, 4))::bit(48)::bigint / 1000.0) end;

-- is_fresh: was a UUIDv7 made within five minutes of now? Then its partition of the log can be told from it. (Of other ids a few may
-- pass by chance: they are looked for in all partitions.) Asked by every enqueue: what it is compiled from costs 4 µs more where
-- the server cannot read a UUIDv7 itself.
do $$ begin
  if current_setting('server_version_num')::integer >= 170000 then
    create function pulse.is_fresh(id uuid) returns boolean language sql volatile parallel safe
      return uuid_extract_timestamp(id) between clock_timestamp() - interval '5 min' and clock_timestamp() + interval '5 min';
  else
    create function pulse.is_fresh(id uuid) returns boolean language sql volatile parallel safe
      return abs(date_part('epoch', clock_timestamp()) * 16000 - ('x' || translate(left(id::text, 15), '-', ''))::bit(52)::bigint) < 4800000;
  end if;
end $$;
comment on function pulse.is_fresh is 'Differs between versions of Postgres.';

-- is_dated: is it a UUIDv7? Costs an enqueue 1 µs less than is_fresh. One that is dated falsely, by a clock that is wrong, is looked
-- for in all partitions.
do $$ begin
  if current_setting('server_version_num')::integer >= 170000 then
    create function pulse.is_dated(id uuid) returns boolean language sql immutable parallel safe
      return uuid_extract_version(id) = 7;
  else
    create function pulse.is_dated(id uuid) returns boolean language sql immutable parallel safe
      return get_byte(uuid_send(id), 6) >> 4 = 7;
  end if;
end $$;
comment on function pulse.is_dated is 'Differs between versions of Postgres.';

-- uuid7_from: the lowest UUIDv7 of a moment.
create function pulse.uuid7_from(moment timestamptz) returns uuid language sql immutable parallel safe
  return (lpad(to_hex((date_part('epoch', moment) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;

-- queue_bit: a queue's bit in pulse.parked. Queues may share one: the price is a needless wake-up.
create function pulse.queue_bit(queue text) returns bigint language sql immutable parallel safe
  return 1::bigint << ((hashtext(queue) & 2147483647) % 62);

-- lane_of: the lane number of a tenant's jobs in a queue: 0 unless the queue is fair (pulse.queue.lanes > 1).
create function pulse.lane_of(queue text, tenant text) returns smallint language sql stable
  return coalesce((select ((hashtext(tenant) & 2147483647) % q.lanes)::smallint
                     from pulse.queue q where q.name = queue and tenant is not null), 0);

-- wake: tell parked claimers that a queue has work. Called after the insert, never before: whoever asked before we wrote
-- had our transaction in its list of open ones.
--
-- sends     NOTIFY pulse with the queue's name; nothing at all unless someone is parked for it
create function pulse.wake(queue text) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if pg_sequence_last_value('pulse.parked') & pulse.queue_bit(queue) <> 0 then
    perform pg_notify('pulse', queue);
  end if;
end $$;

-- hold_key: take a key for a job.
--
-- sent by   enqueue, enqueue_many
-- returns   null: it is ours from now on; else the id of the job that has it, which is our own if this is a repeated call
-- locks     the key until commit: a second producer waits for the first to commit or roll back
create function pulse.hold_key(tenant text, key text, id uuid, until timestamptz) returns uuid
  language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  holder uuid;
begin
  loop
    insert into pulse.key as k (tenant, key, id, until)
      values (coalesce(hold_key.tenant, ''), hold_key.key, hold_key.id, hold_key.until)
      on conflict on constraint key_pkey do update set id = excluded.id, until = excluded.until
        where k.until <= pulse.now()
      returning k.id into holder;
    if found then return null; end if;
    select k.id into holder from pulse.key k where k.tenant = coalesce(hold_key.tenant, '') and k.key = hold_key.key;
    if found then return holder; end if;          -- else it was freed between the two: ours to take
  end loop;
end $$;

-- enqueue: add one job in the caller's transaction.
--
-- sent by   producers, in any language
-- takes     run_at: not before this; key: unique while the job is unfinished, or for key_for; id: a UUIDv7, best made by
--           the producer, who can then repeat the call after a lost reply without adding a second job if it gives a key
-- returns   the job's id; with a key that is taken, the id of the job that has it, and nothing is added
-- locks     nothing but the key
create function pulse.enqueue(
  kind text, args json default '{}', queue text default 'default', priority integer default 0,
  run_at timestamptz default null, key text default null, key_for interval default null,
  tenant text default null, project text default null, max_attempts integer default 25,
  options json default null, trace text default null, meta json default null, id uuid default null,
  schedule_id uuid default null, occurrence timestamptz default null
) returns uuid language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  started timestamptz;
  lane    smallint;
  fresh   boolean;
  number  bigint;
  holder  uuid;
begin
  started := pulse.now();
  fresh := id is null or coalesce(pulse.is_fresh(id), false);
  if id is null then
    id := pulse.uuid7();
  end if;
  lane := case when tenant is null then 0 else pulse.lane_of(queue, tenant) end;
  if key is not null then
    holder := pulse.hold_key(tenant, key, id, started + key_for);
    if holder is not null then
      return holder;
    end if;
  end if;
  if run_at > started then
    insert into pulse.delayed (id, run_at, submitted_at, priority, lane, attempt, charged, max_attempts, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      values (enqueue.id, enqueue.run_at, started, enqueue.priority, lane, 1, 0, enqueue.max_attempts, enqueue.queue, enqueue.kind, enqueue.args, enqueue.tenant, enqueue.project, enqueue.key, enqueue.schedule_id, enqueue.occurrence, enqueue.options, enqueue.trace, enqueue.meta);
    if run_at > started + interval '500 ms' then return id; end if;     -- polling finds it in time
  else
    insert into pulse.log (submitted_at, id, lane_id, priority, lane, max_attempts, queue, kind, args, tenant, project, key, schedule_id, occurrence, options, trace, meta)
      values (started, enqueue.id, pulse.lane_id(enqueue.queue, enqueue.priority::smallint, lane), enqueue.priority, lane, enqueue.max_attempts::pulse.attempts_budget,
              enqueue.queue::pulse.queue_name, enqueue.kind::pulse.kind_name, enqueue.args::pulse.args_json,
              enqueue.tenant::pulse.tenant_name, enqueue.project::pulse.project_name, enqueue.key::pulse.key_text, enqueue.schedule_id, enqueue.occurrence,
              enqueue.options::pulse.options_json, enqueue.trace::pulse.trace_text, enqueue.meta::pulse.meta_json)
      returning seq into number;
    if not fresh then
      insert into pulse.place (id, seq) values (enqueue.id, number);
    end if;
  end if;
  if pg_sequence_last_value('pulse.parked') <> 0 then
    perform pulse.wake(queue);
  end if;
  return id;
end $$;

-- enqueue_plain: the same for the usual job: its id is a UUIDv7 made by the producer, and it has none of the rare things.
--
-- sent by   producers in Python, for most jobs
-- returns   the job's id
-- locks     nothing
--
-- Whatever a function computes is compiled anew in each transaction (about 0.3 µs a call in an expression, 1 µs a domain, and every
-- argument that is asked about), so as little as possible is: a job that is far from every bound is not held against them.
create function pulse.enqueue_plain(kind text, args json, queue text, id uuid) returns uuid
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if pulse.is_dated(id) and queue > '' and kind > '' and octet_length(queue || kind) < 100 and pg_column_size(args) < 16384 then
    insert into pulse.log (submitted_at, id, lane_id, queue, kind, args)
      values (pulse.now(), enqueue_plain.id, pulse.lane_id(enqueue_plain.queue, 0::smallint, 0::smallint), enqueue_plain.queue, enqueue_plain.kind, enqueue_plain.args);
    if pg_sequence_last_value('pulse.parked') <> 0 then
      perform pulse.wake(queue);
    end if;
    return id;
  end if;
  return pulse.enqueue(kind => kind, args => args, queue => queue, id => id);
end $$;

-- enqueue_many: add many jobs in the caller's transaction by one call.
--
-- sent by   producers
-- takes     ids and args, of one length; kinds, queues, priorities: as many, or one for all; rest: null, or as many, each null
--           or an object with what is rare: run_at or delay_s, key, key_for_s, tenant, project, max_attempts, options, trace, meta,
--           schedule_id, occurrence
-- returns   the ids in the same order; where a key is taken, the id of the job that has it
-- locks     the keys, in their order, so that two calls cannot deadlock
create function pulse.enqueue_many(
  ids uuid[], kinds text[], args text[], queues text[] default '{default}', priorities smallint[] default '{0}', rest json[] default null)
  returns uuid[] language plpgsql security definer
  set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  started constant timestamptz := pulse.now();
  size    constant integer := cardinality(ids);
  oldest  constant uuid := pulse.uuid7_from(started - interval '5 min');
  newest  constant uuid := pulse.uuid7_from(started + interval '5 min');
  same_kind     constant text := case when cardinality(kinds) = 1 then kinds[1] end;            -- the one for all
  same_queue    constant text := case when cardinality(queues) = 1 then queues[1] end;
  same_priority constant smallint := case when cardinality(priorities) = 1 then priorities[1] end;
  same_lane     constant bigint := pulse.lane_id(same_queue, same_priority, 0::smallint);       -- null where they differ
  q       text;
begin
  if cardinality(args) <> size or coalesce(cardinality(rest), size) <> size or cardinality(kinds) not in (1, size)
     or cardinality(queues) not in (1, size) or cardinality(priorities) not in (1, size) then
    raise exception 'enqueue_many needs arrays of one length' using errcode = 'invalid_parameter_value';
  end if;
  if array_remove(rest::text[], null) <> '{}' then
    ids := pulse.enqueue_rest(ids, kinds, args, queues, priorities, rest);
  else
    rest := null;
  end if;
  if rest is null and not exists (select from unnest(ids) i where i not between oldest and newest) then
    -- Functions that return sets stand in the list of columns: in FROM each would be written to a store of its own first (a tenth
    -- of this call).
    insert into pulse.log (submitted_at, id, lane_id, priority, queue, kind, args)
      select started, j.id, coalesce(same_lane, pulse.lane_id(coalesce(j.queue, same_queue), coalesce(j.priority, same_priority), 0::smallint)),
             coalesce(j.priority, same_priority), coalesce(j.queue, same_queue)::pulse.queue_name, coalesce(j.kind, same_kind)::pulse.kind_name, j.args::json::pulse.args_json
        from (select unnest(ids) as id, unnest(kinds) as kind, unnest(args) as args, unnest(queues) as queue, unnest(priorities) as priority) j;
  else
    with added as (
      insert into pulse.log (submitted_at, id, lane_id, priority, queue, kind, args)
        select started, j.id, coalesce(same_lane, pulse.lane_id(coalesce(j.queue, same_queue), coalesce(j.priority, same_priority), 0::smallint)),
               coalesce(j.priority, same_priority), coalesce(j.queue, same_queue)::pulse.queue_name, coalesce(j.kind, same_kind)::pulse.kind_name, j.args::json::pulse.args_json
          from unnest(ids, kinds, args, queues, priorities, rest::text[]) j(id, kind, args, queue, priority, rest)
         where j.rest is null
        returning id, seq)
    insert into pulse.place (id, seq) select a.id, a.seq from added a where a.id not between oldest and newest;
  end if;
  if pg_sequence_last_value('pulse.parked') <> 0 then
    for q in select distinct u from unnest(queues) u loop
      perform pulse.wake(q);
    end loop;
  end if;
  return ids;
end $$;

-- enqueue_rest: the jobs of enqueue_many that have anything rare.
--
-- returns   the ids, with those of the holders where a key was taken
create function pulse.enqueue_rest(ids uuid[], kinds text[], args text[], queues text[], priorities smallint[], rest json[])
  returns uuid[] language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  holder uuid;
  r      record;
begin
  for r in
    select j.ord, j.id, coalesce(j.kind, kinds[1]) as kind, j.args::json as args, coalesce(j.queue, queues[1]) as queue,
           coalesce(j.priority, priorities[1]) as priority, o.*
      from unnest(ids, kinds, args, queues, priorities, rest) with ordinality j(id, kind, args, queue, priority, rest, ord),
           json_to_record(j.rest) o(run_at timestamptz, delay_s float8, key text, key_for_s float8, tenant text, project text, max_attempts smallint,
                                    options json, trace text, meta json, schedule_id uuid, occurrence timestamptz)
     where j.rest is not null
     order by o.tenant, o.key, j.ord
  loop
    holder := pulse.enqueue(r.kind, r.args, r.queue, r.priority, coalesce(r.run_at, pulse.now() + r.delay_s * interval '1 s'), r.key, r.key_for_s * interval '1 s', r.tenant, r.project,
                            coalesce(r.max_attempts, 25), r.options, r.trace, r.meta, r.id, r.schedule_id, r.occurrence);
    ids[r.ord] := holder;
  end loop;
  return ids;
end $$;
