"""Traps 1, 3, 4 and 9 of the design: how rows get their numbers, and when a claim may read them."""

import psycopg
import pytest
from fix_cluster import Connect, Connection
from store_kit import Store

COLUMNS = """
  select c.relname, x.attnum < s.attnum from pg_class c
    join pg_attribute x on x.attrelid = c.oid and x.attname = 'xid' join pg_attribute s on s.attrelid = c.oid and s.attname = 'seq'
   where c.oid = 'pulse.log'::regclass or c.oid in (select inhrelid from pg_inherits where inhparent = 'pulse.log'::regclass)
"""  # noqa: E501
INSERTS = """
  select p.proname, regexp_split_to_array(m[1], ',\\s*') from pg_proc p,
         regexp_matches(p.prosrc, 'insert\\s+into\\s+pulse\\.log\\s*\\(([^)]*)\\)', 'g') m
   where p.pronamespace = 'pulse'::regnamespace
"""


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


def test_a_row_draws_its_xid_before_its_number(store: Store) -> None:
    """Trap 1: defaults are drawn in the order of the columns, in every partition."""
    found = dict(store.connection.execute(COLUMNS.encode()).fetchall())
    assert len(found) > 2
    assert all(found.values())


def test_no_function_names_the_columns_that_a_row_draws_itself(store: Store) -> None:
    """Trap 1: `(seq, xid) values (default, default), …` draws them the wrong way round."""
    found = dict(store.connection.execute(INSERTS.encode()).fetchall())
    assert {"enqueue", "enqueue_many", "promote", "close_rest", "retry", "move"} <= found.keys()
    assert {name for name, columns in found.items() if {"xid", "seq"} & set(columns)} <= {"rebase"}


def test_numbers_are_not_drawn_ahead_by_a_session(store: Store) -> None:
    """Trap 1: CACHE 1."""
    assert store.ask("select seqcache from pg_sequence where seqrelid = 'pulse.log_seq'::regclass") == 1


def test_a_partition_cannot_be_updated_either(store: Store) -> None:
    """Trap 1: and not by its owner."""
    store.enqueue()
    (name,) = store.connection.execute("select tableoid::regclass::text from pulse.log").fetchall()[0]
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="append-only"):
        store.connection.execute(f"update {name} set xid = '7'".encode())


@pytest.mark.parametrize("level", [psycopg.IsolationLevel.REPEATABLE_READ, psycopg.IsolationLevel.SERIALIZABLE])
@pytest.mark.parametrize(
    "statement",
    [
        "select pulse.claim(1, 1, '{default}', '{1}', 1)",
        "select pulse.settle('{}', '{}', '{}', '{}')",
        "select pulse.fail('{}', '{}', '{}', '{}')",
        "select pulse.release('{}', '{}', '{}')",
        "select pulse.end_executor(1, 'x')",
        "select pulse.reap(1, 0)",
        "select pulse.cancel(pulse.uuid7())",
        "select pulse.retry(pulse.uuid7())",
        "select pulse.move(pulse.uuid7(), 'x')",
        "select pulse.snooze('{}', '{}', '{}', '{}')",
        "select pulse.close('{}', '{}', '{}', '{}', '{}', '{}', '{}')",
        "select pulse.give_back_claims('{}', '{}', 'release', null)",
        "select pulse.bury(1, 'x', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', 'lost')",
        "select pulse.raise_floors()",
        "select pulse.rebase()",
    ],
)
def test_what_must_see_the_present_refuses_a_snapshot_of_the_past(
    connect: Connect, statement: str, level: psycopg.IsolationLevel
) -> None:
    """Trap 3."""
    connection = connect(autocommit=False)
    connection.isolation_level = level
    with pytest.raises(psycopg.errors.ActiveSqlTransaction):
        connection.execute(statement.encode())


def test_a_claim_pipelined_behind_a_write_is_refused(store: Store) -> None:
    """Trap 3: pipelined statements without a sync are one transaction."""

    def write_and_claim() -> None:
        with store.connection.pipeline():
            store.connection.execute("select pulse.enqueue(kind => 'k')")
            store.connection.execute("select pulse.claim(%s, 1, '{default}', '{1}', 1)", (store.executor,))

    with pytest.raises(psycopg.errors.ActiveSqlTransaction):
        write_and_claim()


def test_floors_are_not_raised_behind_a_write_in_one_transaction(store: Store) -> None:
    """Trap 3: they are won as in a claim, so the xid must be drawn after the sequence was read."""
    store.connection.execute("begin")
    store.enqueue()
    with pytest.raises(psycopg.errors.ActiveSqlTransaction):
        store.ask("select pulse.raise_floors()")


def test_a_claim_over_several_lanes_reads_the_sequence_once_before_it_draws_its_xid(store: Store) -> None:
    """Trap 3: a second reading would come after the draw, and its number would be too high for that xid."""
    for priority in (1, 2, 3):
        store.enqueue(priority=priority)
    assert len(store.claim()) == 3
    horizons = store.connection.execute("select distinct next_s, next_x = xmin::text::xid8 from pulse.claim").fetchall()
    assert horizons == [(3, True)]


def test_a_claim_that_is_rolled_back_leaves_its_jobs_to_the_next(store: Store, connect: Connect) -> None:
    """Trap 4: whoever was told of them before the commit would have run them twice."""
    store.enqueue()
    other = Store(connect())
    with other.connection.transaction(force_rollback=True):
        other.connection.execute("select * from pulse.claim(%s, 1, '{default}', '{1}', 1)", (other.executor,))
    assert [len(batch.jobs) for batch in store.claim()] == [1]


def test_a_job_has_one_id_and_a_row_for_each_delivery(store: Store) -> None:
    """Trap 9."""
    job = store.enqueue()
    for _ in range(3):
        store.close(store.claim()[0], "fail")
    assert store.ask("select count(*) from pulse.log where id = %s", job) == 4
    assert store.ask("select count(*) from pulse.jobs") == 1
    assert store.status(job) == "RETRYING"


def test_keys_are_found_by_their_tenant_first(store: Store) -> None:
    """Trap 9: so that one tenant's keys lie together and are nobody else's."""
    definition = store.ask("select pg_get_indexdef('pulse.key_pkey'::regclass)")
    assert definition.endswith("(tenant, key)")
