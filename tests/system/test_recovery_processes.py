"""Processes killed, stopped and replaced under load: nothing is lost, and nobody notices who need not."""

import contextlib
import signal
import time

import psutil
import pytest
from embedded_kit import ask, eventually
from faults.proxy import FaultProxy
from runtime_kit import Runtime
from scene_kit import ACTORS, BOOT_S, SHORT, Scene, descriptors, freeze, said


def test_any_actor_can_be_killed_under_load_and_nothing_is_lost_or_left_behind(scene: Scene) -> None:
    with scene.runtime() as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        scene.producer.send("work", count=10)
        assert scene.finishes(10)
        before, processes = descriptors(runtime), len(runtime.processes())
        with scene.flow(ms=200):
            for actor in ACTORS:
                assert scene.endings() == [], "only an executor's death, the last of these, makes jobs run again"
                assert eventually(lambda: scene.held_by(runtime, "executor-1") >= 2, within_s=10), "jobs are in flight"
                mark = runtime.log.mark()
                pid = runtime.kill(actor)
                runtime.wait_for("child ready", child=actor, after=mark, within_s=10)
                assert runtime.pid_of(actor, other_than=pid)
                (after,) = scene.producer.send("work", {"ms": 1}, priority=9)
                assert scene.completes(after, within_s=10)
        assert scene.finishes(15)
        assert scene.endings() == ["suspect"]
        assert scene.most_charged() == 0
        assert eventually(lambda: descriptors(runtime) == before, within_s=5), (before, descriptors(runtime))
        assert len(runtime.processes()) == processes
        assert runtime.stop() == 0
        assert runtime.processes() == []
    assert scene.problems() == []


def test_a_stopped_executor_is_killed_before_its_lease_lapses_and_its_jobs_are_not_charged(scene: Scene) -> None:
    with scene.runtime(**SHORT) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        scene.hold(20)
        assert scene.all_run(20)
        mark = runtime.log.mark()
        pid = runtime.kill("executor-1", signal.SIGSTOP)
        killed = runtime.wait_for("child killed", child="executor-1", after=mark, within_s=5)
        assert killed["why"].startswith("silent for")
        scene.gate.touch()
        assert runtime.pid_of("executor-1", other_than=pid)
        assert scene.finishes(15)
        assert (scene.endings(), scene.most_charged()) == (["lost"], 0)
        assert runtime.stop() == 0
    assert scene.problems() == []


def test_a_stopped_reporter_is_replaced_before_anyone_reaps_and_no_job_runs_twice(scene: Scene) -> None:
    """A lease of 8 s leaves 2 s to start another one on a busy machine; 30 s, the default, leave more."""
    with (
        scene.runtime(name="stopped", lease="8s") as runtime,
        scene.runtime(name="watching", executors=1, lease="8s") as watching,
    ):
        runtime.wait_for("tree up", within_s=BOOT_S)
        watching.wait_for("tree up", within_s=BOOT_S)
        scene.producer.send("work", {"ms": 8500}, count=30)
        assert scene.flies(30)
        assert scene.held_by(runtime, "executor-1") == 10
        began = time.monotonic()
        runtime.kill("reporter-1", signal.SIGSTOP)
        killed = runtime.wait_for("child killed", child="reporter-1", within_s=8)
        assert killed["why"].startswith("silent for")
        assert scene.finishes(20)
        assert time.monotonic() - began > 8.0, "longer than the lease"
        assert (scene.endings(), said(watching, "executor reaped")) == ([], [])
        assert (runtime.stop(), watching.stop()) == (0, 0)
    assert scene.problems() == []


def test_a_frozen_host_is_reaped_and_what_it_says_after_the_thaw_changes_nothing(scene: Scene) -> None:
    with (
        scene.runtime(name="frozen", executors=1, **SHORT) as frozen,
        scene.runtime(name="alive", executors=1, **SHORT) as alive,
    ):
        frozen.wait_for("tree up", within_s=BOOT_S)
        alive.wait_for("tree up", within_s=BOOT_S)
        scene.hold(20)
        assert scene.all_run(20)
        assert scene.held_by(frozen, "executor-1") == 10
        freeze(frozen, signal.SIGSTOP)
        alive.wait_for("executor reaped", within_s=10)
        scene.gate.touch()
        assert scene.finishes(15)
        assert scene.endings() == ["lost"]
        mark, thaw = frozen.log.mark(), time.monotonic_ns()
        victim = frozen.pid_of("executor-1")
        freeze(frozen, signal.SIGCONT)
        frozen.wait_for("registered", after=mark, within_s=15)
        assert [run for run in scene.runs() if run.pid == victim and run.start > thaw] == [], "it starts nothing more"
        scene.producer.send("work", {"ms": 50}, count=30)
        assert scene.finishes(15)
        assert scene.most_charged() == 0
        assert (frozen.stop(), alive.stop()) == (0, 0)
    assert scene.problems() == []


def test_a_stopped_supervisor_that_goes_on_kills_nobody(scene: Scene) -> None:
    with scene.runtime(**SHORT) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        before = runtime.pids()
        with scene.flow():
            assert scene.flies(1)
            runtime.kill("supervisor", signal.SIGSTOP)
            time.sleep(4.0)  # longer than an actor may be silent
            runtime.kill("supervisor", signal.SIGCONT)
            time.sleep(1.0)
        assert runtime.pids() == before
        assert scene.finishes(10)
        assert runtime.stop() == 0
    assert scene.problems() == []


def test_a_claimer_killed_right_after_its_commit_leaves_a_batch_that_its_executor_still_gets(scene: Scene) -> None:
    with FaultProxy(scene.dsn) as proxy, scene.runtime(through=proxy, executors=1) as runtime:
        runtime.wait_for("registered", within_s=BOOT_S)
        runtime.wait_for("tree up", within_s=BOOT_S)
        ask(scene.dsn, "select pulse.pause(null, 'me', 'so that the next claim finds something')")
        runtime.wait_for("paused", within_s=5)
        scene.producer.send("work", {"ms": 10}, count=5)
        trap = proxy.swallow("pulse.claim(")
        proxy.refuse()  # it cannot ask again
        ask(scene.dsn, "select pulse.resume(null)")
        assert trap.wait(within_s=10).is_committed
        assert scene.in_flight() == 5, "claimed, committed, and nobody knows"
        mark = runtime.log.mark()
        runtime.kill("claimer-1")
        proxy.heal()
        runtime.wait_for("child ready", child="claimer-1", after=mark, within_s=10)
        assert scene.finishes(10)
        assert scene.endings() == []
        assert said(runtime, "claim released") == [], "it was delivered, not given back"
        assert runtime.stop() == 0
    assert scene.problems() == []


def test_what_outlives_the_grace_runs_again_and_is_neither_charged_nor_suspected(scene: Scene) -> None:
    with scene.runtime(executors=1, grace="200ms") as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        (alone,) = scene.hold(1)
        assert scene.flies(1)
        assert runtime.stop() == 0
        assert scene.in_flight() == 0
    scene.gate.touch()
    with scene.runtime(executors=1) as again:
        assert scene.finishes(15)
        assert (scene.endings(), scene.most_charged()) == (["lost"], 0)
        assert scene.ask(f"select bool_or(suspect) from pulse.log where id = '{alone}'") is False
        assert again.stop() == 0
    assert scene.problems() == []


def test_a_killed_supervisor_leaves_no_orphans_and_its_next_life_runs_its_jobs(scene: Scene) -> None:
    with contextlib.ExitStack() as lives:
        runtime = lives.enter_context(scene.runtime())
        runtime.wait_for("tree up", within_s=BOOT_S)
        with scene.flow(ms=300):
            assert scene.flies(8)
            runtime.kill("supervisor")
            again = lives.enter_context(scene.runtime())  # at once: whoever is on his way out is waited for
            assert eventually(lambda: runtime.processes() == [], within_s=5)
        again.wait_for("took over", within_s=10)
        assert scene.finishes(15)
        assert (scene.endings(), scene.most_charged()) == (["lost"], 0)
        assert again.stop() == 0
    assert scene.problems() == []


def test_a_second_sigterm_ends_it_within_three_seconds_and_the_next_life_has_its_jobs(scene: Scene) -> None:
    with scene.runtime(executors=1, grace="30s") as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        scene.hold(3)
        assert scene.flies(3)
        runtime.kill("supervisor", signal.SIGTERM)
        runtime.wait_for("draining", within_s=5)
        began = time.monotonic()
        runtime.stop(within_s=5)
        assert time.monotonic() - began <= 3.5
        assert runtime.processes() == []
    scene.gate.touch()
    with scene.runtime(executors=1) as again:
        assert scene.finishes(15)
        assert (scene.endings(), scene.most_charged()) == (["lost"], 0)
        assert again.stop() == 0
    assert scene.problems() == []


def test_a_rolling_restart_under_load_loses_charges_and_repeats_nothing(scene: Scene) -> None:
    with scene.runtime() as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        before = runtime.pids()
        with scene.flow(ms=50):
            assert scene.flies(1)
            runtime.kill("supervisor", signal.SIGHUP)
            for actor in ("executor-1", "executor-2"):
                assert runtime.pid_of(actor, other_than=before[actor], within_s=10)
        assert scene.finishes(15)
        assert scene.endings() == []
        assert runtime.stop() == 0
    assert scene.problems() == []


def test_a_second_runtime_of_the_same_name_is_refused_and_the_first_is_not_disturbed(scene: Scene) -> None:
    with scene.runtime(executors=1) as first:
        first.wait_for("registered", within_s=BOOT_S)
        before = first.pids()
        scene.hold(3)
        assert scene.flies(3)
        with scene.runtime(executors=1) as second:
            assert second.wait(within_s=15) == 4
            assert "running already" in second.log.tail()
        assert scene.in_flight() == 3, "they run on while the other one is refused"
        scene.gate.touch()
        assert scene.finishes(10)
        assert first.pids() == before
        assert scene.endings() == []
        assert first.stop() == 0
    assert scene.problems() == []


@pytest.mark.long
def test_two_hundred_executor_restarts_leave_no_descriptor_and_no_growth(scene: Scene) -> None:
    with scene.runtime(executors=4, concurrency=2) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        scene.producer.send("work", count=20)
        assert scene.finishes(10)
        _roll(runtime, 2)  # what grows once, has grown
        before, memory = descriptors(runtime), _memory(runtime)
        with scene.flow(count=1, every_s=0.2):
            _roll(runtime, 50)
        assert scene.finishes(15)
        assert eventually(lambda: descriptors(runtime) == before, within_s=5), (before, descriptors(runtime))
        after = _memory(runtime)
        grown = {actor: after[actor] - memory[actor] for actor in memory if not actor.startswith("executor")}
        assert all(mib < 8.0 for mib in grown.values()), grown
        assert scene.endings() == []
        assert runtime.stop() == 0
    assert scene.problems() == []


def _roll(runtime: Runtime, times: int) -> None:
    for _ in range(times):
        mark = runtime.log.mark()
        runtime.kill("supervisor", signal.SIGHUP)
        for number in range(1, 5):
            runtime.wait_for("child ready", child=f"executor-{number}", after=mark, within_s=30)


def _memory(runtime: Runtime) -> dict[str, float]:

    return {actor: psutil.Process(pid).memory_info().rss / 2**20 for actor, pid in runtime.pids().items()}
