"""Rules that every function of the schema follows."""

import re

from fix_cluster import Connection

from pulse_sql import migrations

# They make or read UUIDv7 ids, which carry the time of a machine, or measure how long something took.
MADE = re.compile(r"((?:^--.*\n)*)^create function pulse\.(\w+)", re.MULTILINE)
OTHER_CLOCKS = {"now", "uuid7", "is_fresh", "claim", "pass_lane"}
CLOCKS = r"(?<!pulse\.)\m(now|(clock|statement|transaction)_timestamp|timeofday)\(|\mcurrent_timestamp\M"


def test_every_function_has_a_header() -> None:
    made = [found for migration in migrations() for found in MADE.findall(migration.sql)]
    assert len(made) > 50
    assert [name for header, name in made if not re.search(rf"^-- {name}: ", header, re.MULTILINE)] == []


def test_time_comes_from_one_function(connection: Connection) -> None:
    functions = (
        "select proname from pg_proc where pronamespace = 'pulse'::regnamespace and pg_get_functiondef(oid) ~* %s"
    )
    assert {name for (name,) in connection.execute(functions.encode(), (CLOCKS,))} <= OTHER_CLOCKS
    defaults = (
        "select c.relname from pg_attrdef join pg_class c on c.oid = adrelid"
        " where c.relnamespace = 'pulse'::regnamespace and pg_get_expr(adbin, adrelid) ~* %s"
    )
    assert connection.execute(defaults.encode(), (CLOCKS,)).fetchall() == [("migration",)]
