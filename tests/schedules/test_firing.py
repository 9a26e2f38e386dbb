"""From due to jobs: the scheduler's decisions and the fire, on a database whose clock the test moves."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID

import pytest
from fix_cluster import Connect, Connection
from schedule_kit import Clock, Firing, Schedules, minute

from pulse_runtime.ids import occurrence_id


def test_each_occurrence_becomes_one_job_with_the_id_that_anyone_can_compute(
    schedules: Schedules, clock: Clock, firing: Firing
) -> None:
    each_minute = schedules.add(lookahead_s=0)
    for _ in range(6):
        firing.turn()
        clock.advance(seconds=30)
    assert schedules.ledger(each_minute) == [(minute(n), "fired") for n in (1, 2, 3)]
    assert schedules.jobs(each_minute) == [(occurrence_id(each_minute, minute(n)), minute(n)) for n in (1, 2, 3)]
    assert schedules.problems() == []


def test_a_fire_ahead_of_time_is_a_delayed_job(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    each_minute = schedules.add()
    firing.turn()
    assert schedules.ask("select array_agg(run_at) from pulse.delayed") == [minute(1)]
    clock.set(minute(1))
    assert schedules.ask("select moved from pulse.promote(10)") == 1
    firing.turn()
    assert schedules.jobs(each_minute) == [(occurrence_id(each_minute, minute(n)), minute(n)) for n in (1, 2)]
    assert schedules.problems() == []


def test_once_fires_once_and_is_gone(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    once = schedules.add(kind="once", spec=minute(1).isoformat())
    firing.turn()
    assert schedules.row(once)["deleted_at"] is None, "it can still be paused or edited"
    clock.set(minute(2))
    firing.turn()
    assert schedules.row(once)["deleted_by"] == "pulse"
    assert schedules.verdicts(once) == ["fired"]
    assert firing.look() is None


def test_every_keeps_to_its_anchor(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    every = schedules.add(kind="every", spec="1m30s", anchor=minute(0), lookahead_s=0)
    for _ in range(10):
        clock.advance(seconds=37)
        firing.turn()
    fired = [occurrence for occurrence, _ in schedules.ledger(every)]
    assert fired == [minute(0) + timedelta(seconds=90 * n) for n in range(1, len(fired) + 1)]
    assert len(fired) >= 4


def test_a_replayed_fire_changes_nothing(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    each_minute = schedules.add(lookahead_s=0)
    firing.turn()
    clock.set(minute(1))
    due = firing.look()
    assert due
    (fire,) = firing.decide(due)
    assert [firing.fire(fire).moved for _ in range(3)] == [1, 0, 0]
    assert len(schedules.jobs(each_minute)) == 1


@pytest.mark.parametrize("count", [2, 5])
def test_schedulers_that_saw_the_same_fire_it_once(
    schedules: Schedules, clock: Clock, connection: Connection, count: int
) -> None:
    ids = [schedules.add(f"s{n}", lookahead_s=0) for n in range(20)]
    crowd = [Firing(connection) for _ in range(count)]
    crowd[0].turn()
    for n in range(1, 4):
        clock.set(minute(n))
        seen = [firing.look() for firing in crowd]
        decided = [fire for firing, due in zip(crowd, seen, strict=True) if due for fire in firing.decide(due)]
        moved = [crowd[0].fire(fire).moved for fire in decided]
        assert sum(moved) == 20
        for firing in crowd:
            firing.start()
    assert all(schedules.verdicts(each) == ["fired"] * 3 for each in ids)
    assert all(len(schedules.jobs(each)) == 3 for each in ids)


@pytest.mark.parametrize("count", [2, 5])
def test_schedulers_that_fire_at_once_fire_each_occurrence_once(
    schedules: Schedules, clock: Clock, connect: Connect, count: int
) -> None:
    ids = [schedules.add(f"s{n}", lookahead_s=0, overlap="skip" if n % 2 else "allow") for n in range(100)]
    crowd = [Firing(connect(), most=60) for _ in range(count)]
    with ThreadPoolExecutor(count) as threads:
        for n in range(4):
            clock.set(minute(n) if n else clock.now)
            list(threads.map(Firing.turn, crowd))
    crowd[0].turn()
    assert {each for n in ids for each in [tuple(schedules.ledger(n))]} == {
        tuple((minute(n), "fired" if kind == "allow" or n == 1 else "skipped") for n in (1, 2, 3))
        for kind in ("allow", "skip")
    }
    assert all(len(schedules.jobs(each)) == schedules.verdicts(each).count("fired") for each in ids)
    assert schedules.problems() == []


def test_a_schedule_that_somebody_is_changing_stalls_nobody(
    schedules: Schedules, clock: Clock, firing: Firing, connect: Connect
) -> None:
    held, free = schedules.add("held", lookahead_s=0), schedules.add("free", lookahead_s=0)
    firing.turn()
    clock.set(minute(1))
    other = connect(autocommit=False)
    other.execute('select pulse.edit_schedule(%s, \'{"owner": "me"}\')', (held,))
    firing.turn()
    assert (schedules.verdicts(held), schedules.verdicts(free)) == ([], ["fired"])
    other.rollback()
    firing.turn()
    assert schedules.verdicts(held) == ["fired"]


def test_a_broken_schedule_pauses_itself_with_its_error(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    bad, good = schedules.add("bad", spec="61 * * * *", lookahead_s=0), schedules.add("good", lookahead_s=0)
    firing.turn()
    clock.set(minute(1))
    firing.turn()
    row = schedules.row(bad)
    assert row["paused_by"] == "pulse"
    assert "minute" in row["pause_reason"]
    assert schedules.verdicts(good) == ["fired"]
    assert firing.look() is None


def test_a_schedule_that_the_database_refuses_is_found_and_paused(
    schedules: Schedules, clock: Clock, firing: Firing
) -> None:
    ids: list[UUID] = [schedules.add(f"s{n}", lookahead_s=0) for n in range(7)]
    firing.turn()
    schedules.connection.execute("alter table pulse.log add check (args::text not like '%poison%')")
    schedules.ask('update pulse.schedule set args = \'{"a": "poison"}\' where id = %s returning id', ids[3])
    clock.set(minute(1))
    firing.turn()
    assert [len(schedules.jobs(each)) for each in ids] == [1, 1, 1, 0, 1, 1, 1]
    assert schedules.row(ids[3])["paused_by"] == "pulse"
    assert firing.idle


def test_what_a_broken_schedule_has_ahead_is_withdrawn(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    bad = schedules.add(lookahead_s=200)
    firing.each_minute(clock, 1, 1)
    assert schedules.ask("select count(*) from pulse.delayed") == 3
    spoil = "update pulse.schedule set spec = '61 * * * *', look_at = %s where id = %s returning id"
    schedules.ask(spoil, clock.now, bad)
    clock.advance(seconds=10)
    firing.turn()
    assert schedules.row(bad)["paused_by"] == "pulse"
    assert schedules.verdicts(bad) == ["fired"] + ["withdrawn"] * 3
    assert schedules.ask("select count(*) from pulse.delayed") == 0
    schedules.ask('select pulse.edit_schedule(%s, \'{"spec": "* * * * *"}\')', bad)
    schedules.ask("select pulse.resume_schedule(%s)", bad)
    firing.each_minute(clock, 2, 2)
    assert schedules.verdicts(bad)[:2] == ["fired", "fired"]
    assert schedules.problems() == []
