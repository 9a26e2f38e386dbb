"""Statements that look schedules up, one function each, and how their answers are read. An answer is one value."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from pulse_runtime.scheduling.records import OccurrenceRecord, ScheduleRecord
from pulse_runtime.store.schedules import Ref, about
from pulse_runtime.store.statement import Statement
from pulse_runtime.store.text import texts

_LIST = """select cast(coalesce(json_agg(p order by p.id), '[]') as text) from (
  select s.* from pulse.schedules s
   where (cast({tenant} as text) is null or s.tenant = cast({tenant} as text))
     and (cast({project} as text) is null or s.project = cast({project} as text))
     and (cast({declared_by} as text) is null or s.declared_by = cast({declared_by} as text))
     and (cast({status} as text) is null or s.status = cast({status} as text))
     and (cast({after} as text) is null or s.id > cast(cast({after} as text) as uuid))
   order by s.id limit cast({most} as integer)) p"""
_RECORD = "cast(to_json(s) as text) from pulse.schedules s"


def get(ref: Ref) -> Statement:
    """See `record_of`. No answer: there is no such schedule."""
    return about(ref, f"select {_RECORD} where s.id = %s")


def list_schedules(
    *,
    tenant: str | None,
    project: str | None,
    declared_by: str | None,
    status: str | None,
    most: int,
    after: str | None,
) -> Statement:
    """A page, in the order in which they were made; see `records_of`."""
    names = ("tenant", "project", "declared_by", "status", "most", "after")
    return Statement(_LIST, names, (tenant, project, declared_by, status, most, after))


def declared(names: Sequence[str]) -> Statement:
    """What applications declared, and whatever has one of these names; see `records_of`."""
    sql = """select cast(coalesce(json_agg(s), '[]') as text) from pulse.schedules s
      where s.tenant is null and s.project is null
        and (s.declared_by is not null or s.name = any (cast(cast({names} as text) as text[])))"""
    return Statement(sql, ("names",), (texts(names),))


def history(ref: Ref, *, most: int, before: datetime | None) -> Statement:
    """Its occurrences, the latest first; see `occurrences_of`. No answer: there is no such schedule."""
    return about(
        ref,
        "select (select cast(coalesce(json_agg(h), '[]') as text) from pulse.schedule_history(r.id,"
        " cast({most} as integer), cast(cast({before} as text) as timestamptz)) h) from (select %s as id) r"
        " where r.id is not null",
        most=most,
        before=before and before.isoformat(),
    )


def verdicts(schedule_id: UUID, begin: datetime, end: datetime) -> Statement:
    """How many occurrences in [begin, end] had which verdict; see `verdicts_of`."""
    sql = """select cast(coalesce(json_object_agg(v.verdict, v.n), '{{}}') as text) from pulse.schedule_verdicts(
      cast(cast({id} as text) as uuid), cast(cast({begin} as text) as timestamptz),
      cast(cast({end} as text) as timestamptz)) v"""
    return Statement(sql, ("id", "begin", "end"), (str(schedule_id), begin.isoformat(), end.isoformat()))


def decided(record: ScheduleRecord, begin: datetime, end: datetime, *, missed: bool) -> Statement:
    """The occurrences in [begin, end] that the ledger has; with `missed`, without those. See `moments_of`."""
    sql = """select cast(coalesce(json_agg(o.occurrence), '[]') as text) from pulse.occurrence o
      where o.tenant = cast({tenant} as text) and o.schedule_id = cast(cast({id} as text) as uuid)
        and o.occurrence >= cast(cast({begin} as text) as timestamptz)
        and o.occurrence <= cast(cast({end} as text) as timestamptz)
        and not (cast({missed} as boolean) and o.verdict in ('missed', 'withdrawn'))"""
    values = (record.tenant or "", str(record.id), begin.isoformat(), end.isoformat(), missed)
    return Statement(sql, ("tenant", "id", "begin", "end", "missed"), values)


def audit() -> Statement:
    """What must not exist; see `findings_of`."""
    return Statement("select cast(coalesce(json_agg(a), '[]') as text) from pulse.audit() a", (), ())


def record_of(answer: str) -> ScheduleRecord:
    """The answer to `get`."""
    return msgspec.json.decode(answer, type=ScheduleRecord)


def records_of(answer: str) -> list[ScheduleRecord]:
    """The answer to `list_schedules`."""
    return msgspec.json.decode(answer, type=list[ScheduleRecord])


def occurrences_of(answer: str) -> list[OccurrenceRecord]:
    """The answer to `history`."""
    return msgspec.json.decode(answer, type=list[OccurrenceRecord])


def verdicts_of(answer: str) -> dict[str, int]:
    """The answer to `verdicts`."""
    return msgspec.json.decode(answer, type=dict[str, int])


def moments_of(answer: str) -> list[datetime]:
    """The answer to `decided` and `backfill`."""
    return msgspec.json.decode(answer, type=list[datetime])


def findings_of(answer: str) -> list[dict[str, str]]:
    """The answer to `audit`: finding, id and detail of each."""
    return msgspec.json.decode(answer, type=list[dict[str, str]])
