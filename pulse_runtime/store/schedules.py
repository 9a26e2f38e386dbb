"""Statements that change schedules, one function each. Columns are those of `pulse.schedule`; answers are one value."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from pulse_runtime.store.statement import Statement
from pulse_runtime.store.text import array, quoted

_TEXT, _JSON, _INT, _FLOAT, _TIME = (
    "cast({%s} as text)", "cast(cast({%s} as text) as json)", "cast({%s} as bigint)", "cast({%s} as float8)",
    "cast(cast({%s} as text) as timestamptz)",
)  # fmt: skip
_INTEGER = "cast({%s} as integer)"
_CASTS = {
    "anchor": _TIME, "args": _JSON, "priority": _INTEGER, "max_attempts": _INTEGER, "options": _JSON, "meta": _JSON,
    "missed_most": _INTEGER, "missed_pace_s": _FLOAT, "within_s": _FLOAT, "jitter": _FLOAT, "pause_after": _INTEGER,
    "until": _TIME, "max_fires": _INT, "lookahead_s": _FLOAT, "first_at": _TIME,
    "id": "cast(cast({%s} as text) as uuid)",
}  # fmt: skip
_ID = "cast(cast({id} as text) as uuid)"
_PLACED = (
    "(select k.id from pulse.schedule k where k.id = cast(cast({id} as text) as uuid)"
    " and (cast({tenant} as text) is null or coalesce(k.tenant, '') = cast({tenant} as text))"
    " and (cast({project} as text) is null or coalesce(k.project, '') = cast({project} as text)))"
)
_NAMED = "pulse.schedule_id(cast({name} as text), cast({tenant} as text), cast({project} as text))"


class Ref(msgspec.Struct, frozen=True):
    """Which schedule: an id, or a name in a tenant and a project. With an id these are checked, if they are given."""

    id: UUID | None = None
    name: str | None = None
    tenant: str | None = None
    project: str | None = None

    def __str__(self) -> str:
        places = [f"{what} {value!r}" for what in ("tenant", "project") if (value := getattr(self, what)) is not None]
        said = str(self.id) if self.id is not None else repr(self.name)
        return " ".join([said, *(["of", ", ".join(places)] if places else [])])


def now() -> Statement:
    """The database's time, as text."""
    return Statement("select cast(to_json(pulse.now()) as text)", (), ())


def moment_of(answer: str) -> datetime:
    """The answer to `now`."""
    return msgspec.json.decode(answer, type=datetime)


def add(columns: Mapping[str, Any]) -> Statement:
    """A new schedule, and its first occurrence if it is known. The answer is its id, as text."""
    said = {name: _sent(name, value) for name, value in columns.items() if value is not None}
    values = ", ".join(f"{name} => {_CASTS.get(name, _TEXT) % name}" for name in said)
    return Statement(f"select cast(pulse.add_schedule({values}) as text)", tuple(said), tuple(said.values()))


def edit(
    ref: Ref,
    changes: Mapping[str, Any],
    *,
    first_at: datetime | None = None,
    zone_version: str | None = None,
    by: str | None = None,
    revision: int | None = None,
) -> Statement:
    """The answer is the new revision; none: there is no such schedule."""
    said = {
        "changes": msgspec.json.encode(changes).decode(), "first_at": first_at and first_at.isoformat(),
        "zone_version": zone_version, "who": by, "revision": revision,
    }  # fmt: skip
    return about(
        ref,
        "select pulse.edit_schedule(%s, cast(cast({changes} as text) as json),"
        " cast(cast({first_at} as text) as timestamptz), cast({zone_version} as text), cast({who} as text),"
        " cast({revision} as integer))",
        **said,
    )


def pause(ref: Ref, *, reason: str | None, by: str | None) -> Statement:
    """The answer is whether it was going; none: there is no such schedule."""
    return about(
        ref, "select pulse.pause_schedule(%s, cast({reason} as text), cast({who} as text))", reason=reason, who=by
    )


def resume(ref: Ref, *, by: str | None) -> Statement:
    """The answer is whether it was paused; none: there is no such schedule."""
    return about(ref, "select pulse.resume_schedule(%s, cast({who} as text))", who=by)


def delete(ref: Ref, *, by: str | None) -> Statement:
    """The answer is whether there was one."""
    return about(ref, "select pulse.delete_schedule(%s, cast({who} as text))", who=by)


def delete_all(tenant: str, project: str | None, *, by: str | None) -> Statement:
    """The answer is how many."""
    sql = "select pulse.delete_schedules(cast({tenant} as text), cast({project} as text), cast({who} as text))"
    return Statement(sql, ("tenant", "project", "who"), (tenant, project, by))


def run(ref: Ref, *, by: str | None) -> Statement:
    """The answer is the job's id, as text; none: there is no such schedule."""
    return about(ref, "select cast(pulse.run_schedule(%s, cast({who} as text)) as text)", who=by)


def hold_declared() -> Statement:
    """One application at a time: held until the end of the transaction."""
    return Statement("select cast(pg_advisory_xact_lock(1886745448, 0) as text)", (), ())


def backfill(
    schedule_id: UUID, occurrences: Sequence[datetime], jobs: Sequence[UUID], *, missed: bool, by: str | None
) -> Statement:
    """Fire these, unless the ledger has them. The answer are those that were fired; see `schedule_views.moments_of`."""
    sql = """select cast(to_json(pulse.backfill(cast(cast({id} as text) as uuid),
      cast(cast({occurrences} as text) as timestamptz[]), cast(cast({jobs} as text) as uuid[]),
      cast({missed} as boolean), cast({who} as text))) as text)"""
    values = (
        str(schedule_id), array(quoted(each.isoformat()) for each in occurrences), array(str(each) for each in jobs),
        missed, by,
    )  # fmt: skip
    return Statement(sql, ("id", "occurrences", "jobs", "missed", "who"), values)


def about(ref: Ref, sql: str, **values: Any) -> Statement:
    """`%s` is where the id goes; a name is looked up on the way."""
    if ref.id is not None and ref.tenant is None and ref.project is None:
        return Statement(sql.replace("%s", _ID), ("id", *values), (str(ref.id), *values.values()))
    if ref.id is not None:
        placed = {"id": str(ref.id), "tenant": ref.tenant, "project": ref.project}
        return Statement(sql.replace("%s", _PLACED), (*placed, *values), (*placed.values(), *values.values()))
    named = {"name": ref.name, "tenant": ref.tenant, "project": ref.project}
    return Statement(sql.replace("%s", _NAMED), (*named, *values), (*named.values(), *values.values()))


def _sent(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    return msgspec.json.encode(value).decode() if _CASTS.get(name) == _JSON else value
