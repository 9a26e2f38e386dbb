"""Nobody waits for a row that a person holds: a change left open for an hour stops no report and no fire."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from embedded_kit import eventually
from fix_cluster import Connect, Connection
from schedule_kit import Clock, Firing, Schedules, minute
from store_kit import Store

from pulse_runtime.ids import occurrence_id

CHANGES = {
    "edit": 'select pulse.edit_schedule(%(id)s, \'{"args": {"a": 1}, "jitter": 0}\')',
    "pause": "select pulse.pause_schedule(%(id)s)",
    "pause and resume": "select pulse.pause_schedule(%(id)s), pulse.resume_schedule(%(id)s)",
    "delete": "select pulse.delete_schedule(%(id)s)",
    "delete all": "select pulse.delete_schedules('')",
    "run": "select pulse.run_schedule(%(id)s)",
    "backfill": "select pulse.backfill(%(id)s, array[%(at)s], array[%(job)s])",
}


@pytest.mark.parametrize(
    ("change", "overlap"),
    [(change, overlap) for change in CHANGES for overlap in ("allow", "skip") if (change, overlap) != ("run", "skip")],
)
def test_a_change_left_open_stops_nothing(
    schedules: Schedules, clock: Clock, connect: Connect, connection: Connection, change: str, overlap: str
) -> None:
    store, firing = Store(connection), Firing(connection)
    held, other = schedules.add("held", overlap=overlap), schedules.add("other", tenant="other")
    for number in (1, 2):
        firing.each_minute(clock, number, number)
        running = store.claim()
        if number == 1:
            for batch in running:
                store.close(batch, "dead")
            firing.turn()
    mine = connect(autocommit=False)
    values = {"id": held, "at": minute(0), "job": occurrence_id(held, minute(0))}
    mine.execute(CHANGES[change].encode(), values)
    connection.execute("set statement_timeout = '3s'")
    for batch in running:
        store.settle(batch)
    firing.each_minute(clock, 3, 4)
    assert schedules.verdicts(other)[:4] == ["fired"] * 4
    told = "select array_agg(distinct succeeded) from pulse.schedules"
    assert schedules.ask(told) == [1], "what ended meanwhile is counted"
    mine.commit()
    firing.each_minute(clock, 5, 6)
    assert schedules.problems() == []


def test_an_id_that_somebody_is_just_taking_holds_up_no_fire(
    schedules: Schedules, clock: Clock, connect: Connect, connection: Connection
) -> None:
    firing = Firing(connection)
    ids = [schedules.add(f"s{number}", lookahead_s=200) for number in range(3)]
    stranger = connect(autocommit=False)
    taken = occurrence_id(ids[1], minute(2))
    stranger.execute("select pulse.enqueue(kind => 'evil', run_at => '2100-01-01', id => %s)", (taken,))
    connection.execute("set statement_timeout = '3s'")
    firing.each_minute(clock, 1, 2)
    for each in ids:
        assert schedules.ledger(each)[:2] == [(minute(1), "fired"), (minute(2), "fired")]
    stranger.commit()
    firing.each_minute(clock, 3, 3)
    assert schedules.problems() == []


@pytest.mark.parametrize("change", ["edit", "pause", "delete", "delete all"])
def test_a_change_that_comes_while_a_fire_commits_withdraws_what_that_made(
    schedules: Schedules, clock: Clock, connect: Connect, connection: Connection, change: str
) -> None:
    mine = schedules.add(lookahead_s=200)
    firing = Firing(connect(autocommit=False))
    due = firing.look()
    assert due
    (fire,) = firing.decide(due)
    assert firing.fire(fire).moved == 1
    with ThreadPoolExecutor(1) as threads:
        other = connect()
        changing = threads.submit(other.execute, CHANGES[change].encode(), {"id": mine})
        blocked = "select wait_event_type = 'Lock' from pg_stat_activity where pid = %s"
        assert eventually(lambda: schedules.ask(blocked, other.info.backend_pid), within_s=5)
        assert not changing.done()
        firing.connection.commit()
        changing.result(timeout=5)
    assert schedules.jobs(mine) == []
    assert set(schedules.verdicts(mine)) == {"withdrawn"}
    assert schedules.problems() == []
