"""The two statements of producers.

Arrays are sent as text: 10,000 jobs cost the client 190 ms of CPU as lists of psycopg, and 90 ms so.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec

from pulse_runtime.job_spec import Checked, rare_of
from pulse_runtime.store.statement import Statement
from pulse_runtime.store.text import array, numbers, texts

_ONE = {
    "id": "id => cast(cast({id} as text) as uuid)",
    "kind": "kind => cast({kind} as text)",
    "args": "args => cast(cast({args} as text) as json)",
    "queue": "queue => cast({queue} as text)",
    "priority": "priority => cast({priority} as integer)",
    "run_at": "run_at => cast(cast({run_at} as text) as timestamptz)",
    "delay_s": "run_at => clock_timestamp() + cast({delay_s} as float8) * interval '1 s'",
    "key": "key => cast({key} as text)",
    "key_for_s": "key_for => cast({key_for_s} as float8) * interval '1 s'",
    "tenant": "tenant => cast({tenant} as text)",
    "project": "project => cast({project} as text)",
    "max_attempts": "max_attempts => cast({max_attempts} as integer)",
    "options": "options => cast(cast({options} as text) as json)",
    "trace": "trace => cast({trace} as text)",
    "meta": "meta => cast(cast({meta} as text) as json)",
}
_PLAIN_NAMES = ("id", "kind", "args", "queue")
_REST = "rest => cast(cast({rest} as text) as json[])"
# A delay is added to the server's clock (not to pulse.now(), which the role pulse_producer may not call) and put
# in front of what else the object has, which stays as it was written.
_REST_WITH_DELAYS = """rest => cast(array(
  select case when d.s is null then d.r
              else '{{"run_at":' || to_json(clock_timestamp() + d.s * interval '1 s')
                   || case when d.r = '{{}}' then '' else ',' end || substr(d.r, 2) end
    from unnest(cast(cast({rest} as text) as text[]), cast(cast({delays_s} as text) as float8[]))
         with ordinality d(r, s, n) order by d.n) as json[])"""
_MANY = """pulse.enqueue_many(
  cast(cast({ids} as text) as uuid[]), cast(cast({kinds} as text) as text[]), cast(cast({args} as text) as text[]),
  cast(cast({queues} as text) as text[]), cast(cast({priorities} as text) as smallint[])"""
_MANY_NAMES = ("ids", "kinds", "args", "queues", "priorities")


def enqueue(job_id: UUID, job: Checked) -> Statement:
    """Add one job. The answer is an id as text."""
    said = {name: value for name, value in msgspec.structs.asdict(job).items() if value is not None}
    if said["priority"] == 0 and _is_plain(job):
        del said["priority"]
    names = ("id", *said)
    return Statement(_one(names), names, (str(job_id), *said.values()))


def enqueue_many(job_ids: Iterable[UUID], jobs: Sequence[Checked]) -> Statement:
    """Add many jobs. The answer is what `ids_of` reads."""
    names: tuple[str, ...] = _MANY_NAMES
    values: tuple[Any, ...] = (
        array(f"{each.int:032x}" for each in job_ids),
        texts(_one_or_all([job.kind for job in jobs])),
        texts(job.args for job in jobs),
        texts(_one_or_all([job.queue for job in jobs])),
        numbers(_one_or_all([job.priority for job in jobs])),
    )
    if not all(map(_is_plain, jobs)):
        names, values = (*names, "rest"), (*values, texts(_rest(job) for job in jobs))
    if any(job.delay_s is not None for job in jobs):
        names, values = (*names, "delays_s"), (*values, numbers(job.delay_s for job in jobs))
    return Statement(_many(names), names, values)


def ids_of(answer: str) -> list[str]:
    """The ids in the answer to `enqueue_many`, in the order of the jobs; none if they are those that were sent."""
    return answer[1:-1].split(",") if answer.startswith("{") else []


def _one_or_all(values: list[Any]) -> list[Any]:
    """One for all, where all are the same."""
    return values[:1] if values.count(values[0]) == len(values) else values


def _is_plain(job: Checked) -> bool:
    """Nothing of it is rare. Attributes one by one: this is asked of every job."""
    return (
        job.key is None and job.run_at is None and job.delay_s is None and job.tenant is None and job.project is None
        and job.max_attempts is None and job.options is None and job.trace is None and job.meta is None
    )  # fmt: skip


def _rest(job: Checked) -> str | None:
    """What is rare, as an object; None for most jobs, which the server adds all at once."""
    said = rare_of(job)
    return msgspec.json.encode(said).decode() if said or job.delay_s is not None else None


@lru_cache(maxsize=256)
def _one(names: tuple[str, ...]) -> str:
    door = "enqueue_plain" if names == _PLAIN_NAMES else "enqueue"
    return f"select cast(pulse.{door}({', '.join(_ONE[name] for name in names)}) as text)"


@lru_cache(maxsize=8)
def _many(names: tuple[str, ...]) -> str:
    """The ids come back only where a key can have changed one: 10,000 of them are 360 KB."""
    if "rest" not in names:
        return f"select cast(cardinality({_MANY})) as text)"
    return f"select cast({_MANY}, {_REST_WITH_DELAYS if 'delays_s' in names else _REST}) as text)"
