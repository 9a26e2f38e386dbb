"""Executors as processes: every end that a handler can choose, on uvloop and on trio."""

from typing import Any

import psycopg
import pytest
from embedded_kit import ask, eventually
from executor_kit import LOOPS
from scene_kit import BOOT_S, Scene, said

loops = pytest.mark.parametrize("loop", LOOPS)
FAILING = {
    "slow": "TimeoutError: it did not end within 0.2 s",
    "exits": "SystemExit: 0",
    "exits_in_a_thread": "SystemExit: 0",
    "odd": "result: it cannot be written as JSON: object is unknown to it",
    "large": "it has 50000002 bytes as JSON and may have 1048576",
    "typed": "Expected `int`, got `str` - at `$.n`",
}
"""With what their jobs fail."""


def enqueue(scene: Scene, kind: str, args: str = "{}", **options: Any) -> str:
    said = "".join(f", {name} => '{value}'" for name, value in options.items())
    return str(ask(scene.dsn, f"select pulse.enqueue(kind => '{kind}', args => '{args}'{said})"))


def stands(scene: Scene, kind: str) -> tuple[Any, ...]:
    """Status, attempt, charged and last error of the one job of a kind."""
    row = "(status, attempt, charged, split_part(last_error, E'\\n', 1))"
    found = scene.ask(f"select array_agg({row}::text) from pulse.jobs where kind = '{kind}'")
    assert len(found) == 1
    return tuple(found[0].strip("()").replace('"', "").split(","))


@loops
def test_every_end_that_a_handler_chooses_is_what_its_job_comes_to(scene: Scene, loop: str) -> None:
    with scene.runtime(handlers="apps.ends_jobs", loop=loop, executors=2) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        parent = enqueue(scene, "parent", queue="default")
        patient = enqueue(scene, "patient")
        program = enqueue(scene, "calls_a_program")
        for kind in ("shaky", "sleepy", "unwanted", "hopeless", "picky"):
            enqueue(scene, kind)
        for kind in FAILING:
            enqueue(scene, kind, '{"n": "two"}' if kind == "typed" else "{}", max_attempts=1)
        assert eventually(lambda: scene.unfinished() == 1, within_s=20)
        assert ask(scene.dsn, f"select pulse.cancel('{patient}', reason => 'enough')") == "RUNNING"
        assert scene.finishes(10)
        assert not said(runtime, "executor buried"), "nobody's end was that of its executor"
        assert runtime.stop() == 0
    assert stands(scene, "patient") == ("CANCELED", "1", "0", "enough")
    assert scene.ask(f"select note from pulse.progress where id = '{patient}'") == "cleaned up"
    assert scene.ask(f"select result from pulse.result where id = '{program}'") == "hello"
    result = scene.ask(f"select result from pulse.result where id = '{parent}'")
    assert result == {"queue": "default", "attempt": 1}
    told = scene.ask(f"select row_to_json(p) from pulse.progress p where id = '{parent}'")
    assert (told["attempt"], told["done"], told["total"], told["note"]) == (1, 1, 2, "half of it")
    assert stands(scene, "shaky") == ("COMPLETED", "2", "1", "ConnectionError: at first")
    assert stands(scene, "sleepy")[:3] == ("COMPLETED", "3", "0")
    assert stands(scene, "unwanted") == ("CANCELED", "1", "0", "nobody wants it")
    assert stands(scene, "hopeless") == ("DEAD_LETTERED", "1", "1", "it can never work")
    assert stands(scene, "picky") == ("DEAD_LETTERED", "1", "1", "KeyError: 'no such customer'")
    for kind, why in FAILING.items():
        status, attempt, charged, *error = stands(scene, kind)
        assert (status, attempt, charged) == ("DEAD_LETTERED", "1", "1")
        assert why in ",".join(error), kind
    children = "select array_agg((args ->> 'n')::int order by (args ->> 'n')::int) from pulse.jobs where kind = 'child'"
    assert scene.ask(children) == [1, 2, 20, 30], "and none of the attempt of shaky that failed"


def test_a_follow_up_whose_key_someone_holds_makes_no_neighbour_wait(scene: Scene) -> None:
    together = "select count(pulse.enqueue(kind => k)) from unnest(array['child', 'follows', 'child']) k"
    with scene.runtime(handlers="apps.ends_jobs", executors=1) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        with psycopg.connect(scene.dsn) as producer:
            producer.execute("select pulse.enqueue(kind => 'child', key => 'held')")
            assert ask(scene.dsn, together) == 3
            assert eventually(lambda: scene.unfinished() == 1, within_s=10)
            assert stands(scene, "follows")[0] == "RUNNING", "its outcome waits for the key"
            producer.rollback()
        assert scene.finishes(10)
        assert ask(scene.dsn, "select count(*) from pulse.jobs where args ->> 'n' = '50'") == 1
        assert runtime.stop() == 0
    assert stands(scene, "follows")[:3] == ("COMPLETED", "1", "0")


def test_a_kind_that_nobody_has_waits_for_a_runtime_that_has_it(scene: Scene) -> None:
    with scene.runtime(handlers="apps.history_jobs", executors=1, name="old") as old:
        old.wait_for("tree up", within_s=BOOT_S)
        enqueue(scene, "child", max_attempts=1)
        assert eventually(lambda: scene.ask("select count(*) from pulse.delayed") == 1, within_s=10)
        assert old.stop() == 0
    assert stands(scene, "child")[:3] == ("PENDING", "1", "0")
    with scene.runtime(handlers="apps.ends_jobs", executors=1, name="new") as new:
        new.wait_for("tree up", within_s=BOOT_S)
        assert scene.finishes(20)
        kinds = "select array_agg(distinct k order by k) from pulse.executor, unnest(kinds) k where runtime = 'new'"
        assert "child" in scene.ask(kinds)
        assert new.stop() == 0
    assert stands(scene, "child")[:3] == ("COMPLETED", "1", "0")


@loops
def test_whoever_cannot_be_ended_otherwise_ends_with_its_executor_and_is_named(scene: Scene, loop: str) -> None:
    args = ["--cleanup", "0.5s"]
    with scene.runtime(handlers="apps.ends_jobs", executors=1, loop=loop, args=args) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        enqueue(scene, "stuck", '{"seconds": 60}', max_attempts=1)
        enqueue(scene, "neighbour", '{"seconds": 1.5}')
        runtime.wait_for("executor retires", within_s=10)
        assert eventually(lambda: "DEAD_LETTERED" in stands(scene, "stuck"), within_s=10)
        assert stands(scene, "neighbour")[:3] == ("COMPLETED", "1", "0"), "it was waited for"
        enqueue(scene, "stubborn", max_attempts=1)
        assert eventually(lambda: "DEAD_LETTERED" in stands(scene, "stubborn"), within_s=10)
        assert runtime.stop() == 0
    for kind in ("stuck", "stubborn"):
        why = stands(scene, kind)[3]
        assert why.startswith("its executor was killed: a handler goes on although its time was up")


@pytest.mark.parametrize(("loop", "limit"), [("uvloop", "--max-memory=130MiB"), ("trio", "--max-jobs=25")])
def test_replacing_executors_that_have_grown_or_aged_loses_and_repeats_nothing(
    scene: Scene, loop: str, limit: str
) -> None:
    with scene.runtime(executors=2, concurrency=3, loop=loop, args=[limit]) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        with scene.flow(ms=5.0, count=2):
            scene.producer.send("grow", {"mib": 20}, count=40)  # a life takes five to eight of them
            assert eventually(lambda: len(said(runtime, "executor retires")) >= 3, within_s=20)
        assert scene.finishes(30)
        assert runtime.stop() == 0
    assert scene.problems() == []
    assert scene.endings() == [], "every job has run once, and that was that"


def test_an_executor_over_the_hard_limit_is_killed_by_name(scene: Scene) -> None:
    with scene.runtime(executors=1, args=["--hard-memory", "300MiB"]) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        scene.producer.send("grow", {"mib": 400})
        runtime.wait_for("executor buried", within_s=15)
        assert scene.finishes(20)
        assert runtime.stop() == 0
    assert scene.problems() == []
    assert scene.endings() == ["crash"]
    why = str(scene.ask("select error from pulse.failure"))
    assert why.startswith("its executor was killed: its memory of ")
    assert why.endswith(" is over the limit of 300 MiB")
