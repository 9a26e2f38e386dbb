"""The baseline's side of the store's rows: one table with a status column, as well tuned as we know how."""

from collections.abc import Sequence

from benchmarks.store.cluster import BASELINE, Connection
from benchmarks.store.pulse import ARGS, BATCH, args_array, array

LOAD = "insert into baseline.job (kind, args) select 'mail', %s::json from generate_series(1, %s)"
ENQUEUE = "insert into baseline.job (kind, args) select 'mail', args from unnest(%s::json[]) args"
# Arguments as text: decoding them is the executor's business on both sides.
CLAIM = """
update baseline.job set status = 'running', claimed_by = %s, claimed_at = now() where id = any (array(
  select id from baseline.job where queue = 'default' and status = 'pending'
   order by priority desc, id limit 500 for update skip locked)) returning id, kind, args::text, attempt, max_attempts
"""
# coalesce, or else the planner adds the entries of job_running, dead ones included, to those of the primary key.
SETTLE = """
update baseline.job set status = 'done', finished_at = now()
 where id = any (%s::bigint[]) and coalesce(status, '') = 'running'
"""


def described() -> str:
    """All of its SQL, for the details of a row."""
    return "\n".join([BASELINE.read_text(encoding="utf-8"), LOAD, ENQUEUE, CLAIM, SETTLE])


def load(connection: Connection, jobs: int) -> None:
    connection.execute(LOAD, (ARGS, jobs))
    connection.execute("vacuum analyze baseline.job")


def enqueue(connection: Connection) -> None:
    """A batch by one statement over arrays."""
    connection.execute(ENQUEUE, (args_array(BATCH),))


def claim(connection: Connection, claimer: int) -> list[int]:
    """The ids of the batch; its rows came with it."""
    return [row[0] for row in connection.execute(CLAIM, (claimer,)).fetchall()]


def settle(connection: Connection, ids: Sequence[int]) -> None:
    connection.execute(SETTLE, (array([str(each) for each in ids]),))
