"""However many schedules there are: a look reads what is due, and a fire what it fires."""

import pytest
from plan_kit import watched
from schedule_kit import Clock, Firing, Schedules, minute

MANY = """
  insert into pulse.schedule (id, name, kind, spec, anchor, job_kind, reckon_after, next_run_at, look_at, created_at,
                              created_by)
    select gen_random_uuid(), 's' || i, 'every', '1d', %(at)s, 'k', %(at)s, %(at)s + interval '1 h',
           %(at)s + interval '1 h', %(at)s, 'me' from generate_series(1, 20000) i"""


@pytest.fixture
def many(schedules: Schedules, clock: Clock, firing: Firing) -> Schedules:
    """20,000 that are not due and five that are; the plans were made when there was one."""
    for number in range(8):
        schedules.add(f"warm {number}", lookahead_s=0)
        firing.turn()
    firing.each_minute(clock, 1, 2)
    schedules.connection.execute("update pulse.schedule set look_at = null")
    schedules.connection.execute(MANY.encode(), {"at": clock.now})
    schedules.connection.execute("analyze pulse.schedule")
    for number in range(5):
        schedules.add(f"due {number}", overlap="skip" if number % 2 else "allow")
    return schedules


def test_a_look_reads_what_is_due(many: Schedules, firing: Firing) -> None:
    with watched(many.connection) as work:
        assert firing.look()
    assert "schedule" not in work.sequential
    assert work.rows["schedule"] <= 2 * 5 + 1, "counted, told, and the next one"


def test_a_fire_reads_what_it_fires(many: Schedules, clock: Clock, firing: Firing) -> None:
    clock.set(minute(3))
    due = firing.look()
    assert due
    (fire,) = firing.decide(due)
    with watched(many.connection) as work:
        assert firing.fire(fire).moved == 5
    assert not work.sequential & {"schedule", "occurrence", "delayed", "schedule_run"}
    assert work.rows["schedule"] <= 6 * 5


def test_withdrawing_reads_what_waits(many: Schedules, clock: Clock, firing: Firing) -> None:
    firing.turn()
    ahead = many.ask("select schedule_id from pulse.delayed limit 1")
    with watched(many.connection) as work:
        assert many.ask("select pulse.pause_schedule(%s)", ahead)
    assert not work.sequential & {"schedule", "occurrence", "delayed"}
    assert work.rows["delayed"] <= 4
