"""The runtime as a whole: real processes, real signals, a real Postgres; the checker proves each history.

What happens when processes die, or Postgres does: test_recovery_*.py.
"""

from embedded_kit import ask, eventually
from scene_kit import BOOT_S, SHORT, Scene


def test_sigterm_lets_running_jobs_finish_and_gives_back_the_rest(scene: Scene) -> None:
    with scene.runtime(executors=1, concurrency=2) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        scene.producer.send("work", {"ms": 400}, count=6)
        assert eventually(lambda: scene.in_flight() >= 2, within_s=10)
        assert runtime.stop() == 0
        assert scene.in_flight() == 0
        assert ask(scene.dsn, "select count(*) from pulse.failure") == 0, "nothing was charged or lost"
    with scene.runtime() as again:
        assert scene.finishes(20)
        assert again.stop() == 0
    assert scene.problems() == []


def test_another_runtime_reaps_a_lost_host(scene: Scene) -> None:
    with scene.runtime(executors=1, name="lost", **SHORT) as lost:
        lost.wait_for("tree up", within_s=BOOT_S)
        with scene.runtime(executors=1, name="alive", **SHORT) as alive:
            alive.wait_for("tree up", within_s=BOOT_S)
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
        runtime.wait_for("paused", within_s=BOOT_S)
        scene.producer.send("work", {"ms": 1}, count=3)
        assert not eventually(lambda: scene.in_flight() > 0, within_s=1.0)
        ask(scene.dsn, "select pulse.resume(null)")
        assert scene.finishes(10)
        assert runtime.stop() == 0
