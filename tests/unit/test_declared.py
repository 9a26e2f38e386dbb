"""Declared schedules: what modules say, and how that differs from what is stored."""

import sys
import types
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pulse_runtime import handlers, job
from pulse_runtime.declare import EPOCH, Declared, cron, every
from pulse_runtime.errors import ConfigError
from pulse_runtime.scheduling.declared import Row, application_of, collect, difference
from pulse_runtime.timing.timings import Cron, Every

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
APP = "shop.jobs"


@pytest.fixture(autouse=True)
def module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """An empty handler module, and a registry of its own."""
    fresh = handlers.Registry()
    monkeypatch.setattr(handlers, "registry", fresh)
    monkeypatch.setattr("pulse_runtime.scheduling.declared.registry", fresh)
    monkeypatch.setattr("pulse_runtime.scheduling.spec.registry", fresh)
    made = types.ModuleType(APP)
    monkeypatch.setitem(sys.modules, APP, made)
    return made


def rows() -> dict[str, Row]:
    return {row["name"]: row for row in collect([APP], moment=NOW)}


def stored(row: Row, **changed: Any) -> Row:
    return {**row, "declared_by": APP, **changed}


def test_decorators_declare_above_and_below_job() -> None:
    @cron("0 9 * * mon-fri", "Europe/Berlin", overlap="skip")
    @job(queue="mail")
    def above(day: int = 1) -> None: ...

    @job
    @every("90s", args={"day": 2}, retry_delay="5s")
    def below(day: int) -> None: ...

    found = rows()
    assert [found["above"][name] for name in ("kind", "spec", "tz", "queue", "overlap")] == [
        "cron", "0 9 * * MON-FRI", "Europe/Berlin", "mail", "skip",
    ]  # fmt: skip
    assert [found["below"][name] for name in ("spec", "anchor", "args")] == ["1m30s", EPOCH, {"day": 2}]
    assert found["below"]["options"]["retry"]["kind"] == "fixed"


def test_a_list_declares_what_has_no_handler_here(module: types.ModuleType) -> None:
    module.schedules = [Declared(timing=Cron("@daily"), job="elsewhere", name="nightly")]  # type: ignore[attr-defined]
    assert rows()["nightly"]["job_kind"] == "elsewhere"


def test_two_schedules_of_one_handler_need_two_names() -> None:
    @cron("@daily")
    @cron("@hourly")
    @job
    def report() -> None: ...

    with pytest.raises(ConfigError, match=r"schedule report: .*twice.*name="):
        rows()


@pytest.mark.parametrize("entry", [
    Declared(timing=Cron("@daily"), name="x"),
    Declared(timing=Cron("*/5 0 * 4 LFRI", "Africa/Cairo"), job="a", name="x"),
    Declared(timing=Cron("@daily"), job="a", name="x", policies={"overlapp": "skip"}),  # type: ignore[typeddict-unknown-key]
])  # fmt: skip
def test_an_entry_that_cannot_be_kept_is_named(module: types.ModuleType, entry: Declared) -> None:
    module.schedules = [entry]  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match="schedule x: "):
        rows()


def test_arguments_that_the_handler_does_not_take_are_refused() -> None:
    @cron("@daily", args={"dya": 1})
    @job
    def report(day: int = 1) -> None: ...

    with pytest.raises(ConfigError, match="schedule report"):
        rows()


def declared(**changed: Any) -> Row:
    entry = Declared(timing=Every(60, NOW), job="a", name="each minute", retry_delay="5s")
    sys.modules[APP].schedules = [entry]  # type: ignore[attr-defined]
    return {**rows()["each minute"], **changed}


def test_equal_sets_have_no_difference() -> None:
    assert difference([declared()], [stored(declared())], application=APP) == []


@pytest.mark.parametrize(
    ("change", "strict"),
    [
        ({"spec": "2m"}, True), ({"kind": "cron", "spec": "@daily", "tz": "UTC", "anchor": None}, True),
        ({"anchor": NOW + timedelta(seconds=1)}, True), ({"options": {"retry": {"kind": "fixed", "first_s": 6}}}, True),
        ({"options": None}, True), ({"args": {"a": 1}}, False), ({"queue": "other"}, False),
        ({"overlap": "skip"}, False),
    ],
)  # fmt: skip
def test_each_kind_of_difference_is_seen(change: dict[str, Any], strict: bool) -> None:
    (found,) = difference([declared()], [stored(declared(), **change)], application=APP)
    assert (found.action, found.strict) == ("edit", strict)
    assert str(found).startswith("~ each minute: ")
    assert "→" in str(found)


def test_another_zone_is_another_timing() -> None:
    sys.modules[APP].schedules = [Declared(timing=Cron("@daily", "Europe/Berlin"), job="a", name="x")]  # type: ignore[attr-defined]
    row = rows()["x"]
    (found,) = difference([row], [stored(row, tz="UTC")], application=APP)
    assert (found.strict, str(found)) == (True, '~ x: tz "UTC" → "Europe/Berlin"')


def test_what_is_missing_is_added_and_what_is_no_longer_declared_is_deleted() -> None:
    old = stored(declared(), name="old")
    found = difference([declared()], [old], application=APP)
    assert [str(each) for each in found] == ["+ each minute: every 1m", "- old: every 1m"]
    assert all(each.strict for each in found)


def test_rows_of_the_api_and_of_other_applications_are_never_touched() -> None:
    others = [stored(declared(), name=name, declared_by=owner) for name, owner in (("mine", None), ("theirs", "else"))]
    assert difference([], others, application=APP) == []


def test_a_name_that_someone_else_has_is_taken() -> None:
    (found,) = difference([declared()], [stored(declared(), declared_by=None)], application=APP)
    assert (found.action, found.strict) == ("taken", True)
    assert str(found) == "! each minute: the name is taken by a schedule made through the API"


@pytest.mark.parametrize(
    ("stored_by", "ours", "shared", "gone"),
    [
        ("a", "a,b", [], ["delete"]),  # a module was added to the command line
        ("a,b", "a", [], []),  # another runtime has one module more
        ("a,b", "b,c", [], []),
        ("a,b", "c", ["taken"], []),
        ("ab", "a,b", ["taken"], []),
        (None, "a", ["taken"], []),
    ],
)
def test_applications_may_share_modules(stored_by: str | None, ours: str, shared: list[str], gone: list[str]) -> None:
    """What becomes of a schedule that both declare, and of one that we do not (any more)."""
    row = declared()
    old = [stored(row, declared_by=stored_by)]
    assert [each.action for each in difference([row], old, application=ours)] == shared
    assert [each.action for each in difference([], old, application=ours)] == gone


def test_an_application_is_its_modules_in_any_order() -> None:
    assert application_of(["b", "a:thing", "a"]) == application_of(["a", "b"]) == "a,b"
