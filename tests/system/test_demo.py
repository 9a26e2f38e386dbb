"""The demo as a newcomer meets it: it ends by itself, keeps its data, and leaves nothing behind however it ends."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from embedded_kit import eventually, is_gone

pytest_plugins = ("fix_embedded",)

PROGRAM = Path(sys.executable).with_name("pulse-runtime")


def start(home: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [PROGRAM, "demo", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PULSE_HOME": str(home)},
    )


def wait_for(program: subprocess.Popen[str], word: str) -> None:
    assert program.stderr is not None
    for line in program.stderr:
        if word in line:
            return
    raise AssertionError(f"it ended without saying {word!r}")


def postmaster_of(home: Path) -> int:
    file = next(home.glob("pg*/postmaster.pid"))
    return int(file.read_text().splitlines()[0])


def family(home: Path) -> list[psutil.Process]:
    """Every process of the demo's server."""
    postmaster = psutil.Process(postmaster_of(home))
    return [postmaster, *postmaster.children(recursive=True)]


def runtime_of(program: subprocess.Popen[str]) -> list[psutil.Process]:
    """Every process of the demo's runtime."""
    everyone = psutil.Process(program.pid).children(recursive=True)
    return [each for each in everyone if each.cmdline()[:1] and each.cmdline()[0].startswith("pulse: ")]


def test_it_ends_by_itself_and_says_what_it_did(home: Path) -> None:
    said, talk = start(home, "--for", "2s").communicate(timeout=60)
    numbers = re.search(r"^(\d+) orders committed with (\d+) jobs; (\d+) jobs done", said)
    assert numbers, talk
    orders, jobs, done = map(int, numbers.groups())
    assert jobs == 3 * orders > 0
    assert done >= jobs - 3, "all but the last order's, or one that is retried"
    assert "applied 0001_ground" in talk
    assert re.search(r"\d+ jobs done, \d+ a second", talk)


def test_a_killed_executor_is_told_of_and_comes_back(home: Path) -> None:
    program = start(home)
    wait_for(program, "a second")
    executor = next(each for each in runtime_of(program) if each.cmdline()[0].startswith("pulse: executor-1"))
    executor.kill()
    wait_for(program, f"(pid {executor.pid}) ended: killed by SIGKILL")
    wait_for(program, "executor-1 started again")
    program.send_signal(signal.SIGTERM)
    assert "jobs done" in program.communicate(timeout=30)[0]
    assert program.returncode == 0


def test_killed_with_9_it_leaves_no_process_and_the_next_one_finds_its_data(home: Path) -> None:
    program = start(home)
    wait_for(program, "found 0 orders")
    wait_for(program, "a second")
    processes = [*family(home), *runtime_of(program)]
    assert len(processes) > 10
    program.kill()
    program.communicate()
    assert eventually(lambda: all(is_gone(each.pid) for each in processes), within_s=10.0)
    said, _ = start(home, "--for", "200ms").communicate(timeout=60)
    found = re.search(r"(\d+) orders were there before", said)
    assert found
    assert int(found[1]) > 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_ends_it_with_a_summary(home: Path, number: signal.Signals, code: int) -> None:
    program = start(home)
    wait_for(program, "a second")
    postmaster, runtime = postmaster_of(home), runtime_of(program)
    program.send_signal(number)
    said, _ = program.communicate(timeout=30)
    assert program.returncode == code
    assert "orders committed" in said
    assert is_gone(postmaster)
    assert all(is_gone(each.pid) for each in runtime)
