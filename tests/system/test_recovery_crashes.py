"""Handlers that end their process: who is charged and who is not, alone and among neighbours."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from embedded_kit import eventually
from runtime_kit import Runtime
from scene_kit import BOOT_S, SHORT, Scene, said

from pulse_supervisor import Restart

CAUSES = {"segfault": "segfault", "exit": "exited with status 0", "kill": "SIGKILL", "oom": "SIGKILL"}
QUICKLY = '{"retry": {"kind": "fixed", "first_s": 0.1}}'


@contextlib.contextmanager
def little_memory(runtime: Runtime, actor: str, *, mib: int = 160) -> Iterator[None]:
    """The actor in a cgroup of its own, and a kernel that kills whoever takes more; that it did is asserted.

    Where no cgroup can be made, the handler kills itself once it has taken that much: untested is the kernel's part.
    """
    found = cgroup()
    if found is None:
        yield
        return
    folder, limit, told = found
    try:
        (folder / limit).write_text(str(mib << 20))
        if (swap := folder / "memory.swap.max").exists():  # version 2; else it swaps where it should be killed
            swap.write_text("0")
        (folder / "cgroup.procs").write_text(str(runtime.pid_of(actor)))
        yield
        assert "oom_kill 1" in (folder / told).read_text(), "the kernel did it"
    finally:
        assert eventually(lambda: not (folder / "cgroup.procs").read_text().split(), within_s=5)
        folder.rmdir()


def cgroup() -> tuple[Path, str, str] | None:
    """A new one, where its limit is, and where the kernel tells what it did: version 1, or else 2."""
    kinds = (("memory", "memory.limit_in_bytes", "memory.oom_control"), ("", "memory.max", "memory.events"))
    for parent, limit, told in kinds:
        folder = Path("/sys/fs/cgroup", parent, f"pulse-test-{os.getpid()}")
        with contextlib.suppress(OSError):
            folder.mkdir()
            if (folder / limit).exists():
                return folder, limit, told
            folder.rmdir()  # memory is not shared out here
    return None


def test_a_crash_alone_is_charged_with_its_cause(scene: Scene) -> None:
    with scene.runtime(executors=1) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        for how, cause in CAUSES.items():
            with little_memory(runtime, "executor-1") if how == "oom" else contextlib.nullcontext():
                (job,) = scene.producer.send("crash", {"how": how}, options=QUICKLY)
                assert scene.finishes(15)
                assert scene.ask(_told(job)) == ["crash"]
                error = scene.ask(f"select error from pulse.failure where id = '{job}'")
                assert error.startswith("its executor ")
                assert cause in error
                assert scene.ask(f"select (status, charged)::text from pulse.get('{job}')") == "(COMPLETED,1)"
        assert runtime.stop() == 0
    assert scene.problems() == []


@pytest.mark.parametrize("how", CAUSES)
def test_a_crash_among_neighbours_charges_nobody_and_the_next_one_alone_charges_its_cause(
    scene: Scene, how: str
) -> None:
    with scene.runtime(executors=1) as runtime, contextlib.ExitStack() as limits:
        runtime.wait_for("tree up", within_s=BOOT_S)
        if how == "oom":
            limits.enter_context(little_memory(runtime, "executor-1"))
        neighbours = scene.hold(3)
        assert scene.all_run(3)
        (culprit,) = scene.producer.send("crash", {"how": how, "attempts": 2, "after_ms": 100}, options=QUICKLY)
        assert eventually(lambda: scene.ask("select count(*) from pulse.failure") >= 4, within_s=10)
        scene.gate.touch()
        assert scene.finishes(20)
        assert scene.ask(_told(culprit)) == ["suspect", "crash"]
        for job in neighbours:
            assert scene.ask(_told(job)) == ["suspect"]
            assert scene.ask(f"select charged from pulse.get('{job}')") == 0
        assert runtime.stop() == 0
    assert scene.problems() == []


def test_a_poison_job_is_a_dead_letter_after_three_crashes_and_its_neighbours_are_never_charged(scene: Scene) -> None:
    with scene.runtime() as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        with scene.flow(ms=100, count=2, every_s=0.1):
            assert scene.flies(1)
            (poison,) = scene.producer.send("crash", {"how": "kill", "attempts": 99}, options=QUICKLY)
            assert eventually(
                lambda: scene.ask(f"select status from pulse.get('{poison}')") == "DEAD_LETTERED", within_s=30
            )
        assert scene.finishes(20)
        told = scene.ask(_told(poison))
        assert told.count("crash") == 3
        assert set(told) <= {"crash", "suspect"}
        others = "select coalesce(max(charged), 0) from pulse.jobs where status = 'COMPLETED'"
        assert scene.ask(others) == 0
        assert scene.ask(f"select charged from pulse.get('{poison}')") == 3
        assert runtime.stop() == 0
    assert scene.problems() == []


@pytest.mark.long
def test_more_poison_jobs_than_a_child_may_die_of_are_all_put_aside(scene: Scene) -> None:
    with scene.runtime(executors=1) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        poison = scene.producer.send("crash", {"how": "exit", "attempts": 99}, count=8, options=QUICKLY)
        (sound,) = scene.producer.send("work", {"ms": 50})
        assert scene.finishes(120)
        assert len(said(runtime, "child started")) > 5 + Restart().most
        for job in poison:
            assert scene.ask(_told(job)).count("crash") == 3
            assert scene.ask(f"select (status, charged)::text from pulse.get('{job}')") == "(DEAD_LETTERED,3)"
        assert scene.ask(f"select (status, charged)::text from pulse.get('{sound}')") == "(COMPLETED,0)"
        assert runtime.stop() == 0
    assert scene.problems() == []


@pytest.mark.long
def test_a_job_that_blocks_its_loop_for_good_is_lost_three_times_and_then_charged_alone(
    scene: Scene,
) -> None:
    """A silence may be anyone's: whoever ran then is lost. The third time it is a suspect, and alone from then on."""
    with scene.runtime(executors=1, **SHORT) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        (stuck,) = scene.producer.send("spin", {"ms": 60_000}, options=QUICKLY)
        assert scene.flies(1)
        assert scene.finishes(60)
        assert scene.ask(_told(stuck)) == ["lost"] * 3 + ["crash"] * 3
        assert scene.ask(f"select (status, charged)::text from pulse.get('{stuck}')") == "(DEAD_LETTERED,3)"
        assert runtime.stop() == 0
    assert scene.problems() == []


def _told(job: str) -> str:
    return f"select array_agg(ending order by attempt) from pulse.failure where id = '{job}'"
