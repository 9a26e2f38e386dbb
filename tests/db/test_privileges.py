"""Who may do what, and that no function can be misled by a search_path."""

from typing import Any

import psycopg
import pytest
from fix_cluster import Connection

from pulse_sql import grants


@pytest.fixture
def granted(connection: Connection) -> Connection:
    """A database with the roles, which belong to the whole cluster and are left alone if they exist."""
    connection.execute(grants().encode())
    connection.execute(grants().encode())
    return connection


def become(connection: Connection, role: str) -> None:
    connection.execute(f"set role {role}".encode())


def ask(connection: Connection, question: str) -> Any:
    row = connection.execute(question.encode()).fetchone()
    return row and row[0]


def test_a_producer_can_enqueue(granted: Connection) -> None:
    become(granted, "pulse_producer")
    assert ask(granted, "select pulse.enqueue(kind => 'k', key => 'x', tenant => 't')")
    one = "array[gen_random_uuid()], '{k}', '{\"{}\"}', '{q}', '{0}', array['{\"tenant\": \"t\"}'::json]"
    assert ask(granted, f"select pulse.enqueue_many({one})")


@pytest.mark.parametrize(
    "statement",
    [
        "select * from pulse.log", "select * from pulse.jobs", "select pulse.get(gen_random_uuid())",
        "insert into pulse.log (submitted_at, id, kind, lane_id) values (now(), gen_random_uuid(), 'k', 1)",
        "select pulse.cancel(gen_random_uuid())", "select pulse.claim(1, 1, '{q}', '{1}', 1)",
        "select pulse.reap(1, 0)",
        "delete from pulse.key", "select nextval('pulse.log_seq')", "select setval('pulse.parked', 1)",
        "create table pulse.mine ()", "select pulse.pause(null, 'me', 'why')",
        "select pulse.hold_key('', 'x', gen_random_uuid(), null)",
    ],
)  # fmt: skip
def test_a_producer_can_do_nothing_else(granted: Connection, statement: str) -> None:
    become(granted, "pulse_producer")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        granted.execute(statement.encode())


def test_a_producer_has_no_privilege_but_to_enqueue(granted: Connection) -> None:
    """Whatever is added to the schema: asked of the catalogue."""
    functions = granted.execute(
        "select proname from pg_proc where pronamespace = 'pulse'::regnamespace"
        " and has_function_privilege('pulse_producer', oid, 'execute')"
    ).fetchall()
    assert sorted(functions) == [("enqueue",), ("enqueue_many",), ("enqueue_plain",)]
    relations = granted.execute(
        "select relname from pg_class where relnamespace = 'pulse'::regnamespace and case relkind"
        " when 'S' then has_sequence_privilege('pulse_producer', oid, 'usage, select, update')"
        " when 'r' then has_any_column_privilege('pulse_producer', oid, 'select, insert, update, references')"
        "   or has_table_privilege('pulse_producer', oid, 'delete, truncate, trigger')"
        " when 'p' then has_any_column_privilege('pulse_producer', oid, 'select, insert, update, references')"
        "   or has_table_privilege('pulse_producer', oid, 'delete, truncate, trigger')"
        " when 'v' then has_any_column_privilege('pulse_producer', oid, 'select, insert, update, references') end"
    ).fetchall()
    assert relations == []
    assert ask(granted, "select has_schema_privilege('pulse_producer', 'pulse', 'create')") is False


def test_an_admin_copies_jobs_into_the_log_but_not_their_order(granted: Connection) -> None:
    become(granted, "pulse_admin")
    with granted.cursor() as cursor:
        with cursor.copy("copy pulse.log (submitted_at, id, lane_id, kind) from stdin") as copy:
            copy.write_row(("2026-01-01T00:00:00Z", "00000000-0000-0000-0000-000000000001", 1, "k"))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            cursor.execute("copy pulse.log (seq, submitted_at, id, kind) from stdin")
    assert ask(granted, "select pulse.pause('default', 'me', 'why')") is True


@pytest.mark.parametrize("statement", ["select * from pulse.log", "select pulse.enqueue(kind => 'k')"])
def test_a_role_without_a_grant_may_nothing(granted: Connection, statement: str) -> None:
    become(granted, "pg_monitor")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        granted.execute(statement.encode())


def test_a_viewer_reads_and_writes_nothing(granted: Connection) -> None:
    job = ask(granted, "select pulse.enqueue(kind => 'k')")
    become(granted, "pulse_viewer")
    assert ask(granted, "select status from pulse.jobs") == "PENDING"
    assert ask(granted, f"select status from pulse.get('{job}')") == "PENDING"
    for statement in ("select pulse.enqueue(kind => 'k')", "delete from pulse.log", f"select pulse.cancel('{job}')"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            granted.execute(statement.encode())


def test_a_runtime_can_run_jobs_but_not_write_their_order(granted: Connection) -> None:
    become(granted, "pulse_runtime")
    ask(granted, "select pulse.enqueue(kind => 'k', key => 'x')")
    executor = ask(granted, "select pulse.register_executor('r', 'h', 'b', 1)")
    ask(granted, "select pulse.discover()")
    row = granted.execute(
        f"select claim, token from pulse.claim({executor}, 1, '{{default}}', '{{1}}', 1)".encode()
    ).fetchone()
    assert row
    assert ask(granted, f"select pulse.fail('{{{row[0]}}}', '{{{row[1]}}}', '{{0}}', '{{oops}}')") == 1
    ask(granted, "select pulse.park('{default}')")
    ask(granted, "select pulse.promote(10)")
    ask(granted, f"select pulse.reap({executor}, 0)")
    for column, value in (("xid", "'1'"), ("seq", "1")):
        insert = f"insert into pulse.log ({column}, submitted_at, id, lane_id, kind)"
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            granted.execute(f"{insert} values ({value}, now(), gen_random_uuid(), 1, 'k')".encode())


def test_public_may_nothing_and_every_function_has_a_fixed_search_path(connection: Connection) -> None:
    open_ = "select p.oid::regproc::text from pg_proc p where p.pronamespace = 'pulse'::regnamespace and "
    public = f"{open_} has_function_privilege('public', p.oid, 'execute')"
    assert connection.execute(public.encode()).fetchall() == []
    loose = (
        f"{open_} p.prosqlbody is null and not coalesce(array_to_string(p.proconfig, ',') like '%search_path=%', false)"
    )
    assert connection.execute(loose.encode()).fetchall() == []
