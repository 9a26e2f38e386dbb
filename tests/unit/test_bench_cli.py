"""The command line: exit codes, files, and the check of a recorded file."""

import json
import os
import pwd
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks import AtLeast, AtMost, Bench, Sample, Scenario, cli, scenario
from benchmarks.catalog import NAMES, Suite
from benchmarks.record import read

TARGETS = (AtLeast("rate", 2, of="base"), AtMost("ms", 10, unit="ms", stat="p99", label="latency"))


def made(measure: Callable[[Bench[Any]], Sample], name: str = "drain") -> Scenario[Any]:
    return scenario(name, targets=TARGETS, rounds=4)(measure)


def good(bench: Bench[Any]) -> Sample:
    return {"rate": 3.0, "base": 1, "ms": [1.0, 2.0]}


def broken(bench: Bench[Any]) -> Sample:
    raise OSError("gone")


def interrupted_in_round_2(bench: Bench[Any]) -> Sample:
    if bench.round == 2:
        raise KeyboardInterrupt
    return good(bench)


def command(monkeypatch: pytest.MonkeyPatch, *scenarios: Scenario[Any]) -> Callable[..., Any]:
    """The command line with these scenarios in place of the real `operate`."""
    suites = {name: Suite(name=name, scenarios=()) for name in NAMES} | {
        "operate": Suite(name="operate", scenarios=scenarios)
    }
    monkeypatch.setattr(cli, "load", suites.__getitem__)
    return lambda *words: CliRunner().invoke(cli.main, [str(word) for word in words])


def test_rows_that_hold_exit_0_and_are_printed_as_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    result = command(monkeypatch, made(good))("operate")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "scenario        value  target       holds  spread",
        "drain           3 ×    ≥ 2 ×        yes    ± 0",
        "drain: latency  2 ms   p99 ≤ 10 ms  yes    ± 0.5",
        "",
        "2 of 2 rows hold",
    ]
    assert "drain: round 4 of 4\n" in result.stderr


def test_an_interrupted_run_exits_130_and_still_writes_what_it_has(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "out.json"
    result = command(monkeypatch, made(interrupted_in_round_2), made(good, "later"))("operate", "--json", file)
    assert result.exit_code == 130
    first, second = read(file)
    assert (first.rounds_done, len(first.samples), len(second.samples)) == (2, 2, 4)
    assert (first.holds, first.note) == (False, "incomplete: 2 of 4 rounds")
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_rounds_and_only_and_quick_choose_what_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    call = command(monkeypatch, made(good, "drain"), made(good, "held open"))
    assert call("operate", "--only", "HELD", "--rounds", 2, "--json", tmp_path / "a").exit_code == 0
    assert {(row.scenario, row.rounds_done) for row in read(tmp_path / "a")} == {
        ("held open", 2),
        ("held open: latency", 2),
    }
    call("operate", "--quick", "--json", tmp_path / "b")
    assert {(row.rounds_done, row.quick, row.command) for row in read(tmp_path / "b")} == {
        (3, True, "python -m benchmarks operate --quick")
    }


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["store"], "store has no rows yet; these have: operate"),
        (["operate", "--only", "nothing"], "no row of operate contains 'nothing'"),
        (["operate", "--json", "no/such/folder/x.json"], "cannot write into no/such/folder"),
        (["operate", "--rounds", "0"], "--rounds"),
        (["unheard-of"], "unheard-of"),
    ],
)
def test_usage_errors_exit_2_and_say_what_to_do(monkeypatch: pytest.MonkeyPatch, words: list[str], says: str) -> None:
    result = command(monkeypatch, made(broken))(*words)
    assert result.exit_code == 2
    assert says in result.stderr


def test_without_a_name_it_lists_every_name_and_row(monkeypatch: pytest.MonkeyPatch) -> None:
    result = command(monkeypatch, made(good))()
    assert result.exit_code == 0
    assert result.stdout.split("\n\n")[3:] == [
        "operate\n  drain           ≥ 2 ×\n  drain: latency  p99 ≤ 10 ms",
        "peers\n  no rows yet\n",
    ]


@pytest.mark.parametrize(
    "tamper",
    [
        lambda row: row.update(holds=not row["holds"]),
        lambda row: row.update(value=99.0),
        lambda row: row.update(spread=99.0),
        lambda row: row["target"].update(limit=5.0),
        lambda row: row["samples"].__setitem__(slice(2), [{"value": 1, "baseline": 1}] * 2),
        lambda row: row["samples"].pop(),
        lambda row: row.update(note="within spread"),
    ],
)
def test_check_finds_a_tampered_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tamper: Callable[[dict[str, Any]], object]
) -> None:
    file = tmp_path / "out.json"
    call = command(monkeypatch, made(good), made(broken, "broken"))
    call("operate", "--json", file)
    assert call("check", file).exit_code == 0
    rows = json.loads(file.read_text())
    tamper(rows[0])
    file.write_text(json.dumps(rows))
    result = call("check", file)
    assert (result.exit_code, result.stdout.startswith("drain: ")) == (6, True)


def test_check_of_something_else_is_a_usage_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('[{"scenario": 1}]')
    assert command(monkeypatch)("check", file).exit_code == 2
    assert command(monkeypatch)("check", tmp_path / "missing.json").exit_code == 2


def test_a_result_has_every_promised_field_and_names_no_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "out.json"
    command(monkeypatch, made(good))("operate", "--json", file)
    text = file.read_text()
    row = json.loads(text)[0]
    assert {"scenario", "value", "unit", "target", "holds", "samples", "spread", "environment"} <= row.keys()
    assert {"date", "python", "platform", "cores", "cpu", "memory_mb", "load_average", "commit", "dirty"} <= row[
        "environment"
    ].keys()
    for secret in (str(tmp_path), str(Path.cwd()), str(Path.home()), socket.gethostname()):
        assert secret not in text
    assert pwd.getpwuid(os.getuid()).pw_name not in row["environment"].values()
