"""The page on the store's proofs names tests that exist and mutants as they are."""

import re

from embedded_kit import REPOSITORY
from stress.mutants import MUTANTS

PAGE = (REPOSITORY / "docs" / "explanation" / "store-proofs.md").read_text()
TEST = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)


def test_every_test_that_the_page_names_exists() -> None:
    there = {name for path in (REPOSITORY / "tests").rglob("test_*.py") for name in TEST.findall(path.read_text())}
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert len(named) > 40
    assert named - there == set()


def test_every_trap_of_the_design_has_a_row() -> None:
    assert re.findall(r"^\| (\d+)\. ", PAGE, re.MULTILINE) == [str(number) for number in range(1, 15)]


def test_every_mutant_is_told_with_what_it_is_noticed_as() -> None:
    rows = [f"| {mutant.mistake} | {', '.join(mutant.noticed_as)} |" for mutant in MUTANTS]
    told = PAGE.split("| mistake | noticed as |\n|---|---|\n")[1].split("\n\n")[0]
    assert told.split("\n") == rows
