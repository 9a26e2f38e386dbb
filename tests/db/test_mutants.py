"""The stress test is proved by breaking the shipped SQL: each patch is a mistake that was made or nearly made."""

# ruff: noqa: E501 (patches)

import os
from dataclasses import dataclass

import psycopg
import pytest
from stress_kit import problems_of

from pulse_sql import migrations


@dataclass(frozen=True)
class Mutant:
    """What is replaced by what. `mistake` says it in words."""

    mistake: str
    patches: tuple[tuple[str, str], ...]


MUTANTS = (
    Mutant(
        "no late list",
        (("i where i > k.x and i < last_x) l;", "i where false) l;"),),
    ),
    Mutant(
        "no lane lock",
        (
            ("if not pg_try_advisory_xact_lock(1886745441, pulse.lane_lock(r.queue, r.priority, r.lane)) then", "if false then"),
            ("  unique (queue, priority, lane, n) ", "  check (true) "),
            ("create index claim_cursor ", "create index claim_n on pulse.claim (queue, priority, lane, n); create index claim_cursor "),
        ),
    ),
    Mutant(
        "floor from the wrong horizon",
        (("k.next_x := pg_current_xact_id();", "k.next_x := pg_snapshot_xmax(pg_current_snapshot());"),),
    ),
    Mutant(
        "settle without the fence",
        (("a.mask & l.open as hit", "a.mask as hit"), ("left join pulse.lease l on l.claim = a.claim and l.token = a.token and", "left join (select c.id as claim, c.token, c.executor, coalesce(e.open, repeat('0', cardinality(c.ids))::bit varying) as open, e.tracked from pulse.claim c left join pulse.lease e on e.claim = c.id) l on l.claim = a.claim and")),
    ),
    Mutant(
        "an acknowledgment before the claim in one transaction: the xid drawn before the sequence is read",
        (("  drawn := coalesce(pg_sequence_last_value", "  perform pg_current_xact_id(); perform pg_sleep(0.002);\n  drawn := coalesce(pg_sequence_last_value"),),
    ),
)  # fmt: skip


@pytest.mark.mutants
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.mistake)
def test_the_stress_test_notices(empty_dsn: str, mutant: Mutant) -> None:
    missing = set(mutant.patches)
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        for migration in migrations():
            sql = migration.sql
            for patch in mutant.patches:
                if patch[0] in sql:
                    sql = sql.replace(*patch)
                    missing.discard(patch)
            connection.execute(sql.encode())
    assert not missing, f"the SQL has changed: {missing} no longer fits"
    assert problems_of(empty_dsn, seed=int(os.environ.get("PULSE_STRESS_SEED", "7")), seconds=8.0) != []
