"""Importing handlers as a runtime does: what works, and what is said when it does not."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("pulse-runtime")
GOOD = """
from pulse_runtime import job
from pulse_runtime.handlers import Handler

@job
async def first() -> None: ...

async def plain() -> None: ...
second = Handler(plain, "second", {})
number = 7
"""
LOAD = """
import sys
from pulse_runtime.loading import load
from pulse_runtime.handlers import registry
load(sys.argv[1:])
print(*registry)
"""


def loaded(folder: Path, *names: str) -> list[str]:
    (folder / "myapp.py").write_text(GOOD)
    run = subprocess.run([sys.executable, "-c", LOAD, *names], cwd=folder, capture_output=True, text=True, check=True)
    return run.stdout.split()


def refused(folder: Path, *names: str) -> str:
    """What the program says; it needs no database to say it."""
    arguments = [f"--handlers={name}" for name in names]
    run = subprocess.run(
        [str(PROGRAM), "--dsn", "host=/nowhere", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 78, run.stderr
    return run.stderr


def test_a_module_of_the_current_folder_is_found(tmp_path: Path) -> None:
    assert loaded(tmp_path, "myapp") == ["first"]


def test_one_thing_of_a_module_can_be_named(tmp_path: Path) -> None:
    assert loaded(tmp_path, "myapp:first") == ["first"]
    assert loaded(tmp_path, "myapp:second") == ["first", "second"]


def test_an_import_that_fails_is_one_short_traceback_that_ends_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def deep():\n    return 1 / 0\n\ndeep()\n")
    said = refused(tmp_path, "broken")
    assert said.startswith("error: --handlers: cannot import broken:")
    assert said.rstrip().splitlines()[-1].startswith("ZeroDivisionError: division by zero")
    assert "broken.py" in said
    assert "importlib" not in said
    assert len(said.splitlines()) < 12


def test_a_module_that_exits_when_it_is_imported_is_refused_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "leaving.py").write_text("raise SystemExit(0)\n")
    assert "SystemExit" in refused(tmp_path, "leaving")


def test_a_name_that_is_not_there_or_no_handler_is_refused(tmp_path: Path) -> None:
    (tmp_path / "myapp.py").write_text(GOOD)
    assert "no such thing as myapp:third" in refused(tmp_path, "myapp:third")
    assert "myapp:number" in refused(tmp_path, "myapp:number")


def test_arguments_that_could_never_be_read_are_refused_before_a_job_fails_for_them(tmp_path: Path) -> None:
    hidden = "from __future__ import annotations\nfrom typing import TYPE_CHECKING\nfrom pulse_runtime import job\n"
    hidden += "if TYPE_CHECKING:\n    from decimal import Decimal\n\n@job\ndef pay(sum: Decimal) -> None: ...\n"
    (tmp_path / "hidden.py").write_text(hidden)
    said = refused(tmp_path, "hidden")
    assert "--handlers: the arguments of pay(sum: 'Decimal') in hidden cannot be read: NameError" in said
    assert "Import it at run time" in said
