"""The schema snapshot says what the migrations make, and says the same everywhere."""

from collections.abc import Iterator
from contextlib import closing

import pytest

import pulse_sql
from pulse_runtime.store.connect import Connection, connect
from pulse_runtime.store.snapshot import COMMAND, render

# One of each kind that a migration might make.
SAMPLES = (
    "create type pulse.mood as enum ('fine', 'it''s not')",
    "create type pulse.pair as (a int, b text)",
    "create domain pulse.small as int not null check (value < 9)",
    "create sequence pulse.loose as int increment 2 cycle",
    """create table pulse.part (id bigint generated always as identity, d int default 1,
         e int generated always as (2) stored) partition by range (id)""",
    "create unlogged table pulse.leaf (like pulse.part) with (fillfactor=70, autovacuum_enabled=off)",
    "create table pulse.one partition of pulse.part (primary key (id)) for values from (1) to (5)",
    "create index sample on pulse.one (d desc) include (e) where d > 1",
    "create view pulse.seen as select p.id, p.d + 1 as more from pulse.one p where p.d is not null",
    """create function pulse.twice(x int, y text default 'z') returns setof int language sql stable strict rows 7
         security definer set search_path = '' as 'select x'""",
    "create function pulse.body(x int) returns int language sql begin atomic select max(o.d) + x from pulse.one o; end",
    "create function pulse.fired() returns trigger language plpgsql as 'begin return new; end'",
    "create procedure pulse.act() language sql as 'select 1'",
    "create trigger fires before insert on pulse.one for each row execute function pulse.fired()",
    "create policy own on pulse.one using (d > 0)",
    "create statistics pulse.both on d, e from pulse.one",
    "revoke execute on function pulse.twice from public",
    "grant select, insert on pulse.one to public",
    "comment on table pulse.one is 'said'",
)


@pytest.fixture
def connection(dsn: str) -> Iterator[Connection]:
    with closing(connect(dsn, actor="test")) as connection:
        yield connection


def test_the_file_is_what_the_migrations_make(connection: Connection) -> None:
    assert render(connection) == pulse_sql.snapshot(), f"sql/pulse_sql/schema.sql is stale: run `{COMMAND}`"


@pytest.mark.parametrize("number", range(len(SAMPLES)))
def test_every_kind_of_change_is_seen(connection: Connection, number: int) -> None:
    for statement in SAMPLES[:number]:
        connection.execute(statement.encode())
    before = render(connection)
    connection.execute(SAMPLES[number].encode())
    assert render(connection) != before


def test_a_change_inside_a_function_is_seen(connection: Connection) -> None:
    before = render(connection)
    connection.execute("create or replace function pulse.now() returns timestamptz language sql volatile parallel safe"
                       " set search_path = '' return pg_catalog.now()")  # fmt: skip
    assert render(connection) != before


def test_who_asks_and_with_which_path_makes_no_difference(connection: Connection, dsn: str) -> None:
    with closing(connect(f"{dsn} options='-c search_path=public'", actor="test")) as other:
        assert render(other) == render(connection)
