"""The model's runner: it believes only a complete search, and only the counterexample that was expected.

All of the model is run by `make model`; here two of its cases, as a sign of life.
"""

import re
from pathlib import Path

import pytest
from model import run

COMPLETE = "State-vector 184 byte, depth reached 210, errors: 0\n  3208752 states, stored\n"


def broke(assertion: str) -> str:
    return f"pan:1: assertion violated {assertion} (at depth 158)\npan: wrote ledger.pml.trail\nerrors: 1\n"


def test_a_complete_search_without_an_error_holds() -> None:
    assert run.verdict(COMPLETE) == ""


@pytest.mark.parametrize(
    "told",
    [
        "",
        "error: max search depth too small\n" + COMPLETE,
        "Warning: Search not completed\n" + COMPLETE,
        "pan: reached -DMEMLIM bound\n",
    ],
)
def test_a_search_that_was_cut_short_is_an_error(told: str) -> None:
    assert run.verdict(told).startswith("error: the search was not completed")


def test_a_broken_property_is_named() -> None:
    assert run.verdict(broke("((claimed>>s)&1)")) == "a job is lost"
    assert run.verdict(broke(" !((claimed&batch))")) == "a row is claimed twice"


@pytest.mark.parametrize("told", [broke("(next_x<16)"), "pan:1: invalid end state (at depth 7)\nerrors: 1\n"])
def test_a_bound_or_a_deadlock_is_no_counterexample(told: str) -> None:
    assert run.verdict(told).startswith("error: ")


def test_every_mistake_of_the_model_is_run() -> None:
    macros = {macro.partition("=")[0] for case in run.CASES for macro in case.macros.split()}
    tested = set(re.findall(r"#ifdef (\w+)|defined\((\w+)\)", run.MODEL.read_text()))
    assert macros >= {one or other for one, other in tested}
    assert {case.expected for case in run.CASES} == {"", *run.BROKEN.values()}


def test_without_spin_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run.main([]) == 2
    assert "apt-get install spin" in capsys.readouterr().err


def test_without_a_compiler_it_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spin").write_text("#!/bin/sh\n")
    (tmp_path / "spin").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run.main([]) == 2
    assert "apt-get install gcc" in capsys.readouterr().err


def test_an_unknown_case_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["NO_SUCH"]) == 2
    assert "NO_LATE" in capsys.readouterr().err


def test_two_cases_as_a_sign_of_life(capsys: pytest.CaptureFixture[str]) -> None:
    if lacking := run.missing():
        pytest.skip(f"cannot run here: {lacking}")
    assert run.main(["two claimers, unique key alone", "NO_LATE"]) == 0
    assert "2 of 2 as expected" in capsys.readouterr().out


def test_a_model_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    if lacking := run.missing():
        pytest.skip(f"cannot run here: {lacking}")
    monkeypatch.setattr(run, "CASES", (run.Case("wrong", f"{run.FLOOR} NO_LATE"),))
    assert run.main([]) == 1
    assert "WRONG, expected: it holds" in capsys.readouterr().out
