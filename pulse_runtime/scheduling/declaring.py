"""Making what is stored equal to what the code declares, when a runtime starts: in one transaction, or not at all."""

from collections.abc import Sequence
from typing import Any, Literal

from pulse_runtime.errors import Refused
from pulse_runtime.scheduling.declared import Change, Row, application_of, collect, difference
from pulse_runtime.scheduling.spec import timing_columns
from pulse_runtime.store import execute
from pulse_runtime.store import schedule_views as views
from pulse_runtime.store import schedules as statements
from pulse_runtime.store.connect import Connection
from pulse_runtime.store.history import require
from pulse_runtime.store.refusals import explained
from pulse_runtime.store.schedules import Ref
from pulse_runtime.timing.timings import parse_timing
from pulse_runtime.timing.zones import zone_version

Mode = Literal["sync", "strict"]


class SchedulesDiffer(Refused):
    """What is stored is not what is declared, and may not be changed (strict) or cannot (a name is taken)."""

    def __init__(self, changes: Sequence[Change], mode: Mode) -> None:
        hint = (
            "Start once with --schedules=sync, or change the code"
            if mode == "strict"
            else "Give the declared one another name=, or delete the other: `pulse-runtime schedules delete`"
        )
        shown = "\n".join(f"  {change}" for change in changes)
        super().__init__(f"the stored schedules are not those that are declared:\n{shown}\n{hint}")
        self.changes = tuple(changes)


def differences(connection: Connection, modules: Sequence[str]) -> list[Change]:
    """How the schedules that the imported `modules` declare differ from what is stored. Nothing is changed."""
    moment = statements.moment_of(execute.ask(connection, statements.now()))
    declared = collect(modules, moment=moment)
    application = application_of(modules)
    answer = execute.ask(connection, views.declared([row["name"] for row in declared]))
    stored = [_row(record) for record in views.records_of(answer)]
    found = difference(declared, stored, application=application)
    # Once is over when its moment has passed: it has fired, and does not come back.
    return [each for each in found if each.action != "add" or _timing(each.row).next_after(moment) is not None]


def reconcile(connection: Connection, modules: Sequence[str], mode: Mode) -> list[Change]:
    """Apply the difference (sync), or refuse to live with one (strict). What was changed. Raises SchedulesDiffer.

    Runtimes that start at once do it one after the other.
    """
    require(connection)
    with explained(), connection.transaction():
        execute.ask(connection, statements.hold_declared())
        changes = differences(connection, modules)
        hindering = [each for each in changes if each.strict and (mode == "strict" or each.action == "taken")]
        if hindering:
            raise SchedulesDiffer(hindering, mode)
        if mode == "strict":
            return []
        for change in changes:
            _apply(connection, change, application_of(modules))
    return changes


def _apply(connection: Connection, change: Change, application: str) -> None:
    by = f"the code of {application}"
    if change.action == "delete":
        execute.ask(connection, statements.delete(Ref(id=change.row["id"]), by=by))
    elif change.action == "add":
        columns = {**change.row, **_first(connection, change.row)}
        execute.ask(connection, statements.add({**columns, "declared_by": application, "by": by}))
    else:
        names = {"options" if column == "retry" else column for column in change.differs}
        changes = {name: change.row[name] for name in names}
        first: dict[str, Any] = {}
        if names & timing_columns(_timing(change.row)).keys():
            changes |= timing_columns(_timing(change.row))
            first = _first(connection, change.row)
        execute.ask(connection, statements.edit(Ref(name=change.name), changes, by=by, **first))


def _timing(row: Row) -> Any:
    return parse_timing(row["kind"], row["spec"], row["tz"], row["anchor"])


def _first(connection: Connection, row: Row) -> dict[str, Any]:
    """Its first occurrence."""
    moment = statements.moment_of(execute.ask(connection, statements.now()))
    return {"first_at": _timing(row).next_after(moment), "zone_version": zone_version()}


def _row(record: Any) -> Row:
    columns = (
        "id", "name", "declared_by", "kind", "spec", "tz", "anchor", "job_kind", "args", "queue", "priority",
        "max_attempts", "options", "missed", "missed_most", "missed_pace_s", "within_s", "overlap", "jitter",
        "delivery", "pause_after", "until", "max_fires", "lookahead_s",
    )  # fmt: skip
    return {**{column: getattr(record, column) for column in columns}, "meta": record.metadata}
