"""What the documentation says is true: its programs run, its commands exist, its links lead somewhere.

A block that begins with ```python is a program and is run. One that cannot be run on any machine says why in the
same line, ```python no-run: REASON, and is only compiled.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from embedded_kit import REPOSITORY

from pulse_loadgen.cli import cli as loadgen
from pulse_runtime.cli.program import cli as runtime

PAGES = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md"), REPOSITORY / "benchmarks" / "README.md"])
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
COMMAND = re.compile(r"(?:^|[`\s(;&$])(make|pulse-runtime|pulse-loadgen)((?: +[a-z][a-z-]*)+)", re.MULTILINE)

CLIS: dict[str, click.Group] = {"pulse-runtime": runtime, "pulse-loadgen": loadgen}


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(REPOSITORY)}:{self.line}"


def blocks(*pages: Path) -> Iterator[Block]:
    for page in pages:
        text = page.read_text()
        for found in FENCE.finditer(text):
            yield Block(page, text.count("\n", 0, found.start()) + 1, found[1].strip(), found[2])


def code(page: Path) -> str:
    """What is meant to be typed: shell and bare blocks, and what stands between backticks."""
    shown = [block.text for block in blocks(page) if not block.language.startswith("python")]
    prose = FENCE.sub("", page.read_text())
    return "\n".join([*shown, *re.findall(r"`([^`\n]+)`", prose)])


PYTHON = [block for block in blocks(*PAGES) if block.language.startswith("python")]
PROGRAMS = [block for block in PYTHON if block.language == "python"]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_the_program_runs(program: Block, home: Path, tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in {"PULSE_DSN", "DATABASE_URL"}}
    command = [sys.executable, "-W", "error", "-c", program.text]
    environment = {**kept, "PULSE_HOME": str(home)}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60.0)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("fragment", [block for block in PYTHON if block not in PROGRAMS], ids=str)
def test_a_fragment_that_is_not_run_is_python_and_says_why(fragment: Block) -> None:
    compile(fragment.text, str(fragment), "exec")
    assert re.fullmatch(r"python no-run: \w.{5,}", fragment.language)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_make_target_that_is_named_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    assert {"run", "test", "lint"} <= targets
    named = {words.split()[0] for program, words in COMMAND.findall(code(page)) if program == "make"}
    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_command_of_ours_that_is_named_exists(page: Path) -> None:
    for program, words in COMMAND.findall(code(page)):
        if program in CLIS:
            assert_command(program, *words.split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in LINK.findall(FENCE.sub("", page.read_text())):
        if not re.match(r"https?:|mailto:", link):
            target, _, heading = link.partition("#")
            file = (page.parent / target) if target else page
            assert file.exists(), link
            assert not heading or heading in headings(file), link


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen, waiting = set(), [REPOSITORY / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in seen and page.suffix == ".md":
            seen.add(page)
            links = LINK.findall(FENCE.sub("", page.read_text()))
            local = (link.partition("#")[0] for link in links if not re.match(r"https?:|mailto:", link))
            waiting += [(page.parent / link).resolve() for link in local if link]
    assert set(PAGES) - seen == set()


def headings(page: Path) -> set[str]:
    """The anchors that GitHub gives to the page's headings."""
    titles = re.findall(r"^#+ +(.+)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def assert_command(program: str, *words: str) -> None:
    """`db migrate` is a command of `pulse-runtime`; words after the last command are its arguments."""
    command: click.Command | None = CLIS[program]
    for word in words:
        if not isinstance(command, click.Group):
            return
        command = command.get_command(click.Context(command), word)
        assert command is not None, f"{program} {' '.join(words)}: there is no {word}"
