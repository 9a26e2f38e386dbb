"""The runtime as a whole: real processes, real signals, a real Postgres; the checker proves each history.

What happens when processes die, or Postgres does: test_recovery_*.py.
"""

import os
from pathlib import Path

from embedded_kit import ask, eventually
from runtime_kit import TESTS, Flags, Runtime
from scene_kit import BOOT_S, SHORT, Scene

NOTING = """
import os
from pulse_runtime import job

with open(os.environ["NOTES"], "a") as notes:
    notes.write(f"{os.getpid()}\\n")

@job
async def nothing() -> None: ...
"""


def test_sigterm_lets_running_jobs_finish_and_gives_back_the_rest(scene: Scene) -> None:
    with scene.runtime(executors=1, concurrency=2) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        scene.producer.send("work", {"ms": 400}, count=6)
        assert eventually(lambda: scene.in_flight() >= 2, within_s=10)
        assert runtime.stop() == 0
        assert scene.in_flight() == 0
        assert scene.ask("select count(*) from pulse.failure") == 0, "nothing was charged or lost"
    with scene.runtime() as again:
        assert scene.finishes(20)
        assert again.stop() == 0
    assert scene.problems() == []


def test_another_runtime_reaps_a_lost_host(scene: Scene) -> None:
    with scene.runtime(executors=1, name="lost", **SHORT) as lost:
        lost.wait_for("tree up", within_s=BOOT_S)
        with scene.runtime(executors=1, name="alive", **SHORT) as alive:
            alive.wait_for("tree up", within_s=BOOT_S)
            scene.hold(12)
            assert scene.flies(12)
            lost.kill_all()
            scene.gate.touch()
            alive.wait_for("executor reaped", within_s=12)
            assert scene.finishes(20)
            assert alive.stop() == 0
    assert scene.problems() == []


def test_a_handler_module_that_cannot_be_imported_is_one_clear_message(scene: Scene) -> None:
    with scene.runtime(handlers="apps.no_such_module") as runtime:
        assert runtime.wait(within_s=10) == 78
        assert "No module named" in runtime.log.tail()


def test_a_supervisor_that_is_killed_while_its_tree_comes_up_leaves_no_orphans(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("import time\ntime.sleep(600)\n")
    with Runtime(
        scene.dsn, flags=Flags(handlers="endless"), env={"PYTHONPATH": f"{TESTS}{os.pathsep}{tmp_path}"}
    ) as importing:
        assert eventually(lambda: len(importing.processes()) == 2, within_s=BOOT_S)
        importing.kill("supervisor")
        assert eventually(lambda: importing.processes() == [], within_s=5)
    ask(scene.dsn, "select pulse.register_executor('test', 'another host', 'its boot', 1, '1')")
    with scene.runtime(executors=1, lease="60s") as waiting:
        waiting.wait_for("waiting", within_s=BOOT_S)
        waiting.kill("supervisor")
        assert eventually(lambda: waiting.processes() == [], within_s=5)


def test_a_pause_stops_claiming_and_nothing_else(scene: Scene) -> None:
    ask(scene.dsn, "select pulse.pause(null, 'me', 'deploy')")
    with scene.runtime(executors=1) as runtime:
        runtime.wait_for("paused", within_s=BOOT_S)
        scene.producer.send("work", {"ms": 1}, count=3)
        assert not eventually(lambda: scene.in_flight() > 0, within_s=1.0)
        mark = runtime.log.mark()
        runtime.kill("claimer-1")
        runtime.wait_for("paused", after=mark, within_s=5)
        assert not eventually(lambda: scene.in_flight() > 0, within_s=0.5), "the next claimer knows of it too"
        ask(scene.dsn, "select pulse.resume(null)")
        assert scene.finishes(10)
        assert runtime.stop() == 0


def test_nobody_imports_what_only_others_need(scene: Scene, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (tmp_path / "noting.py").write_text(NOTING)
    environment = {"PYTHONPATH": f"{TESTS}{os.pathsep}{tmp_path}", "NOTES": str(notes)}
    with Runtime(scene.dsn, flags=Flags(handlers="noting"), env=environment) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        pids = runtime.pids()
        assert str(pids["executor-1"]) in notes.read_text().split()
        assert str(runtime.pid) not in notes.read_text().split()
        loaded = Path(f"/proc/{runtime.pid}/maps").read_text()
        assert [name for name in ("libpq", "psycopg", "uvloop") if name in loaded] == []
        assert len(list(Path(f"/proc/{runtime.pid}/task").iterdir())) == 1
        assert "uvloop" in Path(f"/proc/{pids['executor-1']}/maps").read_text()
        for actor in ("executor-1", "heartbeat-1", "scheduler-1", "watchdog-1"):
            assert "psycopg" not in Path(f"/proc/{pids[actor]}/maps").read_text(), "only two speak to Postgres"
        assert runtime.stop() == 0


def test_a_database_without_our_schema_is_refused_with_what_to_do(empty_dsn: str) -> None:
    with Runtime(empty_dsn) as runtime:
        assert runtime.wait(within_s=15) == 4
        assert "pulse-runtime db migrate" in runtime.log.tail()
