"""The history checker: good histories pass, and each kind of violation that is put into one is reported."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from checker import rules_jobs, rules_runs
from checker.check import check
from checker.history import Database, History, Run, history_of, read_history
from checker.index import Index
from checker.mutations import MUTATIONS, Mutation
from checker.record import VARIABLE, Recorder
from checker.scribe import Scribe
from hypothesis import given
from hypothesis import strategies as st

TESTS = Path(__file__).parents[1]
ENDINGS = ["fail", "crash", "lost", "suspect", "snooze", "release", "dead"]
LASTS = ["done", "running", "waiting", "cancel"]
lives = st.lists(st.tuples(st.lists(st.sampled_from(ENDINGS), max_size=6), st.sampled_from(LASTS)), max_size=8)
Lives = list[tuple[list[str], str]]


def history_with(others: Lives, *mine: str) -> tuple[History, str]:
    """A good history in which the first job's attempts ended like `mine`."""
    scribe = Scribe()
    job = scribe.live(list(mine[:-1]), mine[-1])
    for endings, last in others:
        scribe.live(endings, last)
    return scribe.history(), job


@given(lives)
def test_good_histories_pass(others: Lives) -> None:
    assert check(history_with(others, "release", "fail", "lost", "done")[0]) == []


def test_a_job_whose_acknowledgement_was_lost_may_be_there_or_not() -> None:
    history, job = history_with([], "done")
    assert check(replace(history, enqueued=(), unsure=(job, "another"))) == []


def test_a_run_may_overlap_one_whose_executor_was_reaped() -> None:
    history, _ = history_with([], "lost", "done")
    first, second = history.runs
    assert check(replace(history, runs=(replace(first, end=second.start + 1, outcome="ok"), second))) == []


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.name)
@given(others=lives)
def test_what_breaks_the_contract_is_reported(mutation: Mutation, others: Lives) -> None:
    history, job = history_with(others, *mutation.endings)
    assert check(history) == []
    problems = check(mutation.apply(history, job))
    assert [each for each in problems if each.startswith(mutation.report) and job in each], problems


def test_every_rule_is_broken_by_a_mutation() -> None:
    silent = {*rules_jobs.RULES, *rules_runs.RULES}
    for mutation in MUTATIONS:
        history, job = history_with([], *mutation.endings)
        index = Index(mutation.apply(history, job))
        silent -= {rule for rule in silent if any(rule(index))}
    assert silent == set()


def test_lines_of_many_processes_become_runs(tmp_path: Path) -> None:
    lines = [
        {"event": "end", "id": "a", "attempt": 1, "pid": 1, "at": 30, "outcome": "ok"},
        {"event": "start", "id": "a", "attempt": 1, "pid": 1, "at": 10},
        {"event": "start", "id": "a", "attempt": 1, "pid": 2, "at": 20},
        {"event": "end", "id": "b", "attempt": 1, "pid": 2, "at": 40, "outcome": "ok"},
        {"event": "enqueued", "id": "a", "pid": 3, "at": 1},
        {"event": "retried", "id": "a", "pid": 3, "at": 50},
    ]
    history = history_of(lines, Database())
    assert history.runs == (Run("a", 1, 10, pid=1, end=30, outcome="ok"), Run("a", 1, 20, pid=2))
    assert (history.enqueued, history.strays, history.retried["a"]) == (("a",), ("b attempt 1",), 1)


def test_what_processes_record_at_once_is_read_back_whole(tmp_path: Path) -> None:
    file = tmp_path / "history"
    assert read_history(file, Database()).enqueued == ()
    write = f"Recorder(Path({str(file)!r})).write('enqueued', id='x' * n)"
    code = f"from checker.record import *\nfor n in range(500): {write}"
    writers = [subprocess.Popen([sys.executable, "-c", code], cwd=TESTS) for _ in range(2)]
    assert [each.wait(timeout=30) for each in writers] == [0, 0]
    assert len(read_history(file, Database()).enqueued) == 1000


def test_handlers_without_a_file_to_write_to_are_told_which_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(RuntimeError, match=VARIABLE):
        Recorder.from_environment()
