"""The runtime as a whole: real processes, real signals, a real Postgres; the checker proves each history."""

import signal
from pathlib import Path

import pytest
from checker.check import check
from checker.database import read_database
from checker.history import read_history
from checker.producer import Producer
from checker.record import Recorder
from cluster_kit import Cluster
from embedded_kit import ask, eventually
from runtime_kit import Flags, Runtime

ACTORS = ["claimer-1", "reporter-1", "heartbeat-1", "scheduler-1", "watchdog-1", "executor-1"]


class Scene:
    """A database, a producer, a history file, and runtimes on them."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self.dsn = dsn
        self.file = folder / "history.jsonl"
        self.producer = Producer(dsn, Recorder(self.file))

    def runtime(self, **flags: object) -> Runtime:
        return Runtime(self.dsn, flags=Flags(**{"executors": 2, **flags}), history=self.file)  # type: ignore[arg-type]

    def in_flight(self) -> int:
        return int(ask(self.dsn, "select coalesce(sum(bit_count(open)), 0) from pulse.lease"))

    def unfinished(self) -> int:
        statuses = "'COMPLETED', 'DEAD_LETTERED', 'CANCELED'"
        return int(ask(self.dsn, f"select count(*) from pulse.jobs where status not in ({statuses})"))

    def finishes(self, within_s: float) -> bool:
        return eventually(lambda: self.unfinished() == 0, within_s=within_s)

    def problems(self) -> list[str]:
        return check(read_history(self.file, read_database(self.dsn)))


@pytest.fixture
def scene(dsn: str, tmp_path: Path) -> Scene:
    return Scene(dsn, tmp_path)


def test_jobs_are_run_and_only_claimer_and_reporter_hold_connections(scene: Scene) -> None:
    with scene.runtime() as runtime:
        runtime.wait_for("tree up", within_s=20)
        scene.producer.send("work", {"ms": 1}, count=50)
        scene.producer.send("fail_then_succeed", {"times": 1}, count=3)
        assert scene.finishes(20)
        names = "select array_agg(distinct split_part(application_name, ' ', 1)) from pg_stat_activity"
        connected = ask(scene.dsn, f"{names} where datname = current_database() and application_name like 'pulse:%'")
        assert connected == ["pulse:claimer", "pulse:reporter"]
        assert runtime.stop() == 0
    assert scene.problems() == []


@pytest.mark.parametrize("actor", ACTORS)
def test_any_actor_can_be_killed_and_nothing_is_lost(scene: Scene, actor: str) -> None:
    with scene.runtime() as runtime:
        runtime.wait_for("tree up", within_s=20)
        scene.producer.send("work", {"ms": 100}, count=60)
        assert eventually(lambda: scene.in_flight() >= 10, within_s=10), "jobs must be in flight"
        mark = runtime.log.mark()
        pid = runtime.kill(actor)
        runtime.wait_for("child ready", child=actor, after=mark, within_s=10)
        assert runtime.pid_of(actor, other_than=pid)
        scene.producer.send("work", {"ms": 1}, count=20)
        assert scene.finishes(25)
        assert runtime.stop() == 0
    assert scene.problems() == []


@pytest.mark.parametrize("how", ["segfault", "exit", "kill"])
def test_a_crash_alone_is_charged_with_its_cause(scene: Scene, how: str) -> None:
    with scene.runtime(executors=1) as runtime:
        runtime.wait_for("tree up", within_s=20)
        (job,) = scene.producer.send("crash", {"how": how})
        crash = "select ending || ': ' || error from pulse.failure"
        assert eventually(lambda: ask(scene.dsn, crash) is not None, within_s=10)
        told = ask(scene.dsn, crash)
        assert told.startswith("crash: its executor ")
        assert {"segfault": "segfault", "exit": "exited with status", "kill": "SIGKILL"}[how] in told
        assert ask(scene.dsn, f"select charged from pulse.get('{job}')") == 1
        assert scene.finishes(15)
        assert runtime.stop() == 0
    assert scene.problems() == []


def test_neighbours_of_a_crash_are_suspects_and_not_charged(scene: Scene) -> None:
    with scene.runtime(executors=1) as runtime:
        runtime.wait_for("tree up", within_s=20)
        scene.producer.send("work", {"ms": 1500}, count=3)
        assert eventually(lambda: scene.in_flight() == 3, within_s=10)
        scene.producer.send("crash", {"how": "kill", "attempts": 1, "after_ms": 200})
        assert eventually(lambda: ask(scene.dsn, "select count(*) from pulse.failure") == 4, within_s=10)
        assert ask(scene.dsn, "select array_agg(distinct ending) from pulse.failure") == ["suspect"]
        assert scene.finishes(25)
        assert ask(scene.dsn, "select max(charged) from pulse.jobs") == 0
        assert runtime.stop() == 0
    assert scene.problems() == []


def test_a_poison_job_is_a_dead_letter_after_three_crashes(scene: Scene) -> None:
    with scene.runtime(executors=1) as runtime:
        runtime.wait_for("tree up", within_s=20)
        options = '{"retry": {"kind": "fixed", "first_s": 0.1}}'
        (job,) = scene.producer.send("crash", {"how": "kill", "attempts": 99}, options=options)
        assert eventually(lambda: scene.unfinished() == 0, within_s=25)
        assert ask(scene.dsn, f"select status from pulse.get('{job}')") == "DEAD_LETTERED"
        assert ask(scene.dsn, "select count(*) from pulse.failure where ending = 'crash'") == 3
        assert runtime.stop() == 0


def test_a_killed_supervisor_leaves_no_orphans_and_its_next_life_runs_its_jobs(scene: Scene) -> None:
    with scene.runtime() as runtime:
        runtime.wait_for("tree up", within_s=20)
        scene.producer.send("work", {"ms": 700}, count=8)
        assert eventually(lambda: scene.in_flight() == 8, within_s=10)
        runtime.kill("supervisor")
        assert eventually(lambda: runtime.processes() == [], within_s=5)
    with scene.runtime() as again:
        again.wait_for("took over", within_s=10)
        assert scene.finishes(15)
        assert again.stop() == 0
    assert scene.problems() == []


def test_sigterm_lets_running_jobs_finish_and_gives_back_the_rest(scene: Scene) -> None:
    with scene.runtime(executors=1, concurrency=2) as runtime:
        runtime.wait_for("tree up", within_s=20)
        scene.producer.send("work", {"ms": 400}, count=6)
        assert eventually(lambda: scene.in_flight() >= 2, within_s=10)
        assert runtime.stop() == 0
        assert scene.in_flight() == 0
        assert ask(scene.dsn, "select count(*) from pulse.failure") == 0, "nothing was charged or lost"
    with scene.runtime() as again:
        assert scene.finishes(20)
        assert again.stop() == 0
    assert scene.problems() == []


def test_a_second_sigterm_ends_it_at_once(scene: Scene) -> None:
    with scene.runtime(executors=1, grace="30s") as runtime:
        runtime.wait_for("tree up", within_s=20)
        scene.producer.send("sleep_forever")
        assert eventually(lambda: scene.in_flight() == 1, within_s=10)
        runtime.kill("supervisor", signal.SIGTERM)
        runtime.wait_for("draining", within_s=5)
        runtime.stop(within_s=5)


def test_a_rolling_restart_loses_and_charges_nothing(scene: Scene) -> None:
    with scene.runtime() as runtime:
        runtime.wait_for("tree up", within_s=20)
        before = [runtime.pid_of("executor-1"), runtime.pid_of("executor-2")]
        scene.producer.send("work", {"ms": 50}, count=100)
        runtime.kill("supervisor", signal.SIGHUP)
        for number, pid in enumerate(before, start=1):
            assert runtime.pid_of(f"executor-{number}", other_than=pid, within_s=10)
        assert scene.finishes(20)
        assert ask(scene.dsn, "select count(*) from pulse.failure") == 0
        assert runtime.stop() == 0
    assert scene.problems() == []


@pytest.mark.parametrize("immediate", [False, True])
def test_postgres_restarts_under_load_and_nobody_exits(scene: Scene, server: Cluster, immediate: bool) -> None:
    with scene.runtime() as runtime:
        runtime.wait_for("tree up", within_s=20)
        before = runtime.pids()
        scene.producer.send("work", {"ms": 200}, count=80)
        assert eventually(lambda: scene.in_flight() >= 10, within_s=10)
        server.restart(immediate=immediate)
        scene.producer.send("work", {"ms": 1}, count=20)
        assert scene.finishes(25)
        assert runtime.pids() == before
        assert runtime.stop() == 0
    assert scene.problems() == []


def test_a_second_runtime_of_the_same_name_is_refused(scene: Scene) -> None:
    with scene.runtime(executors=1) as first:
        first.wait_for("registered", within_s=20)
        with scene.runtime(executors=1) as second:
            assert second.wait(within_s=15) == 4
            assert "running already" in second.log.tail()
        assert first.stop() == 0


def test_another_runtime_reaps_a_lost_host(scene: Scene) -> None:
    with scene.runtime(executors=1, name="lost", lease="2s", beat="0.2s") as lost:
        lost.wait_for("tree up", within_s=20)
        with scene.runtime(executors=1, name="alive", lease="2s", beat="0.2s") as alive:
            alive.wait_for("tree up", within_s=20)
            scene.producer.send("work", {"ms": 1000}, count=12)
            assert eventually(lambda: scene.in_flight() == 12, within_s=10)
            lost.kill_all()
            alive.wait_for("executor reaped", within_s=12)
            assert scene.finishes(20)
            assert alive.stop() == 0
    assert scene.problems() == []


def test_a_handler_module_that_cannot_be_imported_is_one_clear_message(scene: Scene) -> None:
    with scene.runtime(handlers="apps.no_such_module") as runtime:
        assert runtime.wait(within_s=10) == 78
        assert "No module named" in runtime.log.tail()


def test_a_pause_stops_claiming_and_nothing_else(scene: Scene) -> None:
    ask(scene.dsn, "select pulse.pause(null, 'me', 'deploy')")
    with scene.runtime(executors=1) as runtime:
        runtime.wait_for("paused", within_s=20)
        scene.producer.send("work", {"ms": 1}, count=3)
        assert not eventually(lambda: scene.in_flight() > 0, within_s=1.0)
        ask(scene.dsn, "select pulse.resume(null)")
        assert scene.finishes(10)
        assert runtime.stop() == 0
