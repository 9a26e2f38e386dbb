"""The database's side of a history, read in one snapshot."""

from collections import Counter
from typing import Any

import psycopg
from checker.history import Database, Delivery, Failure, Job, Slot

Connection = psycopg.Connection[Any]

JOBS = "select id::text, status, attempt, charged from pulse.jobs where id <> all (%s::uuid[])"
# A delivery whose partition was dropped has no attempt any more; the checker is for histories without retention.
DELIVERIES = """
select c.id, u.ord::integer - 1, c.executor, u.id::text, u.seq, coalesce(c.attempt, j.attempt)
  from pulse.claim c, unnest(c.ids, c.seqs) with ordinality u(id, seq, ord)
  join pulse.log j on j.seq = u.seq and j.id = u.id
"""
BITS = """
select b.claim, p from pulse.{table} b, generate_series(0, length(b.{bits}) - 1) p where get_bit(b.{bits}, p) = 1
"""
FAILURES = "select id::text, attempt, charged, ending, claim from pulse.failure"


def read_database(dsn: str) -> Database:
    """A connection of its own, so that it sees what is committed and nothing else."""
    with psycopg.connect(dsn) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        deliveries = tuple(Delivery(*row) for row in _rows(connection, DELIVERIES))
        done = _slots(connection, table="done", bits="mask")
        return Database(
            jobs=_jobs(connection, deliveries, done),
            deliveries=deliveries,
            open=_slots(connection, table="lease", bits="open"),
            done=done,
            failures=tuple(Failure(*row) for row in _rows(connection, FAILURES)),
        )


def _jobs(connection: Connection, deliveries: tuple[Delivery, ...], done: tuple[Slot, ...]) -> tuple[Job, ...]:
    """pulse.jobs breaks off at a delivery that was settled twice, so those are left to the checker."""
    times = Counter(done)
    twice = {each.id: each for each in deliveries if times[each.slot] > 1}
    found = [Job(*row) for row in _rows(connection, JOBS, list(twice))]
    return (*found, *(Job(job, "SETTLED TWICE", each.attempt, 0) for job, each in twice.items()))


def _slots(connection: Connection, *, table: str, bits: str) -> tuple[Slot, ...]:
    return tuple((claim, pos) for claim, pos in _rows(connection, BITS.format(table=table, bits=bits)))


def _rows(connection: Connection, question: str, *values: object) -> list[Any]:
    return connection.execute(question.encode(), values or None).fetchall()
