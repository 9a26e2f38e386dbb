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


def test_a_page_of_history_reads_a_page(schedules: Schedules, clock: Clock) -> None:
    mine, other = schedules.add("mine"), schedules.add("other")
    many = """insert into pulse.occurrence (tenant, schedule_id, occurrence, due_at, decided_at, verdict)
      select '', s, %(at)s - i * interval '1 min', %(at)s, %(at)s, 'skipped'
        from generate_series(1, 10000) i, unnest(%(ids)s::uuid[]) s"""
    schedules.connection.execute(many.encode(), {"at": clock.now, "ids": [mine, other]})
    schedules.connection.execute("analyze pulse.occurrence")
    page = "select count(*) from pulse.schedule_history(%s, 50, %s)"
    for before in [minute(-n) for n in range(7)]:  # until the plan is a generic one
        schedules.ask(page, mine, before)
    with watched(schedules.connection) as work:
        assert schedules.ask(page, mine, minute(-5000)) == 50
    assert "occurrence" not in work.sequential
    assert work.rows["occurrence"] <= 51
