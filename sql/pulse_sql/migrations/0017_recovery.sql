-- Recovery: what becomes of the jobs of an executor that died, and of claims that nobody holds.

-- bury: an executor is dead. What its black box says was finished is settled, what ran ends as decided, the rest goes back.
-- One transaction: it is buried, or it is not. Again is fine: every part is fenced by the leases.
--
-- sent by   reporter, after the last report of that executor; and at boot, for executors of this runtime's last life
-- takes     claims, tokens, masks: as for settle; then for each delivery that ended otherwise: its claim, token, position,
--           ending and error, as for close; rest: how what is left ends, 'release' (it never started) or 'lost' (who knows)
-- returns   how many were settled, ended and given back
-- locks     the executor and its leases until commit
create function pulse.bury(
  executor bigint, why text, claims bigint[], tokens uuid[], masks bit varying[],
  ended_claims bigint[], ended_tokens uuid[], positions integer[], endings text[], errors text[], rest text,
  out settled bigint, out ended bigint, out given_back bigint)
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pulse.end_executor(bury.executor, why);
  settled := (select s.settled from pulse.settle(claims, tokens, masks,
    array_fill(0, array[coalesce((select sum(bit_count(m)) from unnest(masks) m), 0)::integer])) s);
  ended := pulse.close(ended_claims, ended_tokens, positions, endings,
    array_fill(null::bigint, array[cardinality(ended_claims)]), errors, array_fill(null::bigint, array[cardinality(ended_claims)]));
  given_back := pulse.give_back(bury.executor, rest, why);
end $$;

-- unheld: claims that are leased to these executors although they do not hold them: a delivery that was lost, or is on its way.
--
-- sent by   reporter, with every beat; a claim that is told so beat after beat is given back
-- takes     held: the claims that they believe to hold
create function pulse.unheld(executors bigint[], held bigint[], out claim bigint, out token uuid) returns setof record
  language sql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
  select l.claim, l.token from pulse.lease l where l.executor = any (executors) and l.claim <> all (held)
$$;

-- give_back_claims: end all open deliveries of these claims with one ending.
--
-- returns   how many
create function pulse.give_back_claims(claims bigint[], tokens uuid[], ending text, error text) returns bigint
  language sql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
  select pulse.close(coalesce(array_agg(l.claim), '{}'), coalesce(array_agg(l.token), '{}'), coalesce(array_agg(p), '{}'),
                     coalesce(array_agg(give_back_claims.ending), '{}'), coalesce(array_agg(null::bigint), '{}'),
                     coalesce(array_agg(give_back_claims.error), '{}'), coalesce(array_agg(null::bigint), '{}'))
    from unnest(claims, tokens) a(claim, token)
    join pulse.lease l on l.claim = a.claim and l.token = a.token, generate_series(0, length(l.open) - 1) p
   where get_bit(l.open, p) = 1
$$;

-- namesakes: the executors of a runtime's name that have not ended.
create function pulse.namesakes(runtime text, out id bigint, out host text, out boot_id text, out pid integer, out pid_start text, out beats bigint)
  returns setof record language sql stable set search_path = pg_catalog, pg_temp as $$
  select e.id, e.host, e.boot_id, e.pid, e.pid_start, e.beats from pulse.executor e where e.runtime = namesakes.runtime and e.ended_at is null
$$;
