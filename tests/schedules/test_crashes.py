"""A fire that dies at every step, and a week of fires with a scheduler that is killed at random."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from fix_cluster import Connection
from oracle.brute_cron import Rules, next_after
from schedule_kit import Clock, Firing, Schedules, minute

from pulse_runtime.ids import occurrence_id
from pulse_runtime.messages import Fire

TABLES = ("occurrence", "schedule_run", "log", "place", "delayed", "schedule")


STATE = """select md5(string_agg(x::text, ',' order by x::text)) from (
  select to_jsonb(o) from pulse.occurrence o union all select to_jsonb(s) from pulse.schedule s
  union all select to_jsonb(d) from pulse.delayed d union all select to_jsonb(l) from pulse.log l) x"""
FIRED = """select schedule_id, occurrence, job_id from pulse.occurrence
  where verdict in ('fired', 'late') and due_at <= %s"""


def fails_at(connection: Connection, table: str, when: str) -> None:
    """The fire dies as it writes to this table: the whole transaction is gone, as with the process that sent it."""
    connection.execute("""create or replace function public.die() returns trigger language plpgsql as
      $$ begin raise exception 'died' using errcode = '57P01'; end $$""")
    trigger = f"create trigger die {when} insert or update on pulse.{table} for each statement"
    connection.execute(f"{trigger} execute function public.die()".encode())


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("table", TABLES)
def test_a_fire_that_dies_at_a_step_leaves_nothing_and_is_done_again(
    schedules: Schedules, clock: Clock, firing: Firing, connection: Connection, table: str, when: str
) -> None:
    ids = [
        schedules.add("now", lookahead_s=0),
        schedules.add("ahead", lookahead_s=200),
        schedules.add("alone", overlap="skip"),
    ]
    firing.turn()
    clock.set(minute(1))
    before = schedules.ask(STATE)
    fails_at(connection, table, when)
    due = firing.look()
    assert due
    fires = firing.decide(due)
    assert fires
    assert all(firing.fire(each).refused for each in fires)
    assert schedules.ask(STATE) == before
    connection.execute(f"drop trigger die on pulse.{table}".encode())
    firing.start()
    firing.turn()
    assert [schedules.verdicts(each)[0] for each in ids] == ["fired"] * 3
    assert all(len(schedules.jobs(each)) == len(set(schedules.jobs(each))) for each in ids)
    assert schedules.problems() == []


def rules(
    minute: int, *hours: int, days: range | None = None, weekdays: range | None = None, fixed: bool = True
) -> Rules:
    return Rules(
        seconds=frozenset({0}), minutes=frozenset({minute}), hours=frozenset(hours), months=frozenset(range(1, 13)),
        days=None if days is None else frozenset(days), weekdays=None if weekdays is None else frozenset(weekdays),
        nth=None, either=False, fixed=fixed,
    )  # fmt: skip


# What the oracle is told in its own words, and how often it is drawn.
EXPRESSIONS = {
    "@hourly": (rules(0, *range(24), fixed=False), 1),
    "0 */6 * * *": (rules(0, 0, 6, 12, 18, fixed=False), 8),
    "30 2 * * *": (rules(30, 2), 8),
    "15 9 * * MON-FRI": (rules(15, 9, weekdays=range(1, 6)), 8),
    "0 0,12 * * *": (rules(0, 0, 12), 8),
    "5 4 * * SUN": (rules(5, 4, weekdays=range(1)), 4),
    "0 3 1-24 * *": (rules(0, 3, days=range(1, 25)), 8),
}
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
START = datetime(2026, 10, 23, 12, tzinfo=UTC)  # clocks go back in Europe on the 25th
DAYS = 7


def lossy_turn(firing: Firing, chance: random.Random) -> None:
    """A turn with two schedulers' messages lost, doubled and late, and one of them killed in between."""
    due = firing.look()
    if due is None:
        return
    fires: list[Fire] = firing.decide(due)
    while fires:
        fire = fires.pop(0)
        fate = chance.random()
        if fate < 0.1:
            firing.start()  # killed before it was sent
            return
        answer = firing.fire(fire)
        if fate < 0.2:
            firing.fire(fire)  # the reply was lost, and it was asked again
        elif fate < 0.3:
            firing.start()  # killed before it heard
            return
        fires += firing.answer(answer)


def test_a_week_of_a_thousand_schedules_with_the_scheduler_killed_at_random(connection: Connection) -> None:
    chance = random.Random(20261023)
    clock = Clock(connection, START)
    schedules, firing = Schedules(connection), Firing(connection, most=400)
    timings: dict[Any, tuple[str, str]] = {}
    weights = [weight for _, weight in EXPRESSIONS.values()]
    with connection.transaction():
        for number in range(1000):
            spec, tz = chance.choices(list(EXPRESSIONS), weights)[0], chance.choice(ZONES)
            ahead = chance.choice((0, 60, 3600))
            timings[
                schedules.add(f"s{number}", spec=spec, tz=tz, missed="all", missed_most=1000, lookahead_s=ahead)
            ] = (spec, tz)
    end = START + timedelta(days=DAYS)
    while clock.now < end:
        lossy_turn(firing, chance)
        if chance.random() < 0.1:
            clock.set(min(clock.now + timedelta(hours=chance.uniform(1, 9)), end))  # nobody is there for hours
        else:
            clock.set(min(clock.now + timedelta(minutes=chance.uniform(1, 90)), end))
    firing.turn()
    fired = connection.execute(FIRED, (end,)).fetchall()
    jobs = connection.execute("select id from pulse.log union all select id from pulse.delayed").fetchall()
    expected = {(each, at) for each, (spec, tz) in timings.items() for at in expected_of(spec, tz, end)}
    assert {(schedule, at) for schedule, at, _ in fired} == expected
    assert all(job == occurrence_id(schedule, at) for schedule, at, job in fired)
    assert max(Counter(jobs).values()) == 1
    assert schedules.problems() == []


@cache
def expected_of(spec: str, tz: str, end: datetime) -> list[datetime]:
    """By the oracle."""
    found = []
    at = next_after(EXPRESSIONS[spec][0], ZoneInfo(tz), START, days=DAYS + 2)
    while at is not None and at <= end:
        found.append(at)
        at = next_after(EXPRESSIONS[spec][0], ZoneInfo(tz), at, days=DAYS + 2)
    return found
