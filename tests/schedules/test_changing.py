"""Edits, pauses and deletes, also with fires in flight: nothing fires in the past, nothing pending survives."""

import json
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from fix_cluster import Connection
from schedule_kit import Clock, Firing, Schedules, minute

from pulse_runtime.ids import occurrence_id

CHANGES = {
    "edit": 'select pulse.edit_schedule(%s, \'{"spec": "30 * * * * *"}\')',
    "pause": "select pulse.pause_schedule(%s, 'why', 'me')",
    "delete": "select pulse.delete_schedule(%s, 'me')",
}


def waiting(schedules: Schedules) -> list[datetime]:
    found = schedules.ask("select array_agg(occurrence order by occurrence) from pulse.delayed")
    return list(found or [])


def edit(schedules: Schedules, schedule: UUID, **changes: Any) -> Any:
    return schedules.ask("select pulse.edit_schedule(%s, %s, by => 'me')", schedule, json.dumps(changes))


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_withdraws_what_is_not_due_and_leaves_what_was_spawned(
    schedules: Schedules, clock: Clock, firing: Firing, change: str
) -> None:
    ahead = schedules.add(lookahead_s=200)
    firing.each_minute(clock, 1, 1)
    clock.advance(seconds=1)
    assert waiting(schedules) == [minute(2), minute(3), minute(4)]
    schedules.ask(CHANGES[change], ahead)
    assert waiting(schedules) == []
    assert schedules.verdicts(ahead) == ["fired"] + ["withdrawn"] * 3
    assert schedules.jobs(ahead) == [(occurrence_id(ahead, minute(1)), minute(1))]
    assert schedules.row(ahead)["fires"] == 1
    assert schedules.problems() == []


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("step", ["looked", "decided"])
def test_a_fire_in_flight_is_void_once_the_schedule_has_changed(
    schedules: Schedules, clock: Clock, firing: Firing, change: str, step: str
) -> None:
    changed, other = schedules.add("changed", lookahead_s=0), schedules.add("other", lookahead_s=0)
    firing.turn()
    clock.set(minute(1))
    due = firing.look()
    assert due
    fires = firing.decide(due) if step == "decided" else []
    schedules.ask(CHANGES[change], changed)
    for fire in fires or firing.decide(due):
        assert firing.fire(fire).moved == 1
    assert schedules.jobs(changed) == []
    assert len(schedules.jobs(other)) == 1


def test_what_was_withdrawn_comes_again_under_its_id(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    ahead = schedules.add(lookahead_s=200)
    firing.turn()
    before = schedules.jobs(ahead)
    edit(schedules, ahead, jitter=0, overlap="allow")
    assert waiting(schedules) == []
    firing.turn()
    assert schedules.jobs(ahead) == before
    assert schedules.verdicts(ahead) == ["fired"] * len(before)


def test_another_timing_counts_from_now(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    edited = schedules.add(lookahead_s=0, missed="all")
    firing.turn()
    clock.set(minute(10.25))  # nobody has looked for ten minutes
    edit(schedules, edited, spec="*/2 * * * *")
    firing.turn()
    assert schedules.ledger(edited) == []
    firing.each_minute(clock, 12, 14)
    assert schedules.ledger(edited) == [(minute(12), "fired"), (minute(14), "fired")]


def test_a_first_occurrence_that_has_passed_by_now_does_not_fire(
    schedules: Schedules, clock: Clock, firing: Firing
) -> None:
    """Whoever reckoned it took a while to say so."""
    passed = minute(0)
    made = schedules.add("made", lookahead_s=0, first_at=passed)
    edited = schedules.add("edited", lookahead_s=0)
    schedules.ask('select pulse.edit_schedule(%s, \'{"spec": "*/2 * * * *"}\', first_at => %s)', edited, passed)
    firing.each_minute(clock, 1, 2)
    assert schedules.ledger(made) == [(minute(1), "fired"), (minute(2), "fired")]
    assert schedules.ledger(edited) == [(minute(2), "fired")]
    with pytest.raises(psycopg.DatabaseError, match="its moment has passed"):
        schedules.add("once", kind="once", spec=passed.isoformat(), first_at=passed)


@pytest.mark.parametrize(
    ("kind", "spec", "next_"), [("every", "1m30s", minute(4.5)), ("once", minute(7).isoformat(), minute(7))]
)
def test_a_schedule_can_become_one_of_another_kind(
    schedules: Schedules, clock: Clock, firing: Firing, kind: str, spec: str, next_: datetime
) -> None:
    edited = schedules.add(lookahead_s=0)
    firing.each_minute(clock, 1, 3)
    edit(schedules, edited, kind=kind, spec=spec, anchor=minute(0).isoformat())
    for _ in range(10):
        firing.turn()
        clock.advance(seconds=30)
    assert schedules.ledger(edited)[3] == (next_, "fired")


def test_other_arguments_go_for_what_is_not_due_and_leave_the_cursor(
    schedules: Schedules, clock: Clock, firing: Firing
) -> None:
    edited = schedules.add(lookahead_s=200, args={"old": 1})
    firing.each_minute(clock, 1, 1)
    clock.advance(seconds=1)
    before = schedules.row(edited)["next_run_at"]
    edit(schedules, edited, args={"new": 2}, queue="other", priority=3)
    assert schedules.row(edited)["next_run_at"] == before
    for number in (2, 3):
        clock.set(minute(number))
        schedules.ask("select pulse.promote(10)")
        firing.turn()
    told = schedules.connection.execute(
        "select occurrence, args::text, queue, priority from pulse.log order by occurrence"
    ).fetchall()
    assert told == [
        (minute(1), '{"old": 1}', "default", 0),
        (minute(2), '{"new": 2}', "other", 3),
        (minute(3), '{"new": 2}', "other", 3),
    ]


def test_what_falls_into_a_pause_is_skipped_and_the_next_one_fires(
    schedules: Schedules, clock: Clock, firing: Firing
) -> None:
    paused = schedules.add()
    firing.each_minute(clock, 1, 1)
    clock.advance(seconds=10)
    schedules.ask(CHANGES["pause"], paused)
    firing.each_minute(clock, 2, 3)
    assert schedules.verdicts(paused) == ["fired", "skipped", "skipped"]
    assert schedules.reasons(paused)[1:] == ["paused", "paused"]
    clock.advance(seconds=10)
    schedules.ask("select pulse.resume_schedule(%s)", paused)
    firing.each_minute(clock, 4, 4)
    assert schedules.verdicts(paused) == ["fired", "skipped", "skipped", "fired", "fired"], "the last is ahead"


def test_a_pause_that_nobody_saw_is_told_all_the_same(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    paused = schedules.add(lookahead_s=0, missed="all")
    firing.each_minute(clock, 1, 1)
    schedules.ask(CHANGES["pause"], paused)
    clock.set(minute(4.5))
    schedules.ask("select pulse.resume_schedule(%s)", paused)
    clock.set(minute(6.5))
    firing.turn()
    assert schedules.verdicts(paused) == ["fired", "skipped", "skipped", "skipped", "late", "late"]


def test_run_now_fires_beside_the_timing_and_while_paused(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    mine = schedules.add(lookahead_s=0)
    schedules.ask(CHANGES["pause"], mine)
    job = schedules.ask("select pulse.run_schedule(%s, 'me')", mine)
    assert schedules.jobs(mine) == [(job, clock.now)]
    assert schedules.reasons(mine) == ["run now by me"]
    assert schedules.row(mine)["fires"] == 0
    assert schedules.problems() == []


def test_run_now_respects_overlap(schedules: Schedules, clock: Clock) -> None:
    alone = schedules.add(overlap="skip")
    schedules.ask("select pulse.run_schedule(%s)", alone)
    clock.advance(seconds=1)
    with pytest.raises(psycopg.DatabaseError, match="its last run is not finished") as refused:
        schedules.ask("select pulse.run_schedule(%s)", alone)
    assert refused.value.sqlstate == "PU410"


def test_a_name_is_taken_until_its_schedule_is_deleted(schedules: Schedules) -> None:
    first = schedules.add("nightly", tenant="a")
    assert schedules.add("nightly", tenant="b") != first
    with pytest.raises(psycopg.DatabaseError, match="the name is taken") as refused:
        schedules.add("nightly", tenant="a")
    assert (refused.value.sqlstate, refused.value.diag.message_detail) == ("PU410", "add nightly")
    schedules.ask(CHANGES["delete"], first)
    assert schedules.add("nightly", tenant="a") != first


def test_adding_again_with_the_same_id_adds_nothing(schedules: Schedules) -> None:
    id_ = schedules.ask("select pulse.uuid7()")
    assert schedules.add(id=id_) == schedules.add(id=id_) == id_


def test_deleting_for_a_tenant_is_one_statement(schedules: Schedules, firing: Firing) -> None:
    for tenant in ("a", "b"):
        for number in range(3):
            schedules.add(f"s{number}", tenant=tenant, project=f"p{number % 2}")
    firing.turn()
    assert schedules.ask("select pulse.delete_schedules('a', 'p0')") == 2
    assert schedules.ask("select pulse.delete_schedules('a')") == 1
    assert schedules.ask("select count(*) from pulse.delayed where tenant = 'a'") == 0
    assert schedules.ask("select count(*) from pulse.schedules") == 3
    assert schedules.problems() == []


def test_an_edit_of_what_was_changed_meanwhile_is_refused(schedules: Schedules) -> None:
    mine = schedules.add()
    assert edit(schedules, mine, owner="a") == 2
    with pytest.raises(psycopg.DatabaseError, match="changed meanwhile, by me"):
        schedules.ask('select pulse.edit_schedule(%s, \'{"owner": "b"}\', revision => 1)', mine)
    with pytest.raises(psycopg.DatabaseError, match="fires: a schedule has no such column to edit"):
        edit(schedules, mine, fires=3)


def test_a_schedule_and_its_first_occurrence_commit_together(schedules: Schedules, connection: Connection) -> None:
    with connection.transaction(force_rollback=True):
        mine = schedules.add(kind="every", spec="5m", anchor=minute(0))
        assert schedules.row(mine)["next_run_at"] == "2026-11-18T12:05:00+00:00"
    assert schedules.ask("select count(*) from pulse.schedule") == 0


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"kind": "every", "spec": "0.5s"}, "period"), ({"kind": "every", "spec": "twice"}, "interval"),
        ({"kind": "once", "spec": "2020-01-01T00:00:00Z"}, "passed"), ({"kind": "never"}, "kind"),
        ({"missed": "some"}, "missed"), ({"pause_after": 2}, "pause_after"), ({"jitter": 0.6}, "jitter"),
        ({"lookahead_s": -1}, "lookahead"), ({"until": "infinity"}, "schedule_time"),
        ({"kind": "once", "spec": "294000-01-01T00:00:00Z"}, "schedule_time"),
        ({"kind": "every", "spec": "1h", "anchor": "2001-01-01 BC"}, "schedule_time"),
        ({"max_fires": 0}, "max_fires"), ({"queue": ""}, "queue_name"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(schedules: Schedules, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(psycopg.DatabaseError, match=problem):
        schedules.add(**options)


def test_cursors_are_reckoned_again_when_the_zone_database_changes(
    schedules: Schedules, clock: Clock, connection: Connection
) -> None:
    mine = schedules.add(spec="0 9 * * *", tz="Europe/Berlin")
    Firing(connection, zone="2026a").turn()
    assert schedules.row(mine)["zone_version"] == "2026a"
    # As if Berlin had been at another offset by the old zone database.
    schedules.ask(
        "update pulse.schedule set next_run_at = next_run_at + interval '1 h' where id = %s returning id", mine
    )
    assert schedules.ask("select pulse.rezone('2026a')") == 0
    assert schedules.ask("select pulse.rezone('2026b')") == 1
    Firing(connection, zone="2026b").turn()
    assert schedules.row(mine)["next_run_at"] == "2026-11-19T08:00:00+00:00"
    assert schedules.row(mine)["zone_version"] == "2026b"


def test_a_backfill_fires_what_the_ledger_lacks_and_nothing_twice(
    schedules: Schedules, clock: Clock, firing: Firing
) -> None:
    mine = schedules.add(lookahead_s=0)
    firing.each_minute(clock, 1, 2)
    window = [minute(n) for n in (-2, -1, 0, 1, 2)]
    values = window, [occurrence_id(mine, each) for each in window]
    backfill = "select pulse.backfill(%s, %s, %s, by => 'me')"
    assert schedules.ask(backfill, mine, *values) == window[:3]
    assert schedules.ask(backfill, mine, *values) == []
    assert schedules.jobs(mine) == [(occurrence_id(mine, each), each) for each in window]
    with pytest.raises(psycopg.DatabaseError, match="future"):
        schedules.ask(backfill, mine, [minute(99)], [mine])
    assert schedules.problems() == []
