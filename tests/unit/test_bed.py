"""The test bed catches what it is there to catch: sessions of pytest that should fail, and do."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
QUICK = "import fix_leaks\nfix_leaks.PATIENCE_S = fix_leaks.SESSION_PATIENCE_S = 0.2\n"

LEAKS = """
import os, subprocess, pytest, tempfile

def test_process():
    global child
    child = subprocess.Popen(["sleep", "60"])

def test_zombie():
    global exited
    exited = subprocess.Popen(["true"])

def test_descriptor():
    os.open("/etc/hostname", os.O_RDONLY)

def test_clean():
    with tempfile.TemporaryFile():
        subprocess.run(["true"])

def test_held_by_garbage():
    class Holder:
        def __init__(self):
            self.me, self.descriptor = self, os.open("/dev/null", os.O_RDONLY)
        def __del__(self):
            os.close(self.descriptor)
    Holder()

def test_end():
    child.kill(), child.wait(), exited.wait()
"""

ORPHAN = """
import os, subprocess
from pathlib import Path

def test_orphan():
    subprocess.run("sleep 60 & echo $! > pid", shell=True)
"""

SKIPS = """
import pytest

@pytest.mark.skip(reason="lazy")
def test_marked(): ...

def test_inside():
    pytest.skip("tired")

@pytest.mark.xfail(reason="hopeless")
def test_xfail():
    assert False
"""

ALLOWED = """
import pytest

def test_one():
    pytest.skip("cannot run here: user namespaces are not available")
"""


def session(folder: Path, source: str, *, name: str = "test_it.py", ci: bool = False) -> tuple[int, str]:
    """Run `source` as a session of its own with our plugins; what it said is the second half of the answer."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(source)
    (folder / "conftest.py").write_text(QUICK)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p fix_leaks -p fix_skips -ra\n")
    # Without the other plugins a session takes 0.4 s, with them 1.3 s.
    kept = {key: value for key, value in os.environ.items() if key not in {"CI", "PULSE_CI", "PYTEST_ADDOPTS"}}
    ours = {"PYTHONPATH": str(TESTS), "PULSE_CI": "1" if ci else "0", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=folder, env={**kept, **ours}, capture_output=True, text=True, timeout=60.0)
    return done.returncode, done.stdout + done.stderr


def test_what_a_test_leaves_behind_is_named_and_fails_it(tmp_path: Path) -> None:
    status, said = session(tmp_path, LEAKS)
    failed = [line.split("::")[1].split(" ")[0] for line in said.splitlines() if line.startswith("ERROR test_it")]
    assert (status, failed) == (1, ["test_process", "test_zombie", "test_descriptor"])
    assert "(sleeping): sleep 60" in said
    assert "(zombie): true" in said
    assert ": /etc/hostname" in said


def test_a_process_whose_parent_has_gone_fails_the_session(tmp_path: Path) -> None:
    status, said = session(tmp_path, ORPHAN)
    orphan = int((tmp_path / "pid").read_text())
    os.kill(orphan, 9)
    assert "1 passed" in said
    assert status == 1
    assert f"process {orphan} (sleeping): sleep 60" in said


def test_ci_fails_on_skips_that_are_not_on_the_list(tmp_path: Path) -> None:
    status, said = session(tmp_path, SKIPS, ci=True)
    assert status == 1
    for line in (
        "test_it.py::test_marked: lazy",
        "test_it.py::test_inside: tired",
        "test_it.py::test_xfail: xfail, hop",
    ):
        assert line in said
    assert "CI fails on them" in said


def test_outside_ci_unlisted_skips_are_only_told(tmp_path: Path) -> None:
    status, said = session(tmp_path, SKIPS)
    assert status == 0
    assert "CI would fail on them" in said


def test_a_whole_module_that_is_skipped_is_a_skip(tmp_path: Path) -> None:
    source = "import pytest\npytest.importorskip('no_such_module')\ndef test_one(): ...\n"
    status, said = session(tmp_path, source, ci=True)
    assert status != 0
    assert "test_it.py: could not import 'no_such_module'" in said


def test_ci_accepts_a_skip_that_is_on_the_list(tmp_path: Path) -> None:
    status, said = session(tmp_path, ALLOWED, name="tests/system/test_embedded_accounts.py", ci=True)
    assert "1 skipped" in said
    assert status == 0


def test_a_listed_reason_excuses_no_other_test(tmp_path: Path) -> None:
    assert session(tmp_path, ALLOWED, name="tests/system/test_other.py", ci=True)[0] == 1
