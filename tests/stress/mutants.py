"""Mistakes that were made or nearly made, each as a patch to the shipped SQL, and what each must be noticed by."""

# ruff: noqa: E501 (patches)

from dataclasses import dataclass

import psycopg
from stress.record import BEYOND, BLANK, FENCE, LOST, REFUSED, STATES, TWICE

from pulse_sql import migrations


@dataclass(frozen=True)
class Mutant:
    """What is replaced by what. `mistake` says it in words; every finding must be of one of the kinds `noticed_as`."""

    mistake: str
    noticed_as: tuple[str, ...]
    patches: tuple[tuple[str, str], ...]


def install(dsn: str, mutant: Mutant) -> None:
    """Apply the migrations with the mistake in them, to an empty database."""
    missing = set(mutant.patches)
    with psycopg.connect(dsn, autocommit=True) as connection:
        for migration in migrations():
            sql = migration.sql
            for patch in mutant.patches:
                if patch[0] in sql:
                    sql = sql.replace(*patch)
                    missing.discard(patch)
            connection.execute(sql.encode())
    assert not missing, f"the SQL has changed: {missing} no longer fits"


CONTROL = Mutant("no mistake", (), ())

MUTANTS = (
    Mutant(
        "no late list",
        (LOST,),
        (("i where i > k.x and i < last_x) l;", "i where false) l;"),),
    ),
    Mutant(
        "late transactions that end while a claim takes the usual way are taken for read",
        (LOST,),
        (
            ("    general := pulse.any_visible(k.late_x, pg_current_snapshot());", "    general := pulse.any_visible(k.late_x, pg_current_snapshot());\n    perform pg_sleep(0.005);"),
            ("general := coalesce(general, false) or pulse.any_visible(k.late_x, snap);", "null;"),
        ),
    ),
    Mutant(
        "no lane lock",
        (TWICE, STATES, BLANK, REFUSED),  # the last three, because it also keeps cancels and moves from claims
        (
            ("if not pg_try_advisory_xact_lock(1886745441, pulse.lane_lock(r.queue, r.priority, r.lane)) then", "if false then"),
            ("  unique (queue, priority, lane, n) ", "  check (true) "),
            ("create index claim_cursor ", "create index claim_n on pulse.claim (queue, priority, lane, n); create index claim_cursor "),
        ),
    ),
    Mutant(
        "floor from the wrong horizon: the snapshot's xmax taken for the next xid",
        (LOST,),
        (("k.next_x := pg_current_xact_id();", "k.next_x := pg_snapshot_xmax(pg_current_snapshot());"),),
    ),
    Mutant(
        "settle without the fence",
        (FENCE, STATES),
        (
            ("a.mask & l.open as hit", "a.mask as hit"),
            ("left join pulse.lease l on l.claim = a.claim and l.token = a.token and", "left join (select c.id as claim, c.token, c.executor, coalesce(e.open, repeat('0', cardinality(c.ids))::bit varying) as open, e.tracked from pulse.claim c left join pulse.lease e on e.claim = c.id) l on l.claim = a.claim and"),
        ),
    ),
    Mutant(
        "reap from a stale snapshot: the leases listed before it has waited for the executor's last claim",
        (BEYOND, FENCE),
        (
            ("  language plpgsql set search_path = pg_catalog, pg_temp as $$\nbegin\n  if not pulse.end_executor(", "  language plpgsql set search_path = pg_catalog, pg_temp as $$\ndeclare\n  listed constant bigint[] := array(select l.claim from pulse.lease l where l.executor = reap.executor);\nbegin\n  if not pulse.end_executor("),
            ("return pulse.give_back(executor, 'lost', 'the executor''s lease lapsed');", "return pulse.give_back(executor, 'lost', 'the executor''s lease lapsed', listed);"),
            ("create function pulse.give_back(executor bigint, ending text, error text)", "create function pulse.give_back(executor bigint, ending text, error text, listed bigint[] default null)"),
            ("from pulse.lease e where e.executor = give_back.executor order by", "from pulse.lease e where e.executor = give_back.executor and (listed is null or e.claim = any (listed)) order by"),
        ),
    ),
    Mutant(
        "rows and snapshot read in two statements",
        (LOST,),
        (("  cut := found_n = slots or", "  snap := pg_current_snapshot();\n  cut := found_n = slots or"),),
    ),
    Mutant(
        "an acknowledgment before the claim in one transaction: the xid drawn before the sequence is read",
        (LOST,),
        (("  drawn := coalesce(pg_sequence_last_value", "  perform pg_current_xact_id(); perform pg_sleep(0.002);\n  drawn := coalesce(pg_sequence_last_value"),),
    ),
    Mutant(
        # nextval writes last + 32 into the page, logs it, and puts the right value back, all under the page's lock. Without
        # the lock that value is seen, but only for microseconds, which no run of seconds meets. Here it is seen for as
        # long as the next nextval is going to log (log_cnt = 0), and not only while it does.
        "the sequence read without its lock, while nextval logs 32 numbers ahead",
        (LOST,),
        (("  drawn := coalesce(pg_sequence_last_value('pulse.log_seq'), 0);\n  perform pg_adv", "  drawn := (select s.last_value + case when s.log_cnt = 0 then 32 else 0 end from pulse.log_seq s);\n  perform pg_adv"),),
    ),
    Mutant(
        "cancel and move without the lane's lock",
        (STATES, BLANK, REFUSED),
        (("  select pg_advisory_xact_lock(1886745441, pulse.lane_lock(j.queue, j.priority, j.lane))\n", "  select null::void\n"),),
    ),
    Mutant(
        "an idle lane's cursor moved to the next xid, past transactions that its snapshot does not know",
        (LOST, TWICE, STATES),  # the last, because one of the two may fail
        (("k.x := greatest((pg_snapshot_xmax(snap)::text::numeric - 1)::text::xid8, k.x);", "perform pg_sleep(0.005);\n  k.x := greatest(pg_current_xact_id(), k.x);"),),
    ),
    Mutant(
        "a partition dropped although a job in it is pending or late",
        (LOST,),
        (("  return not waits and not exists (", "  return not exists ("),),
    ),
    Mutant(
        "a partition dropped although a job in it is leased",
        (BLANK, REFUSED),
        (("u.seq < p.upper_seq and get_bit(l.open, u.ord::integer - 1) = 1\n", "u.seq < p.upper_seq and false\n"),),
    ),
    Mutant(
        "a partition dropped although a job in it waits to be claimed once more",
        (BLANK, REFUSED),
        (("unnest(t.seqs[t.taken + 1 :]) u(seq) where u.seq >= p.lower_seq and u.seq < p.upper_seq);", "unnest(t.seqs[t.taken + 1 :]) u(seq) where false);"),),
    ),
    Mutant(
        "those that waited together claimed, and left where they waited",
        (TWICE, STATES),
        (
            ("      delete from pulse.retrying r where r.id = t.id;\n", "      null;\n"),
            ("create unique index claim_retrying", "create index claim_retrying"),
            ("  unique (queue, priority, lane, n) ", "  check (true) "),
            ("create index claim_cursor ", "create index claim_n on pulse.claim (queue, priority, lane, n); create index claim_cursor "),
        ),
    ),
)  # fmt: skip
