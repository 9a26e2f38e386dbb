"""`pulse-runtime run`: a handler called from a shell, with the result, the traceback and the exit code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).with_name("pulse-runtime")
CODE = """
import asyncio, functools, sys
from dataclasses import dataclass
from typing import Any
from pulse_runtime import job, Context, Fail, Retry, Snooze

@dataclass
class Point:
    x: int
    y: int = 0

@job
async def show(
    ctx: Context, text: str, n: int = 0, tags: list[str] | None = None, at: Point | None = None, any: Any = None
) -> Any:
    return {"text": text, "n": n, "tags": tags, "at": at, "any": any, "attempt": ctx.attempt}

@job
def divide(a: int, b: int) -> float:
    return helper(a, b)

def helper(a: int, b: int) -> float:
    return a / b

@job
async def chain(ctx: Context, how: str) -> None:
    ctx.enqueue("divide", {"a": 1, "b": 2})
    raise {"snooze": Snooze("5m", "too early"), "fail": Fail("never")}[how]

@job
def leave() -> None:
    sys.exit(0)

@job
def odd() -> object:
    return object()

@job(keep_result=True)
def odd_and_kept() -> object:
    return object()

@job(keep_result=True)
def no_number() -> float:
    return float("nan")

def wrapped(function: Any) -> Any:
    @functools.wraps(function)
    def calls(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)
    return calls

@job
@wrapped
async def hidden() -> int:
    return 4

@job(queue="mail", timeout="1h", retry=Retry(attempts=3))
def asks(ctx: Context) -> list[Any]:
    ctx.progress(1, 2, "half")
    return [ctx.queue, ctx.max_attempts, 3000 < ctx.left_s <= 3600]

@job
async def library() -> str:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return "trio"
    return "asyncio"
"""


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=cwd)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_jobs.py").write_text(CODE)
    return tmp_path


def test_words_are_read_by_the_signature_and_the_result_is_json(folder: Path) -> None:
    words = ("text=123", "n=3", 'tags=["a"]', 'at={"x": "1", "y": 2}', "any=[1]")
    said = run("run", "--handlers", "my_jobs", "show", *words, cwd=folder)
    assert said.returncode == 0, said.stderr
    expected = {"text": "123", "n": 3, "tags": ["a"], "at": {"x": 1, "y": 2}, "any": [1], "attempt": 1}
    assert json.loads(said.stdout) == expected
    assert "show took" in said.stderr


def test_the_runtimes_own_flag_and_a_json_object_do_as_well(folder: Path) -> None:
    said = run("--handlers", "my_jobs", "run", "divide", "--args", '{"a": 1, "b": 9}', "b=2", cwd=folder)
    assert (said.returncode, said.stdout) == (0, "0.5\n")


def test_what_it_raises_is_a_traceback_of_its_own_code_and_exit_1(folder: Path) -> None:
    said = run("run", "--handlers", "my_jobs", "divide", "a=1", "b=0", cwd=folder)
    assert (said.returncode, said.stdout) == (1, "")
    assert "ZeroDivisionError" in said.stderr
    assert "in helper" in said.stderr
    assert "inline.py" not in said.stderr


def test_a_snooze_is_no_failure_and_follow_ups_are_told(folder: Path) -> None:
    said = run("run", "--handlers", "my_jobs", "chain", "how=snooze", cwd=folder)
    assert said.returncode == 0
    assert "asked for Snooze: too early" in said.stderr
    assert 'enqueued divide {"a":1,"b":2}, which is not added' in said.stderr
    assert run("run", "--handlers", "my_jobs", "chain", "how=fail", cwd=folder).returncode == 1


def test_a_handler_that_exits_has_failed(folder: Path) -> None:
    said = run("run", "--handlers", "my_jobs", "leave", cwd=folder)
    assert said.returncode == 1
    assert "SystemExit" in said.stderr


def test_a_result_that_cannot_be_kept_is_a_failure_if_it_is_to_be_kept(folder: Path) -> None:
    for kind, code in (("odd", 0), ("odd_and_kept", 1), ("no_number", 1)):
        said = run("run", "--handlers", "my_jobs", kind, cwd=folder)
        assert (said.returncode, said.stdout) == (code, "")
        assert "cannot be written as JSON" in said.stderr or "nan is not a number in JSON" in said.stderr


@pytest.mark.parametrize("loop", ["uvloop", "trio"])
def test_a_handler_in_disguise_is_run_to_its_end(folder: Path, loop: str) -> None:
    said = run("run", "--handlers", "my_jobs", "--loop", loop, "hidden", cwd=folder)
    assert (said.returncode, said.stdout) == (0, "4\n"), said.stderr


def test_its_context_is_that_of_a_first_attempt_and_its_progress_is_told(folder: Path) -> None:
    said = run("run", "--handlers", "my_jobs", "asks", cwd=folder)
    assert json.loads(said.stdout) == ["mail", 3, True]
    assert "progress: 1 of 2, half" in said.stderr


def test_it_runs_on_either_loop(folder: Path) -> None:
    for loop, library in (("uvloop", "asyncio"), ("trio", "trio")):
        said = run("run", "--handlers", "my_jobs", "library", "--loop", loop, cwd=folder)
        assert said.stdout == f'"{library}"\n', said.stderr


def test_arguments_that_do_not_fit_are_exit_2_and_named(folder: Path) -> None:
    said = run("run", "--handlers", "my_jobs", "divide", "a=1", "b=x", cwd=folder)
    assert said.returncode == 2
    assert "$.b" in said.stderr
    missing = run("run", "--handlers", "my_jobs", "divide", "a=1", cwd=folder)
    assert missing.returncode == 2
    assert "`b`" in missing.stderr
    assert run("run", "--handlers", "my_jobs", "divide", "a", cwd=folder).returncode == 2
    twice = run("run", "--handlers", "my_jobs", "divide", "a=1", "a=2", cwd=folder)
    assert (twice.returncode, "a is given twice" in twice.stderr) == (2, True)
    assert run("run", "--handlers", "my_jobs", "divide", "--args", "[1]", cwd=folder).returncode == 2


def test_a_kind_that_is_not_there_is_exit_3_and_the_nearest_is_named(folder: Path) -> None:
    said = run("run", "--handlers", "my_jobs", "divde", cwd=folder)
    assert said.returncode == 3
    assert "did you mean 'divide'?" in said.stderr


def test_without_handlers_it_is_a_usage_error_and_a_broken_module_a_configuration_error(folder: Path) -> None:
    assert run("run", "divide", cwd=folder).returncode == 2
    assert run("run", "--handlers", "no_such_module", "divide", cwd=folder).returncode == 78
