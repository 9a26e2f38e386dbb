"""The handlers of system tests, without a runtime: what they record, and how they end."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from uuid import uuid4

import anyio
import pytest
from apps import history_jobs
from checker.history import Database, Run, read_history
from checker.record import VARIABLE

from pulse_runtime import Context

TESTS = Path(__file__).parents[1]
ENDS = {"segfault": -signal.SIGSEGV, "exit": 0, "kill": -signal.SIGKILL, "oom": -signal.SIGKILL}
pytestmark = pytest.mark.anyio


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "history"))
    return tmp_path / "history"


def runs(history: Path) -> list[tuple[int, str | None]]:
    return [(run.attempt, run.outcome) for run in read_history(history, Database()).runs]


def context(attempt: int = 1) -> Context:
    return Context(id=uuid4(), kind="k", attempt=attempt)


async def test_work_records_who_ran_when(history: Path) -> None:
    ctx = context()
    await history_jobs.work(ctx, ms=5)
    (run,) = read_history(history, Database()).runs
    assert run == Run(str(ctx.id), 1, run.start, pid=os.getpid(), end=run.end, outcome="ok")
    assert run.end is not None
    assert run.end - run.start >= 5_000_000


async def test_it_fails_as_often_as_it_is_told(history: Path) -> None:
    for attempt in (1, 2):
        with pytest.raises(history_jobs.AskedTo):
            await history_jobs.fail_then_succeed(context(attempt), times=2)
    await history_jobs.fail_then_succeed(context(3), times=2)
    assert runs(history) == [(1, "raised"), (2, "raised"), (3, "ok")]


async def test_it_is_held_until_the_file_is_there(history: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    opener = threading.Timer(0.05, gate.touch)
    opener.start()
    await history_jobs.hold(context(), path=str(gate))
    opener.join()
    assert runs(history) == [(1, "ok")]


async def test_what_is_cancelled_records_that(history: Path) -> None:
    with anyio.move_on_after(0.02):
        await history_jobs.sleep_forever(context())
    assert runs(history) == [(1, "cancelled")]


async def test_spinning_blocks_the_loop(history: Path) -> None:
    with anyio.move_on_after(0.01) as scope:
        await history_jobs.spin(context(), ms=50)
    assert runs(history) == [(1, "ok")]
    assert not scope.cancelled_caught


@pytest.mark.parametrize("how", ENDS)
def test_a_crash_ends_the_process_and_leaves_no_end(history: Path, how: str) -> None:
    code = (
        "import asyncio, uuid\nfrom apps import history_jobs as jobs\nfrom pulse_runtime import Context\n"
        f"asyncio.run(jobs.crash(Context(id=uuid.uuid4(), kind='crash', attempt=1), how={how!r}))"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=TESTS, check=False, timeout=30)
    assert ended.returncode == ENDS[how]
    assert runs(history) == [(1, None)]


async def test_after_its_crashes_it_succeeds(history: Path) -> None:
    await history_jobs.crash(context(2), how="kill", attempts=1)
    assert runs(history) == [(2, "ok")]


def test_its_jobs_can_be_described_without_running_them() -> None:
    assert history_jobs.crash.call(how="oom", attempts=3).args == {"how": "oom", "attempts": 3}
