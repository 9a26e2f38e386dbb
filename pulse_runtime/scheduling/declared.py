"""What the imported handler modules declare, and how that differs from what is stored. Pure: rows in, changes out."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from pulse_runtime.declare import DEFAULTS, MARK, Declared
from pulse_runtime.errors import ConfigError, PulseError
from pulse_runtime.handlers import Handler, registry
from pulse_runtime.job_spec import Job
from pulse_runtime.scheduling.spec import job_columns, job_of, policy_columns
from pulse_runtime.timing.timings import check as check_timing

Row = Mapping[str, Any]
"""A schedule by its columns, as `pulse.schedule` names them."""
Action = Literal["add", "edit", "delete", "taken"]
TIMING = ("kind", "spec", "tz", "anchor")
SIGNS: dict[Action, str] = {"add": "+", "edit": "~", "delete": "-", "taken": "!"}


@dataclass(frozen=True)
class Change:
    """One entry of a difference. `differs` holds, for an edit, each column with what is stored and what is declared.

    `taken` means that the name is that of a schedule which this application did not declare: it is never touched.
    """

    action: Action
    name: str
    row: Row
    differs: Mapping[str, tuple[Any, Any]]

    @property
    def strict(self) -> bool:
        """Whether `--schedules=strict` refuses because of it: the identifier, the timing or the retry delay differ."""
        return self.action != "edit" or any(column in (*TIMING, "retry") for column in self.differs)

    def __str__(self) -> str:
        what = f"{SIGNS[self.action]} {self.name}: "
        if self.action == "edit":
            return what + "; ".join(f"{name} {_said(old)} → {_said(new)}" for name, (old, new) in self.differs.items())
        if self.action == "taken":
            owner = self.row.get("declared_by")
            return what + f"the name is taken by a schedule {f'of {owner}' if owner else 'made through the API'}"
        return what + " ".join(str(self.row[column]) for column in ("kind", "spec", "tz") if self.row[column])


def application_of(modules: Sequence[str]) -> str:
    """Who declares: these modules together. With none of them in common, runtimes are different applications."""
    return ",".join(sorted({name.partition(":")[0] for name in modules}))


def collect(modules: Sequence[str], *, moment: datetime) -> list[Row]:
    """The rows that the imported `modules` declare, by name. Raises ConfigError, which names the entry."""
    rows: dict[str, Row] = {}
    for entry in _entries(modules):
        name = entry.name or (entry.job.kind if isinstance(entry.job, Job | Handler) else entry.job) or "?"
        try:
            row = _row(name, entry, moment)
        except (PulseError, TypeError, ValueError) as error:
            raise ConfigError(str(error), source=f"schedule {name}") from error
        if name in rows:
            raise ConfigError("it is declared twice. Give one of them another name=", source=f"schedule {name}")
        rows[name] = row
    return [rows[name] for name in sorted(rows)]


def difference(declared: Sequence[Row], stored: Sequence[Row], *, application: str) -> list[Change]:
    """What would make `stored` equal to `declared`, entry by entry. Rows of others are never deleted or edited.

    Runtimes may share modules, and a deploy may add one. So what was declared by any of ours is compared, and what was
    declared by ours alone is deleted when they no longer declare it.
    """
    ours = _modules(application)
    by_name = {row["name"]: row for row in stored}
    changes = [change for row in declared if (change := _change(row, by_name.get(row["name"]), application))]
    names = {row["name"] for row in declared}
    gone = [row for row in stored if row["name"] not in names and set() < _modules(row["declared_by"]) <= ours]
    return sorted([*changes, *(Change("delete", row["name"], row, {}) for row in gone)], key=lambda each: each.name)


def _change(row: Row, stored: Row | None, application: str) -> Change | None:
    if stored is None:
        return Change("add", row["name"], row, {})
    if not _modules(stored["declared_by"]) & _modules(application):
        return Change("taken", row["name"], stored, {})
    old, new = _comparable(stored), _comparable(row)
    differs = {column: (old.get(column), value) for column, value in new.items() if old.get(column) != value}
    return Change("edit", row["name"], row, differs) if differs else None


def _modules(application: str | None) -> set[str]:
    return set(application.split(",")) if application else set()


def _comparable(row: Row) -> dict[str, Any]:
    """The retry delay is part of the options, and counts by itself."""
    options = dict(row["options"] or {})
    return {**row, "retry": options.pop("retry", None), "options": options or None}


def _entries(modules: Sequence[str]) -> Iterator[Declared]:
    for kind in registry:
        handler = registry.get(kind)
        for marked in getattr(handler, MARK, ()):
            assert handler is not None  # noqa: S101 (the registry has what it lists)
            job = Job(kind, marked.args, **handler.options)
            yield replace(marked.declared, job=job, name=marked.declared.name or kind)
    for name in sorted({name.partition(":")[0] for name in modules}):
        for entry in getattr(sys.modules.get(name), "schedules", ()):
            if not isinstance(entry, Declared):
                raise ConfigError(f"schedules holds {entry!r}, which is no Declared(…)", source=name)
            yield entry


def _row(name: str, entry: Declared, moment: datetime) -> Row:
    policies = policy_columns(entry.policies)
    if entry.timing.kind != "once":
        check_timing(entry.timing, moment=moment)
    job = job_columns(job_of(entry.job, None, entry.retry_delay))
    timing = entry.timing
    return {
        "name": name, "kind": timing.kind, "spec": timing.spec, "tz": timing.tz, "anchor": timing.anchor,
        **job,
        **DEFAULTS, **policies,
    }  # fmt: skip


def _said(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else json.dumps(value, default=str, ensure_ascii=False)
