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


def test_it_ends_by_itself_and_says_what_it_did(home: Path) -> None:
    said, talk = start(home, "--for", "500ms").communicate(timeout=30)
    assert re.search(r"^\d+ durable commits, median [\d.]+ ms; 0 rows were there before, \d+ are now", said)
    assert "applied 0001_ground" in talk
    assert "they come with the runtime" in talk


def test_killed_with_9_it_leaves_no_process_and_the_next_one_finds_its_data(home: Path) -> None:
    program = start(home)
    wait_for(program, "found 0 rows")
    wait_for(program, "commits")
    processes = family(home)
    assert len(processes) > 3
    program.kill()
    program.communicate()
    assert eventually(lambda: all(is_gone(each.pid) for each in processes), within_s=5.0)
    said, _ = start(home, "--for", "200ms").communicate(timeout=30)
    found = re.search(r"(\d+) rows were there before", said)
    assert found
    assert int(found[1]) > 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_ends_it_with_a_summary(home: Path, number: signal.Signals, code: int) -> None:
    program = start(home)
    wait_for(program, "commits")
    postmaster = postmaster_of(home)
    program.send_signal(number)
    said, _ = program.communicate(timeout=15)
    assert program.returncode == code
    assert "durable commits" in said
    assert is_gone(postmaster)
