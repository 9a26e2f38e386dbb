"""Many schedules, several runtimes: who sees what, that nothing is left out, and that nothing fires twice."""

import json
from collections import Counter
from collections.abc import Callable
from uuid import UUID

import pytest
from fix_cluster import Connect, Connection
from schedule_kit import Clock, Firing, Schedules, minute

from pulse_runtime.ids import occurrence_id

COUNT = 30
Look = Callable[..., set[UUID]]


@pytest.fixture
def ids(schedules: Schedules, clock: Clock, firing: Firing) -> list[UUID]:
    """Schedules that are due, and were not a moment ago."""
    made = [schedules.add(f"s{number}", lookahead_s=0, id=UUID(int=number)) for number in range(COUNT)]
    firing.turn()
    clock.set(minute(1))
    return made


@pytest.fixture
def look(connection: Connection) -> Look:
    """What a runtime is told of."""

    def look(most: int, runtime: str, shards: int | None = None, shard: int | None = None) -> set[UUID]:
        asked = "select due from pulse.due_schedules(%s, %s, %s, %s)"
        row = connection.execute(asked.encode(), (most, runtime, shards, shard)).fetchone()
        assert row
        told = [UUID(each[0]) for each in row[0][1]] if row[0] else []
        assert len(told) == len(set(told))
        return set(told)

    return look


def register(schedules: Schedules, runtime: str) -> int:
    found: int = schedules.ask("select pulse.register_executor(%s, 'here', 'boot', 1)", runtime)
    return found


def test_each_schedule_is_in_one_part_and_the_parts_are_alike(ids: list[UUID], look: Look) -> None:
    parts = [look(1000, "any", 4, shard) for shard in range(4)]
    assert Counter(each for part in parts for each in part) == Counter(ids)
    assert all(parts)


def test_the_part_of_a_schedule_is_the_same_on_every_host(schedules: Schedules) -> None:
    # Written down: two versions of Pulse that run side by side must agree.
    ask = "select pulse.shard_of('018f3d5a-7c00-7000-8000-0000deadbeef', 7)"
    assert schedules.ask(ask) == 0xDEADBEEF % 7


def test_few_that_are_due_are_shown_to_everyone(schedules: Schedules, ids: list[UUID], look: Look) -> None:
    for runtime in ("a", "b"):
        register(schedules, runtime)
    assert look(COUNT + 1, "a") == look(COUNT + 1, "b") == set(ids)


def test_many_are_shared_out_among_the_runtimes_that_live(schedules: Schedules, ids: list[UUID], look: Look) -> None:
    executors = {runtime: register(schedules, runtime) for runtime in ("a", "b", "b", "c")}
    most = COUNT - 5
    parts = [look(most, runtime) for runtime in ("a", "b", "c")]
    assert Counter(each for part in parts for each in part) == Counter(ids)
    schedules.connection.execute("update pulse.executor set ended_at = now() where id = %s", (executors["c"],))
    parts = [look(most, runtime) for runtime in ("a", "b")]
    assert Counter(each for part in parts for each in part) == Counter(ids), "the others have its part"


@pytest.mark.parametrize("manual", [True, False])
def test_the_part_of_a_runtime_that_died_is_fired_by_another_after_three_seconds(
    schedules: Schedules, clock: Clock, ids: list[UUID], look: Look, *, manual: bool
) -> None:
    for runtime in ("a", "b"):
        register(schedules, runtime)  # b is dead, and nobody has noticed yet
    part = (2, 0) if manual else (None, None)
    mine = look(COUNT, "a", *part)
    assert 0 < len(mine) < COUNT
    clock.advance(seconds=2.9)
    assert look(COUNT, "a", *part) == mine
    clock.advance(seconds=0.2)
    assert look(COUNT, "a", *part) == set(ids)


def test_after_an_outage_each_runtime_begins_with_its_own_part(
    schedules: Schedules, clock: Clock, ids: list[UUID], look: Look
) -> None:
    for runtime in ("a", "b"):
        register(schedules, runtime)
    clock.advance(hours=1)
    parts = [look(10, runtime) for runtime in ("a", "b")]
    assert [len(part) for part in parts] == [10, 10]
    assert not parts[0] & parts[1]


def test_runtimes_that_count_the_shards_differently_fire_each_occurrence_once(
    schedules: Schedules, clock: Clock, connect: Connect, ids: list[UUID]
) -> None:
    """A rolling change from two shards to three: all five runtimes look before any of them fires."""
    crowd = [Firing(connect(), part=("any", shards, shard)) for shards in (2, 3) for shard in range(shards)]
    for number in (1, 2):
        clock.set(minute(number))
        seen = [firing.look() for firing in crowd]
        told = Counter(each[0] for due in seen if due for each in json.loads(due)[1])
        assert set(told.values()) == {2}, "each is in a part of both"
        for firing, due in zip(crowd, seen, strict=True):
            for fire in firing.decide(due) if due else []:
                firing.fire(fire)
            firing.start()
    for each in ids:
        assert schedules.jobs(each) == [(occurrence_id(each, minute(n)), minute(n)) for n in (1, 2)]
    assert schedules.problems() == []
