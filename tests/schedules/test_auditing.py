"""What must not exist is found, each kind by a row that was tampered with; what is old is forgotten."""

from datetime import timedelta

import pytest
from schedule_kit import Clock, Firing, Schedules, minute
from store_kit import Store

OVERDUE = "a schedule that is overdue"
TAMPERED = [
    (OVERDUE, "update pulse.schedule set look_at = '2026-11-18', next_run_at = '2026-11-18'"),
    (OVERDUE, "update pulse.schedule set look_at = '2026-11-18', next_run_at = null"),
    (OVERDUE, "update pulse.schedule set look_at = '2099-01-01', next_run_at = '2026-11-18'"),
    (OVERDUE, "update pulse.schedule set look_at = null"),
    ("an occurrence without its job", "with gone as (delete from pulse.log) delete from pulse.place"),
    ("a job of a schedule without its occurrence", "delete from pulse.occurrence"),
    ("a job of a schedule without its occurrence", "update pulse.occurrence set job_id = gen_random_uuid()"),
    ("a run that is over and blocks the next one", "insert into pulse.schedule_run select id, id from pulse.schedule"),
    ("a lease without its claim", "delete from pulse.claim"),
]


@pytest.mark.parametrize(("finding", "tamper"), TAMPERED)
def test_what_must_not_exist_is_found(
    schedules: Schedules, clock: Clock, firing: Firing, finding: str, tamper: str
) -> None:
    schedules.add(lookahead_s=0)
    firing.each_minute(clock, 1, 5)
    store = Store(schedules.connection)
    store.claim(2)
    assert schedules.problems() == []
    schedules.connection.execute(tamper.encode())
    assert finding in {found for found, _, _ in schedules.problems()}


@pytest.mark.parametrize("change", ["paused_at = now()", "ended_at = now()", "deleted_at = now()"])
def test_a_schedule_that_does_not_go_is_not_overdue(schedules: Schedules, clock: Clock, change: str) -> None:
    schedules.add(lookahead_s=0)
    clock.advance(minutes=30)
    assert [finding for finding, _, _ in schedules.problems()] == [OVERDUE]
    schedules.connection.execute(f"update pulse.schedule set {change}".encode())
    assert schedules.problems() == []


def test_a_job_that_waits_longer_than_history_is_kept_is_no_finding(
    schedules: Schedules, clock: Clock, firing: Firing
) -> None:
    schedules.add(lookahead_s=0, until=minute(1))
    firing.turn()
    clock.advance(days=2)
    firing.turn()
    clock.advance(days=31)
    assert schedules.ask("select pulse.prune_schedules(interval '30 d')") == 1
    assert schedules.problems() == []


def test_what_is_old_is_forgotten_and_a_backfill_of_it_is_refused(
    schedules: Schedules, clock: Clock, firing: Firing
) -> None:
    old, kept = schedules.add("old", lookahead_s=0), schedules.add("kept", lookahead_s=0)
    firing.each_minute(clock, 1, 2)
    schedules.ask("select pulse.delete_schedule(%s)", old)
    clock.advance(days=31)
    assert schedules.ask("select pulse.prune_schedules(interval '30 d')") == 4
    assert schedules.ask("select pulse.prune_schedules(interval '30 d')") == 0
    assert schedules.ask("select array_agg(id) from pulse.schedule") == [kept]
    with pytest.raises(Exception, match="the ledger goes back to"):
        schedules.ask("select pulse.backfill(%s, %s, %s)", kept, [minute(1)], [kept])
    assert clock.now > minute(0) + timedelta(days=31)
