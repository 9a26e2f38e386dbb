"""What a schedule is told besides when: missed fires, overlap, ends, delivery, failures."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from fix_cluster import Connection
from schedule_kit import Clock, Firing, Schedules, minute
from store_kit import Store

from pulse_runtime.ids import occurrence_id


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


@pytest.mark.parametrize(
    ("options", "verdicts"),
    [
        ({}, ["missed"] * 4 + ["late"]),
        ({"missed": "none"}, ["missed"] * 5),
        ({"missed": "all"}, ["late"] * 5),
        ({"missed": "all", "missed_most": 2}, ["missed"] * 3 + ["late"] * 2),
        ({"missed": "all", "within_s": 149}, ["missed"] * 3 + ["late"] * 2),
        ({"missed": "latest", "within_s": 10}, ["missed"] * 5),
    ],
)
def test_what_was_missed_fires_by_policy(
    schedules: Schedules, clock: Clock, firing: Firing, options: dict[str, Any], verdicts: list[str]
) -> None:
    late = schedules.add(lookahead_s=0, **options)
    firing.turn()
    clock.set(minute(5.5))
    firing.turn()
    assert schedules.ledger(late) == list(zip([minute(n) for n in range(1, 6)], verdicts, strict=True))
    firing.each_minute(clock, 6, 7)
    assert schedules.verdicts(late)[5:] == ["fired", "fired"]
    assert schedules.problems() == []


def test_an_occurrence_in_time_stands_for_those_that_were_missed(
    schedules: Schedules, clock: Clock, firing: Firing
) -> None:
    late = schedules.add(lookahead_s=0)
    firing.turn()
    clock.set(minute(5) + timedelta(seconds=3))
    firing.turn()
    assert schedules.verdicts(late) == ["missed"] * 4 + ["fired"]


def test_one_that_is_fired_ahead_does_not_stand_for_those_that_were_missed(
    schedules: Schedules, clock: Clock, firing: Firing
) -> None:
    ahead = schedules.add(lookahead_s=3600)
    firing.each_minute(clock, 1, 1)
    clock.advance(hours=2, seconds=30)
    firing.turn()
    verdicts = schedules.verdicts(ahead)
    assert (verdicts[60], verdicts[61], verdicts[119:122]) == ("fired", "missed", ["missed", "late", "fired"])
    assert verdicts.count("late") == 1
    assert schedules.problems() == []


@pytest.mark.parametrize(("within_s", "verdict"), [(5, "missed"), (9, "fired")])
def test_nothing_fires_later_than_it_may(
    schedules: Schedules, clock: Clock, firing: Firing, within_s: float, verdict: str
) -> None:
    late = schedules.add(lookahead_s=0, within_s=within_s)
    firing.turn()
    clock.set(minute(1) + timedelta(seconds=8))
    firing.turn()
    assert schedules.verdicts(late) == [verdict]


def test_missed_fires_are_paced(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    paced = schedules.add(lookahead_s=0, missed="all", missed_pace_s=7)
    firing.turn()
    clock.set(minute(4.5))
    firing.turn()
    assert schedules.verdicts(paced) == ["late"] * 4
    delays = schedules.ask("select array_agg(run_at - %s order by run_at) from pulse.delayed", clock.now)
    assert delays == [timedelta(seconds=7 * n) for n in (1, 2, 3)]


def test_a_backlog_longer_than_one_look_drains_in_one_turn(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    each_second = schedules.add(spec="* * * * * *", lookahead_s=0)
    each_minute = schedules.add("m", lookahead_s=0)
    firing.turn()
    clock.advance(hours=2)
    firing.turn()
    verdicts = schedules.verdicts(each_second)
    assert (len(verdicts), verdicts.count("missed")) == (7200, 7200 - 11), "those of the last ten seconds are in time"
    assert schedules.verdicts(each_minute).count("missed") == 119
    assert schedules.problems() == []


def test_what_is_older_than_the_history_is_one_row(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    each_hour = schedules.add(spec="@hourly", lookahead_s=0)
    firing.turn()
    clock.advance(days=40)
    firing.turn()
    verdicts = schedules.verdicts(each_hour)
    assert len(verdicts) == 1 + 30 * 24
    assert "all others" in (schedules.reasons(each_hour)[0] or "")


def test_runs_that_must_not_overlap_are_skipped(
    schedules: Schedules, clock: Clock, firing: Firing, store: Store
) -> None:
    alone = schedules.add(overlap="skip")
    firing.each_minute(clock, 1, 2)
    assert schedules.verdicts(alone) == ["fired", "skipped"]
    (batch,) = store.claim()
    firing.each_minute(clock, 3, 3)
    store.settle(batch)
    firing.each_minute(clock, 4, 4)
    assert schedules.verdicts(alone) == ["fired", "skipped", "skipped", "fired"]
    assert schedules.reasons(alone) == [None, "overlap", "overlap", None]


@pytest.mark.parametrize("how", ["settle", "dead", "cancel"])
def test_however_a_run_ends_the_next_may_begin(
    schedules: Schedules, clock: Clock, firing: Firing, store: Store, how: str
) -> None:
    alone = schedules.add(overlap="skip")
    firing.each_minute(clock, 1, 1)
    if how == "cancel":
        schedules.ask("select pulse.cancel(%s)", schedules.jobs(alone)[0][0])
    elif how == "settle":
        store.settle(store.claim()[0])
    else:
        store.close(store.claim()[0], "dead")
    firing.each_minute(clock, 2, 2)
    assert schedules.verdicts(alone) == ["fired", "fired"]
    assert schedules.problems() == []


def test_one_occurrence_waits_for_the_run_to_end(
    schedules: Schedules, clock: Clock, firing: Firing, store: Store
) -> None:
    queued = schedules.add(overlap="queue_one")
    firing.each_minute(clock, 1, 3)
    assert schedules.verdicts(queued) == ["fired", "queued", "skipped"]
    store.settle(store.claim()[0])
    clock.advance(seconds=5)
    firing.turn()
    assert schedules.verdicts(queued) == ["fired", "late", "skipped"]
    assert len(schedules.jobs(queued)) == 2
    firing.each_minute(clock, 4, 4)
    assert schedules.verdicts(queued)[3:] == ["queued"], "the one that waited runs now"
    assert schedules.problems() == []


def test_when_the_one_that_waited_begins_with_the_next_one_due_that_one_waits(
    schedules: Schedules, clock: Clock, firing: Firing, store: Store
) -> None:
    queued = schedules.add(overlap="queue_one")
    firing.each_minute(clock, 1, 2)
    store.settle(store.claim()[0])
    firing.each_minute(clock, 3, 3)
    assert schedules.verdicts(queued) == ["fired", "late", "queued"]
    store.settle(store.claim()[0])
    clock.advance(seconds=5)
    firing.turn()
    assert schedules.verdicts(queued) == ["fired", "late", "fired"]
    assert schedules.problems() == []


@pytest.mark.parametrize("lookahead_s", [0, 150])
def test_the_end_comes_after_so_many_fires(
    schedules: Schedules, clock: Clock, firing: Firing, lookahead_s: int
) -> None:
    three = schedules.add(max_fires=3, lookahead_s=lookahead_s)
    firing.each_minute(clock, 1, 6)
    assert schedules.verdicts(three) == ["fired"] * 3
    assert schedules.row(three)["ended_at"] is not None
    assert firing.look() is None


@pytest.mark.parametrize("lookahead_s", [0, 150])
def test_nothing_fires_after_the_end(schedules: Schedules, clock: Clock, firing: Firing, lookahead_s: int) -> None:
    until = schedules.add(until=minute(3), lookahead_s=lookahead_s)
    firing.each_minute(clock, 1, 6)
    assert schedules.ledger(until) == [(minute(n), "fired") for n in (1, 2, 3)]
    assert schedules.row(until)["ended_at"] is not None
    schedules.ask("select pulse.edit_schedule(%s, '{\"until\": null}')", until)
    firing.each_minute(clock, 7, 8)
    assert [occurrence for occurrence, _ in schedules.ledger(until)[3:]] >= [minute(7), minute(8)]


def test_jitter_moves_the_fire_and_not_its_name(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    ids = [schedules.add(f"s{n}", jitter=0.5, lookahead_s=0) for n in range(8)]
    for _ in range(40):
        firing.turn()
        clock.advance(seconds=5)
    dues = schedules.connection.execute(
        "select occurrence, due_at, decided_at from pulse.occurrence where occurrence >= %s", (minute(1),)
    ).fetchall()
    assert all(abs(due - occurrence) <= timedelta(seconds=30) for occurrence, due, _ in dues)
    assert all(due <= decided <= due + timedelta(seconds=5) for _, due, decided in dues)
    # Of 60,000 shifts two may be the same, as they are in one run of 200; two pairs, in one of 80,000.
    assert len({due - occurrence for occurrence, due, _ in dues}) >= len(dues) - 1
    assert all(occurrence.second == 0 for each in ids for occurrence, _ in schedules.ledger(each))


def test_an_occurrence_that_jitter_names_before_it_was_made_is_not_late(
    schedules: Schedules, clock: Clock, firing: Firing
) -> None:
    """Every evening, give or take half a day: some made at noon were due in the morning."""
    for n in range(12):
        schedules.add(f"s{n}", spec="0 18 * * *", jitter=0.5, missed="none", lookahead_s=0, id=UUID(int=n))
    firing.turn()
    told = schedules.connection.execute("select distinct verdict, due_at < decided_at from pulse.occurrence").fetchall()
    assert told == [("fired", True)]


@pytest.mark.parametrize(
    ("ending", "again"),
    [
        ("lost", False),
        ("suspect", False),
        ("crash", False),
        ("fail", False),
        ("dead", False),
        ("release", True),
        ("put_off", True),
    ],
)
def test_a_tick_that_may_have_started_is_not_delivered_again(
    schedules: Schedules, clock: Clock, firing: Firing, store: Store, ending: str, again: bool
) -> None:
    once = schedules.add(delivery="at_most_once")
    firing.each_minute(clock, 1, 1)
    (batch,) = store.claim()
    store.close(batch, ending)
    assert bool(store.claim()) is again
    firing.turn()
    assert schedules.verdicts(once)[0] == ("lost" if ending in ("lost", "suspect", "crash") else "fired")
    assert schedules.problems() == []


def test_a_loss_adds_to_what_is_known_of_the_occurrence(
    schedules: Schedules, clock: Clock, firing: Firing, store: Store
) -> None:
    once = schedules.add(delivery="at_most_once", spec="@yearly")
    schedules.ask("select pulse.run_schedule(%s, 'me')", once)
    store.close(store.claim()[0], "lost")
    firing.turn()
    assert schedules.verdicts(once) == ["lost"]
    assert schedules.reasons(once) == ["run now by me: it broke"]


def test_final_failures_in_a_row_pause_the_schedule_with_the_reason(
    schedules: Schedules, clock: Clock, firing: Firing, store: Store
) -> None:
    failing = schedules.add(pause_after=3, lookahead_s=150)
    for number, ending in enumerate(["dead", "dead", "settle", "dead", "fail", "dead", "dead"], start=1):
        firing.each_minute(clock, number, number)
        (batch,) = store.claim(1)
        if ending == "settle":
            store.settle(batch)
        else:
            store.close(batch, ending, delay_ms=86_400_000)
    assert schedules.row(failing)["paused_at"] is None
    firing.turn()
    row = schedules.row(failing)
    assert row["pause_reason"] == "3 final failures in a row; the last: it broke"
    assert schedules.ask("select count(*) from pulse.delayed where attempt = 1") == 0, "what was ahead is withdrawn"
    firing.each_minute(clock, 8, 9)
    assert schedules.verdicts(failing)[7:] == ["skipped", "skipped"]
    tally = schedules.ask("select to_jsonb(t) from pulse.schedules t where id = %s", failing)
    assert (tally["succeeded"], tally["failed"], tally["failures"], tally["status"]) == (1, 5, 3, "PAUSED")
    assert tally["retry_at"] is not None
    schedules.ask("select pulse.resume_schedule(%s)", failing)
    firing.each_minute(clock, 10, 10)
    assert schedules.verdicts(failing)[9] == "fired"
    assert schedules.problems() == []


@pytest.mark.parametrize(("options", "most"), [({}, 10), ({"pause_after": 4}, 4), ({"pause_after": 0}, None)])
def test_so_many_final_failures_pause_it_and_retries_do_not_count(
    schedules: Schedules, clock: Clock, firing: Firing, options: dict[str, Any], most: int | None
) -> None:
    failing = schedules.add(lookahead_s=0, **options)
    ended = """insert into pulse.schedule_ending
      select %s, %s, %s, e, 'it broke' from generate_series(1, %s), unnest(%s::text[]) e"""

    def end(count: int, *endings: str) -> bool:
        clock.advance(seconds=1)
        schedules.connection.execute(ended, (failing, minute(0), clock.now, count, list(endings)))
        firing.turn()
        return schedules.row(failing)["paused_at"] is not None

    assert not end(200, "failed", "canceled")
    assert not end((most or 100) - 1, "dead")
    assert not end(1, "completed")
    assert not end((most or 100) - 1, "lost")
    assert end(1, "dead") is (most is not None)
    schedules.ask("select pulse.resume_schedule(%s)", failing)
    assert not end((most or 100) - 1, "dead"), "counted from none after a resume"
    assert end(1, "dead") is (most is not None)


def test_a_stranger_cannot_pause_a_schedule_by_failing_in_its_name(
    schedules: Schedules, clock: Clock, firing: Firing, store: Store
) -> None:
    mine = schedules.add(pause_after=3, lookahead_s=0)
    for _ in range(5):
        store.enqueue(schedule_id=mine, occurrence=minute(1))
        store.close(store.claim()[0], "dead")
    firing.turn()
    assert schedules.row(mine)["paused_at"] is None
    assert {finding for finding, _, _ in schedules.problems()} == {"a job of a schedule without its occurrence"}


def test_a_squatter_on_all_ids_to_come_delays_nothing(schedules: Schedules, clock: Clock, firing: Firing) -> None:
    mine = schedules.add(lookahead_s=200)
    for number in range(1, 9):
        job = occurrence_id(mine, minute(number))
        schedules.ask("select pulse.enqueue(kind => 'evil', run_at => '2100-01-01', id => %s, tenant => 'evil')", job)
    for number in range(1, 4):
        firing.each_minute(clock, number, number)
        assert schedules.ledger(mine) == [(minute(n), "fired") for n in range(1, number + 1)]
        assert firing.look() is None, "nor is it looked at all the time"
    assert len(schedules.jobs(mine)) == 3
