"""What the code declares becomes what is stored, or the runtime says why not."""

import sys
import types
from datetime import timedelta
from typing import Any

import pytest
from schedule_kit import Clock, Firing, Schedules, minute

from pulse_runtime.declare import Declared
from pulse_runtime.handlers import Registry
from pulse_runtime.scheduling.declaring import Mode, SchedulesDiffer, differences, reconcile
from pulse_runtime.store.connect import Connection, connect
from pulse_runtime.timing.timings import Cron, Every, Once, Timing

APP = "shop.jobs"


@pytest.fixture(autouse=True)
def module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    registry = Registry()
    for place in ("scheduling.declared", "scheduling.spec"):
        monkeypatch.setattr(f"pulse_runtime.{place}.registry", registry)
    made = types.ModuleType(APP)
    monkeypatch.setitem(sys.modules, APP, made)
    return made


@pytest.fixture
def ours(dsn: str, clock: Clock) -> Any:
    with connect(dsn, actor="test") as connection:
        yield connection


def entry(name: str, timing: Timing | None = None, **options: Any) -> Declared:
    return Declared(name=name, timing=timing or Every(60, minute(0)), job=options.pop("job", "k"), **options)


def declare(*entries: Declared) -> None:
    sys.modules[APP].schedules = list(entries)  # type: ignore[attr-defined]


def apply(ours: Connection, mode: Mode = "sync") -> list[str]:
    return [str(each) for each in reconcile(ours, [APP], mode)]


def names(schedules: Schedules) -> list[str]:
    return list(schedules.ask("select coalesce(array_agg(name::text order by name), '{}') from pulse.schedules"))


def test_sync_adds_edits_and_deletes_what_it_declared(
    ours: Connection, schedules: Schedules, clock: Clock, firing: Firing
) -> None:
    declare(entry("a"), entry("b", retry_delay="5s"))
    assert [each[:4] for each in apply(ours)] == ["+ a:", "+ b:"]
    assert apply(ours) == []
    assert schedules.ask("select array_agg(distinct declared_by || '|' || created_by) from pulse.schedules") == [
        f"{APP}|the code of {APP}"
    ]
    firing.each_minute(clock, 1, 1)
    declare(entry("b", Every(120, minute(0)), policies={"overlap": "skip"}))
    assert [each[:4] for each in apply(ours)] == ["- a:", "~ b:"]
    assert names(schedules) == ["b"]
    assert schedules.ask("select count(*) from pulse.delayed") == 0, "what was ahead is withdrawn"
    row = schedules.ask("select to_jsonb(s) from pulse.schedules s")
    assert (row["spec"], row["overlap"], row["options"], row["next_run_at"][:16]) == (
        "2m",
        "skip",
        None,
        "2026-11-18T12:02",
    )


def test_an_edit_that_leaves_the_timing_leaves_the_cursor(ours: Connection, schedules: Schedules, clock: Clock) -> None:
    declare(entry("a", Every(600, minute(0))))
    apply(ours)
    before = schedules.ask("select reckon_after from pulse.schedule")
    clock.advance(minutes=1)
    declare(entry("a", Every(600, minute(0)), job="other"))
    assert apply(ours) == ['~ a: job_kind "k" → "other"']
    assert schedules.ask("select reckon_after from pulse.schedule") == before


def test_rows_of_people_and_of_other_applications_are_untouched(ours: Connection, schedules: Schedules) -> None:
    schedules.add("by hand")
    schedules.add("theirs", declared_by="other.jobs")
    declare(entry("mine"))
    apply(ours)
    declare()
    assert [each[:1] for each in apply(ours)] == ["-"]
    assert names(schedules) == ["by hand", "theirs"]


def test_a_module_may_be_added_to_an_application(ours: Connection, schedules: Schedules) -> None:
    declare(entry("a"), entry("b"))
    apply(ours)
    more = [APP, "shop.more"]
    assert reconcile(ours, more, "strict") == []
    declare(entry("a"))
    assert [str(each)[:4] for each in reconcile(ours, more, "sync")] == ["- b:"]
    declare()
    assert [each[:4] for each in apply(ours)] == ["- a:"]


@pytest.mark.parametrize("mode", ["sync", "strict"])
def test_a_name_that_somebody_else_has_is_refused_and_nothing_is_changed(
    ours: Connection, schedules: Schedules, mode: Mode
) -> None:
    schedules.add("mine")
    declare(entry("mine"), entry("another"))
    with pytest.raises(
        SchedulesDiffer, match="! mine: the name is taken by a schedule made through the API"
    ) as refused:
        apply(ours, mode)
    assert refused.value.exit_code == 4
    assert names(schedules) == ["mine"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ([entry("a"), entry("b")], r"\+ b: every 1m"), ([], "- a: every 1m"),
        ([entry("a", Every(61, minute(0)))], '~ a: spec "1m" → "1m1s"'),
        ([entry("a", Every(60, minute(1)))], "~ a: anchor"), ([entry("a", Cron("@daily"))], "~ a: kind"),
        ([entry("a", retry_delay="7s")], "~ a: retry"),
    ],
)  # fmt: skip
def test_strict_refuses_each_kind_of_difference(
    ours: Connection, schedules: Schedules, changed: list[Declared], said: str
) -> None:
    declare(entry("a"))
    apply(ours)
    assert apply(ours, "strict") == []
    before = schedules.ask("select to_jsonb(s) from pulse.schedule s")
    declare(*changed)
    with pytest.raises(SchedulesDiffer, match=said):
        apply(ours, "strict")
    assert schedules.ask("select to_jsonb(s) from pulse.schedule s") == before
    assert apply(ours, "sync")
    assert apply(ours, "strict") == []


def test_strict_looks_at_name_timing_and_retry_delay_alone(ours: Connection) -> None:
    declare(entry("a"))
    apply(ours)
    declare(entry("a", policies={"overlap": "skip"}))
    assert apply(ours, "strict") == []
    assert [str(each) for each in differences(ours, [APP])] == ['~ a: overlap "allow" → "skip"']


def test_once_is_over_when_it_has_fired(ours: Connection, schedules: Schedules, clock: Clock, firing: Firing) -> None:
    declare(entry("a", Once(minute(1))))
    apply(ours)
    firing.each_minute(clock, 1, 2)
    assert names(schedules) == []
    assert apply(ours) == []
    assert apply(ours, "strict") == []


def test_a_schedule_that_was_paused_stays_so(ours: Connection, schedules: Schedules) -> None:
    declare(entry("a"))
    apply(ours)
    schedules.ask("select pulse.pause_schedule(pulse.schedule_id('a'))")
    declare(entry("a", Every(90, minute(0) + timedelta(seconds=5))))
    apply(ours)
    assert schedules.ask("select status from pulse.schedules") == "PAUSED"
