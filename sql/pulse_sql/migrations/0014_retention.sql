-- Retention: partitions of the log made ahead of the sequence, and dropped when they are decided and old enough.
--
-- Maintenance is one process at a time, whoever gets its lock (key 1886745445). Partitions are made and dropped while nobody
-- else uses the log: it waits for that for 50 ms at most, because whoever comes after it waits behind it. An open transaction
-- that read or wrote the log keeps it from both (they are made two ahead); it is tried again, and `starved` says so.
--
-- Functions here run as the owner of the tables, who alone may make and drop them.

-- add_partition: attach a partition of `width` numbers after the last one.
--
-- sent by   keep_ahead
-- returns   its name; null if the lock was not to be had: try again
-- locks     log, exclusively, for as long as attaching takes; waits for it for 50 ms. ATTACH asks for less, and must not be
--           given less: a session that reads the list of partitions just then keeps the old one until the next change, does
--           not see the new partition's rows and puts its own into log_default, where nobody looks for them (Postgres 15 and
--           18; docs/decisions/0002). Nor may a transaction see rows of a partition that its plans do not know.
create function pulse.add_partition(width bigint) returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '50ms' as $$
declare
  top   bigint;
  lower bigint;
  made  text;
begin
  lock table only pulse.log in access exclusive mode;
  -- Numbers that are drawn have been written by now, those past the last partition to log_default.
  top := coalesce((select max(p.upper_seq) from pulse.partition p), 1);
  lower := greatest(top, coalesce(pg_sequence_last_value('pulse.log_seq'), 0) + 1);
  made := 'log_' || lower;
  execute format('create table pulse.%I (like pulse.log including all)', made);
  execute format('alter table pulse.%I set (autovacuum_vacuum_insert_threshold = -1)', made);   -- gone before it is worth it
  execute format('alter table pulse.log attach partition pulse.%I for values from (%s) to (%s)', made, lower, lower + width);
  if lower > top then
    insert into pulse.partition (lower_seq, upper_seq, name, opened_at)
      select top, lower, 'log_default', coalesce(max(p.opened_at), '-infinity') from pulse.partition p;
  end if;
  insert into pulse.partition (lower_seq, upper_seq, name, opened_at) values (lower, lower + width, made, pulse.now());
  return made;
exception when lock_not_available then
  return null;
end $$;

-- note_partitions: write down what the sequence says of each range: not begun, or all drawn.
create function pulse.note_partitions() returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  before constant timestamptz := pulse.now();
  first  constant boolean := pg_current_xact_id_if_assigned() is null;
  drawn  constant bigint := coalesce(pg_sequence_last_value('pulse.log_seq'), 0);
begin
  update pulse.partition p set opened_at = before
   where p.lower_seq > drawn and p.opened_at < before - interval '1 min';
  -- Every later xid than ours draws later numbers, because a row draws its xid before its number; but only if ours was drawn
  -- after the sequence was read.
  update pulse.partition p set closed_at = pulse.now(), closed_x = pg_current_xact_id()
   where first and p.closed_at is null and p.upper_seq <= drawn + 1;
end $$;

-- cut: burn numbers until the next partition begins, so that a slow log's partitions come to an end too.
--
-- takes     most: numbers at most, at about 3 million a second
-- returns   how many were burnt: 0 if there is no next partition
create function pulse.cut(most bigint) returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  select count(nextval('pulse.log_seq'))
    from (select p.upper_seq - 1 - s.drawn as left_
            from (select coalesce(pg_sequence_last_value('pulse.log_seq'), 0) as drawn) s, pulse.partition p
           where s.drawn >= p.lower_seq and s.drawn < p.upper_seq
             and exists (select from pulse.partition n where n.lower_seq = p.upper_seq)) now_,
         generate_series(1, least(now_.left_, most))
$$;

-- partition_width: how many numbers the next partition should have, to last for `period` at the rate of the last one; ten
-- times the last one's at most, as one burst is not a rate. A range that nobody saw begin tells no rate (and Postgres 15 to 16
-- cannot subtract infinity).
create function pulse.partition_width(period interval, least_width bigint) returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  select greatest(least_width, least(100000000, coalesce(max(
           (p.upper_seq - p.lower_seq)
             * least(10, extract(epoch from period) / greatest(extract(epoch from p.closed_at - p.opened_at), 0.001)))::bigint, 0)))
    from (select * from pulse.partition q where q.closed_at is not null and isfinite(q.opened_at) order by q.lower_seq desc limit 1) p
$$;

-- keep_ahead: a round of maintenance: see which partitions are done, make the next ones, end one that lasts too long.
--
-- sent by   reporter, once a minute, and when partitions run out
-- takes     period: how long a partition should last; least_width: its size at least
-- returns   the partitions made, how many numbers were burnt, and whether a lock was not to be had
create function pulse.keep_ahead(period interval default '1 day', least_width bigint default 1000000,
                                 out added text[], out burnt bigint, out starved boolean)
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  width constant bigint := pulse.partition_width(period, least_width);
  made  text;
begin
  added := '{}';
  burnt := 0;
  starved := false;
  if not pg_try_advisory_xact_lock(1886745445, 0) then return; end if;
  perform pulse.note_partitions();
  -- First, because adding keeps everybody from the log until commit.
  if exists (select from pulse.partition p, pg_sequence_last_value('pulse.log_seq') drawn
              where drawn >= p.lower_seq and drawn < p.upper_seq and p.opened_at < pulse.now() - period) then
    burnt := pulse.cut(1000000);                  -- noted as closed in the next round
  end if;
  while not starved and cardinality(added) < 4
        and coalesce((select max(p.upper_seq) from pulse.partition p), 0) < coalesce(pg_sequence_last_value('pulse.log_seq'), 0) + 2 * width loop
    made := pulse.add_partition(width);
    starved := made is null;
    added := array_remove(added || made, null);
  end loop;
end $$;

-- raise_floors: move the floors of lanes that were idle for so long that they lie below a partition that is closed: an empty
-- poll opens every partition above them. The cursor passes what is open now, as in pass_open; the floor follows at the second
-- call, like that of a lane that is claimed from.
--
-- sent by   reporter, after keep_ahead, in a transaction of its own: its first write, or it is refused
-- returns   how many lanes
-- locks     each of those lanes until commit; busy ones are left alone
create function pulse.raise_floors() returns integer
  language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  drawn bigint;
  goal  bigint;
  r     record;
  moved integer := 0;
begin
  if pg_current_xact_id_if_assigned() is not null or current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'raise_floors must be the first write of a READ COMMITTED transaction' using errcode = 'active_sql_transaction';
  end if;
  drawn := coalesce(pg_sequence_last_value('pulse.log_seq'), 0);         -- before our xid is drawn: as in claim
  goal := (select max(p.upper_seq) - 1 from pulse.partition p where p.closed_at is not null);
  for r in
    select l.queue, l.priority, l.lane from pulse.lane l
      cross join lateral (
        select c.floor_s, c.next_s from pulse.claim c
         where c.queue = l.queue and c.priority = l.priority and c.lane = l.lane order by c.n desc limit 1) k
     where k.floor_s < goal
  loop
    moved := moved + pulse.pass_lane(r.queue, r.priority, r.lane, 0, 0, drawn, interval '0')::integer;
  end loop;
  return moved;
end $$;

-- is_decided: is every job in this range of the log claimed, and none of them leased or waiting to be claimed again? Final once all transactions that could
-- write into the range have ended.
--
-- index     log_lane of that partition, two or three probes per lane; the lane's newest ledger row
create function pulse.is_decided(p pulse.partition) returns boolean
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  waits boolean;
begin
  if p.closed_x is null or pg_snapshot_xmin(pg_current_snapshot()) <= p.closed_x then return false; end if;
  -- One statement, one snapshot: rows and cursors belong together.
  execute format($q$
    with recursive lanes as (
      (select j.lane_id as id, j.queue, j.priority, j.lane from pulse.%1$I j order by 1 limit 1)
      union all
      select n.* from lanes l, lateral (
        select j.lane_id, j.queue, j.priority, j.lane from pulse.%1$I j
         where j.lane_id > l.id order by 1 limit 1) n)
    select exists (
      select from lanes l
        left join lateral (
          select c.x, c.s, c.late_x, c.late_s from pulse.claim c
           where c.queue = l.queue and c.priority = l.priority and c.lane = l.lane order by c.n desc limit 1) k on true
       where exists (
               select from pulse.%1$I j
                where j.lane_id = pulse.lane_id(l.queue, l.priority, l.lane)
                  and j.queue = l.queue and j.priority = l.priority and j.lane = l.lane
                  and (j.xid, j.seq) > (coalesce(k.x, '0'), coalesce(k.s, 0)))
          or exists (
               select from unnest(k.late_x, k.late_s) o(x, s), pulse.%1$I j
                where j.lane_id = pulse.lane_id(l.queue, l.priority, l.lane)
                  and j.queue = l.queue and j.priority = l.priority and j.lane = l.lane and j.xid = o.x and j.seq > o.s))
  $q$, p.name) into waits;
  -- Leases afterwards: what was pending is leased before it is decided. In one statement with those that wait to be claimed from the
  -- log once more: they go to and fro between the two.
  return not waits and not exists (
    select from pulse.lease l join pulse.claim c on c.id = l.claim, unnest(c.seqs) with ordinality u(seq, ord)
     where u.seq >= p.lower_seq and u.seq < p.upper_seq and get_bit(l.open, u.ord::integer - 1) = 1
    union all
    select from pulse.retrying t, unnest(t.seqs[t.taken + 1 :]) u(seq) where u.seq >= p.lower_seq and u.seq < p.upper_seq);
end $$;

-- drop_partitions: drop what is decided and was closed longer than `keep` ago.
--
-- sent by   reporter, for the watchdog, every few minutes
-- returns   the partitions dropped (log_default is emptied, not dropped), and whether one had to stay because its locks were
--           not to be had: an open transaction uses the log
-- locks     log, exclusively, for as long as dropping takes; waits for it for 50 ms
create function pulse.drop_partitions(keep interval, out dropped text[], out starved boolean)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '50ms' as $$
declare
  p pulse.partition;
begin
  dropped := '{}';
  starved := false;
  if not pg_try_advisory_xact_lock(1886745445, 0) then return; end if;
  for p in
    select q.* from pulse.partition q where q.closed_at < pulse.now() - keep and q.name <> 'log_default' order by q.lower_seq limit 20
  loop
    continue when not pulse.is_decided(p);
    begin
      lock table only pulse.log in access exclusive mode;
      execute format('lock table pulse.log_default, pulse.%I in access exclusive mode nowait', p.name);
      -- Again, now that nobody can write: a writer that drew its xid after ours had may have committed while we waited.
      continue when not pulse.is_decided(p);
      execute format('drop table pulse.%I', p.name);
      delete from pulse.partition q where q.lower_seq = p.lower_seq;
      dropped := dropped || p.name;
    exception when lock_not_available then
      starved := true;
      exit;
    end;
  end loop;
  if pulse.empty_default(keep) then
    dropped := dropped || 'log_default'::text;
  end if;
end $$;

-- empty_default: the same for the ranges that fell to log_default, all at once.
create function pulse.empty_default(keep interval) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '50ms' as $$
declare
  whole pulse.partition;
begin
  -- From the lowest to the highest number it can hold; null if one of its ranges is not closed or too young.
  select 0, max(p.upper_seq), 'log_default', null, null, max(p.closed_x) into whole
    from pulse.partition p where p.name = 'log_default'
  having bool_and(coalesce(p.closed_at < pulse.now() - keep, false));
  if whole.name is null or not pulse.is_decided(whole) then return false; end if;
  lock table pulse.log_default in access exclusive mode;
  -- Again, now that nobody can write: numbers may have run past the last partition just now.
  if pg_sequence_last_value('pulse.log_seq') >= (select max(p.upper_seq) from pulse.partition p) or not pulse.is_decided(whole) then
    return false;
  end if;
  truncate pulse.log_default;
  delete from pulse.partition p where p.name = 'log_default';
  return true;
exception when lock_not_available then
  return false;
end $$;

-- prune_failures: delete failed attempts that are older than that, those of one report that waited together with the first of them.
--
-- sent by   prune, whose settings its plans need
-- returns   how many went; never less than `most` while there are more
-- index     failure_at, failure_id
create function pulse.prune_failures(failed timestamptz, most integer) returns bigint
  language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  total bigint;
begin
  with old as materialized (
    select g.ctid as place, g.at, g.together from (
      select f.ctid, f.at, f.together, sum(f.size) over (order by f.at, f.id) - f.size as before
        from (select x.ctid, coalesce(cardinality(x.together), 1) as size, x.id, x.at, x.together from pulse.failure x
               where (x.retrying is null or x.together is not null) and x.at < failed order by x.at, x.id limit most) f) g
     where g.before < most),
  those as materialized (
    select f.ctid as place from (select o.at, unnest(o.together) as id from old o) m join pulse.failure f on f.id = m.id and f.at = m.at),
  gone as (
    delete from pulse.failure f where f.ctid = any (array(select o.place from old o union select t.place from those t)) returning 1)
  select count(*) into total from gone;
  return total;
end $$;

-- prune: delete what is older than it should be kept, and what belonged to jobs that are no longer in the log.
--
-- sent by   reporter, for the watchdog, again until it deletes less than `most` of everything
-- takes     keep: claims, successes, results; keep_failures: dead letters, cancellations, failed attempts, ended executors
-- returns   how many rows went, by table
-- index     claim_at, place_seq, failure_at, outcome_at, result_at, key_until
create function pulse.prune(keep interval, keep_failures interval, most integer default 5000,
                            out claims bigint, out places bigint, out failures bigint, out outcomes bigint, out results bigint,
                            out keys bigint, out wishes bigint, out executors bigint)
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  old    constant timestamptz := pulse.now() - keep;
  oldest constant bigint := coalesce((select min(p.lower_seq) from pulse.partition p), 0);   -- in the log; what is below was dropped
  failed constant timestamptz := pulse.now() - keep_failures;
begin
  claims := 0; places := 0; failures := 0; outcomes := 0; results := 0; keys := 0; wishes := 0; executors := 0;
  if not pg_try_advisory_xact_lock(1886745445, 0) then return; end if;
  -- A claim is needed as long as one of its jobs is in the log, and as its lane's cursor.
  with gone as (
    select c.id from pulse.claim c
     where c.at < old
       and not exists (select from unnest(c.seqs) q where q >= oldest)
       and exists (select from pulse.claim d where d.queue = c.queue and d.priority = c.priority and d.lane = c.lane and d.n > c.n)
       and not exists (select from pulse.lease l where l.claim = c.id)
     order by c.at limit most),
  done as (delete from pulse.done d using gone where d.claim = gone.id)
  delete from pulse.claim c using gone where c.id = gone.id;
  get diagnostics claims = row_count;
  delete from pulse.place p where (p.id, p.seq) in (select q.id, q.seq from pulse.place q where q.seq < oldest order by q.seq limit most);
  get diagnostics places = row_count;
  failures := pulse.prune_failures(failed, most);
  delete from pulse.outcome o where o.id = any (array(select p.id from pulse.outcome p where p.at < failed order by p.at, p.id limit most));
  get diagnostics outcomes = row_count;
  delete from pulse.result r where r.id = any (array(select q.id from pulse.result q where q.at < old order by q.at limit most));
  get diagnostics results = row_count;
  delete from pulse.progress r where r.id = any (array(select q.id from pulse.progress q where q.at < old order by q.at limit most));
  delete from pulse.key k where (k.tenant, k.key) in (select j.tenant, j.key from pulse.key j where j.until < pulse.now() limit most) and k.until < pulse.now();
  get diagnostics keys = row_count;
  -- A wish for a job that was settled all the same.
  delete from pulse.cancel_request r where r.at < pulse.now() - interval '1 hour'
     and not exists (select from pulse.lease l where l.claim = r.claim and get_bit(l.open, r.pos) = 1);
  get diagnostics wishes = row_count;
  delete from pulse.executor e where e.id = any (array(select x.id from pulse.executor x where x.ended_at < failed limit most))
     and not exists (select from pulse.lease l where l.executor = e.id);
  get diagnostics executors = row_count;
end $$;

-- prune_lanes: forget lanes that nobody has used for `keep` and of which nothing is left in the log.
--
-- returns   how many
-- locks     each of those lanes until commit
create function pulse.prune_lanes(keep interval) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  r    record;
  gone integer := 0;
begin
  -- Nor may discovery run meanwhile: it would see a lane that is about to go, and step over a row that came just now.
  if not pg_try_advisory_xact_lock(1886745442, 0) then return 0; end if;
  for r in
    select l.queue, l.priority, l.lane from pulse.lane l
     where (select c.at from pulse.claim c where c.queue = l.queue and c.priority = l.priority and c.lane = l.lane order by c.n desc limit 1)
           < pulse.now() - keep
     limit 1000
  loop
    -- Under the lane's lock there is no claim under way. With no row of it left to decide again, its cursor may go; rows that
    -- are yet to come lie beyond discovery's floor.
    continue when not pg_try_advisory_xact_lock(1886745441, pulse.lane_lock(r.queue, r.priority, r.lane));
    continue when exists (select from pulse.log j where j.lane_id = pulse.lane_id(r.queue, r.priority, r.lane)
      and j.queue = r.queue and j.priority = r.priority and j.lane = r.lane);
    delete from pulse.done d using pulse.claim c
     where d.claim = c.id and c.queue = r.queue and c.priority = r.priority and c.lane = r.lane;
    delete from pulse.claim c where c.queue = r.queue and c.priority = r.priority and c.lane = r.lane;
    delete from pulse.lane l where l.queue = r.queue and l.priority = r.priority and l.lane = r.lane;
    gone := gone + 1;
  end loop;
  return gone;
end $$;

-- The first ones.
do $$ begin perform pulse.keep_ahead(); end $$;
