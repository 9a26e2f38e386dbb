"""The tree as a stranger finds it: no address of a registry, nothing of the machine it was written on, no rubbish."""

import functools
import os
import re
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from embedded_kit import REPOSITORY

GENERATED = {".git", ".venv", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".import_linter_cache"}
JUNK = ("*.pyc", "*.pyo", "*.orig", "*.rej", "*.egg-info", ".DS_Store", "*~", "uv.lock", "__pycache__")

# Put together from pieces, so that this file does not find itself.
DOT, SLASH = r"\.", "/"
HOSTS = [DOT.join(pieces) for pieces in (("pypi", "org"), ("pythonhosted", "org"), ("pypi", "python", "org"))]
HOSTS += [DOT.join(pieces) for pieces in (("anaconda", "org"), ("jfrog", "io"), ("fury", "io"), ("npmjs", "(org|com)"))]
PERSONAL = rf"(?<![\w.\]*-]){SLASH}(home|Users|root|work|workspace|builds){SLASH}(?!someone\b)\w"  # someone is nobody
INDEX_FOLDERS = rf"{SLASH}opt{SLASH}[\w.-]*(pypi|simple|index|wheel)"


def tracked() -> Iterator[Path]:
    """What git knows; without git (an archive), everything that is not generated."""
    if (REPOSITORY / ".git").exists():
        command = ["git", "-C", str(REPOSITORY), "ls-files", "-z"]
        listed = subprocess.run(command, capture_output=True, text=True)
        if listed.returncode == 0:
            found = (REPOSITORY / name for name in listed.stdout.split("\0") if name)
            yield from (path for path in found if path.is_file())
            return
    for folder, folders, names in os.walk(REPOSITORY):
        folders[:] = [name for name in folders if name not in GENERATED | {"__pycache__"}]
        yield from (Path(folder) / name for name in names)


@functools.cache
def texts() -> list[tuple[str, str]]:
    """Every file of the tree with what is in it: 400 files, of which a dozen tests ask."""
    return [(str(path.relative_to(REPOSITORY)), path.read_text("utf-8")) for path in tracked()]


def places(pattern: str) -> list[str]:
    """Every line that it is found in. Most files have none, and are looked at as a whole."""
    wanted = re.compile(pattern, re.MULTILINE)
    found = ((name, text.splitlines()) for name, text in texts() if wanted.search(text))
    lines = ((f"{name}:{number}", line) for name, rows in found for number, line in enumerate(rows, start=1))
    return [f"{place}: {line.strip()[:120]}" for place, line in lines if wanted.search(line)]


@pytest.mark.parametrize("host", HOSTS)
def test_no_file_names_a_registry(host: str) -> None:
    assert places(rf"\b{host}\b") == []


@pytest.mark.parametrize(
    "path", [re.escape(str(REPOSITORY)) + r"\b", PERSONAL, INDEX_FOLDERS], ids=["this one", "a home", "an index"]
)
def test_no_file_names_a_folder_of_someones_machine(path: str) -> None:
    assert places(path) == []


def test_nothing_generated_is_kept() -> None:
    names = [path.relative_to(REPOSITORY) for path in tracked()]
    assert [name for name in names for part in name.parts for junk in JUNK if fnmatchcase(part, junk)] == []


def test_no_merge_was_left_half_done() -> None:
    assert places(r"^(<{7}|>{7}|\|{7})( |$)") == []


def test_every_file_ends_with_a_line_end_and_only_one() -> None:
    texts = ((path, path.read_bytes()) for path in tracked())
    assert [path for path, text in texts if text and (not text.endswith(b"\n") or text.endswith(b"\n\n"))] == []


def test_every_locked_package_has_a_hash_and_nothing_has_an_address() -> None:
    text = (REPOSITORY / "requirements.lock").read_text()
    entries = text.replace("\\\n", " ").strip().splitlines()
    assert len(entries) > 20
    for entry in entries:
        assert re.fullmatch(r"[\w.\[\],-]+==\S+( ; .+?)?(\s+--hash=sha256:[0-9a-f]{64})+", entry), entry
    assert "://" not in text


def test_ci_does_what_the_readme_tells_people_to_do_and_no_more() -> None:
    readme = (REPOSITORY / "README.md").read_text()
    script = (REPOSITORY / ".ci" / "run").read_text().splitlines()
    shell = ("#", "set ", "cd ", "export ")
    commands = [line for line in script if line and not line.startswith(shell)]
    assert commands == ["make lint", "make test"]
    assert [command for command in commands if command not in readme] == []
