"""What the runtime says, and that it says it in one line."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pulse_runtime.events import EVENTS, Log

ROOT = Path(__file__).parents[2]
SPEAKERS = [path for path in (ROOT / "pulse_runtime").rglob("*.py") if path.name != "events.py"]


def said_in(path: Path) -> Iterator[str]:
    """The first argument of each call of something called log, if it is a text."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in {"log", "_log"}:
                yield str(node.args[0].value)


def test_what_is_said_is_in_the_vocabulary() -> None:
    said = {event: path.name for path in SPEAKERS for event in said_in(path)}
    assert {event: where for event, where in said.items() if event not in EVENTS} == {}


def test_the_vocabulary_has_nothing_that_nobody_says() -> None:
    texts = "".join(path.read_text("utf-8") for path in SPEAKERS)
    assert [event for event in EVENTS if f'"{event}"' not in texts] == ["lines lost"], "which the log says itself"


def lines_of(program: str) -> bytes:
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, cwd=ROOT)
    return run.stderr


@pytest.mark.parametrize("pretty", [True, False])
def test_a_line_is_never_too_long_for_a_single_write(pretty: bool) -> None:
    program = f"""
from pulse_runtime.events import Log
Log("claimer-1", pretty={pretty})("claim released", claims=list(range(5000)), why="ä" * 5000, executor=7)
"""
    line = lines_of(program)
    assert line.count(b"\n") == 1
    assert len(line) <= 4096
    assert b"7" in line
    if not pretty:
        told = json.loads(line)
        assert (told["event"], told["actor"], told["executor"]) == ("claim released", "claimer-1", 7)


def test_a_log_that_nobody_reads_holds_up_nobody_and_says_later_what_was_lost() -> None:
    program = """
import time
from pulse_runtime.events import Log
log, began = Log("claimer-1", pretty=False), time.monotonic()
for number in range(500):
    log("registered", executor=number, why="x" * 1000)
print(time.monotonic() - began, flush=True)
input()
log("drained")
"""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, cwd=ROOT, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe) as speaker:
        assert speaker.stdout is not None
        assert speaker.stderr is not None
        assert float(speaker.stdout.readline()) < 3.0
        os.set_blocking(speaker.stderr.fileno(), False)
        written = bytearray()
        while more := speaker.stderr.read(65536):  # then there is room again
            written += more
        os.set_blocking(speaker.stderr.fileno(), True)
        _, rest = speaker.communicate(b"\n", timeout=10.0)
    said = [json.loads(line) for line in (written + rest).splitlines()]
    assert said[-1]["event"] == "drained"
    assert (said[-2]["event"], said[-2]["count"]) == ("lines lost", 500 - (len(said) - 2))


def test_a_line_says_when_who_and_which_process(capfd: pytest.CaptureFixture[str]) -> None:
    Log("claimer-1", pretty=False)("registered", executor=7, nothing=None)
    told = json.loads(capfd.readouterr().err)
    assert told.pop("at").endswith("+00:00")
    assert told == {"event": "registered", "actor": "claimer-1", "pid": os.getpid(), "executor": 7}
