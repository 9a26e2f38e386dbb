"""Hostile and mistaken jobs are refused by name; ids and retry policies are what they say."""

import sys
import time
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulse_runtime import BadJob, BadRetry, Job, Retry
from pulse_runtime.ids import uuid7
from pulse_runtime.job_options import described
from pulse_runtime.job_spec import check

NOW = datetime.now(UTC)


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


HOSTILE_VALUES = {
    "a NUL": "a\0b",
    "half a surrogate pair": "a\ud800",
    "NaN": float("nan"),
    "Infinity": float("-inf"),
    "65 bits": 2**63,
    "a thousand digits": 10**1000,
    "101 levels": deep(101),
    "200,000 levels": deep(200_000),
    "a value that JSON has not": object(),
}
WRONG_OPTIONS: list[tuple[str, Any]] = [
    *[(name, bad) for name in ("kind", "queue", "tenant", "project", "key") for bad in ("", "a\0", "\udfff", 7)],
    ("kind", "k" * 201),
    ("kind", "é" * 101),
    ("queue", "q" * 101),
    ("tenant", "t" * 201),
    ("project", "p" * 201),
    ("key", "k" * 501),
    ("trace", "t" * 513),
    ("trace", "\0"),
    *[("priority", bad) for bad in (-11, 11, True, 1.0, "1")],
    *[("max_attempts", bad) for bad in (0, 1001, True, 2.0)],
    *[(name, bad) for name in ("delay", "timeout", "key_for") for bad in (-1, "11y", "4000d", float("nan"), True, b"")],
    *[("delay", bad) for bad in (float("inf"), 10**1000, timedelta.max, timedelta(seconds=-1), "-5s", "")],
    ("timeout", 0),
    ("at", NOW.replace(tzinfo=None)),
    ("at", NOW + timedelta(days=3651)),
    ("at", datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))),
    ("at", date(2030, 1, 1)),
    ("at", "2030-01-01T00:00:00Z"),
    ("retry", 3),
    ("keep_result", 1),
    ("metadata", {"x": "y" * 65_536}),
    ("metadata", [1]),
    *[("args", bad) for bad in ([], "text", None, 1, [("a", 1)])],
    ("args", {"x": "y" * (1 << 20)}),
    ("max_args_bytes", (4 << 20) + 1),
]


@pytest.mark.parametrize("value", HOSTILE_VALUES.values(), ids=HOSTILE_VALUES)
@pytest.mark.parametrize("field", ["args", "metadata"])
def test_a_hostile_value_is_refused_by_its_place(field: str, value: Any) -> None:
    with pytest.raises(BadJob) as caught:
        check(Job("a", {"x": value}) if field == "args" else Job("a", metadata={"x": value}))
    assert caught.value.field.startswith(field)
    assert str(caught.value).startswith(caught.value.field + ": ")


@given(
    before=st.lists(st.integers(0, 9), max_size=5),
    name=st.text("abc", min_size=1),
    bad=st.sampled_from(["a NUL", "half a surrogate pair", "NaN", "Infinity", "65 bits", "a thousand digits"]),
)
def test_a_hostile_value_is_found_wherever_it_is(before: list[int], name: str, bad: str) -> None:
    with pytest.raises(BadJob) as caught:
        check(Job("a", {name: {"list": [*before, HOSTILE_VALUES[bad]]}}))
    assert caught.value.field == f"args.{name}.list[{len(before)}]"


@pytest.mark.parametrize("name", ["a\0", "\ud800"])
def test_a_hostile_name_inside_the_arguments_is_refused(name: str) -> None:
    with pytest.raises(BadJob, match="a name in it"):
        check(Job("a", {"x": {name: 1}}))


@pytest.mark.parametrize(("field", "value"), WRONG_OPTIONS)
def test_an_option_out_of_bounds_is_refused_by_name(field: str, value: Any) -> None:
    more = {"key": "k"} if field == "key_for" else {}
    with pytest.raises(BadJob) as caught:
        check(Job(**{"kind": "a", **more, field: value}))
    assert caught.value.field == field


def test_both_delay_and_at_are_refused() -> None:
    with pytest.raises(BadJob, match="both delay and at"):
        check(Job("a", delay=1, at=NOW))


def test_a_period_without_a_key_is_refused() -> None:
    with pytest.raises(BadJob, match="there is no key"):
        check(Job("a", key_for="1h"))


def test_the_bounds_themselves_are_taken() -> None:
    largest = {"x": "y" * ((1 << 20) - len('{"x":""}'))}
    check(Job("k" * 200, largest, queue="q" * 100, priority=-10, delay="3650d", key="k" * 500, max_attempts=1000))
    check(Job("a", {"deep": deep(99), "least": -(2**63), "most": 2**63 - 1}, trace="t" * 512, priority=10))


def test_what_msgspec_can_write_is_sent_as_json() -> None:
    assert check(Job("a", {"at": datetime(2030, 1, 1, tzinfo=UTC), "n": {1}})).args == (
        '{"at":"2030-01-01T00:00:00Z","n":[1]}'
    )


class Safe(str):
    __slots__ = ()


class Measured(float):
    pass


def test_text_and_numbers_of_derived_classes_are_sent_as_what_they_are() -> None:
    assert check(Job("a", {"x": Safe("<b>"), "y": Measured(1.5)})).args == '{"x":"<b>","y":1.5}'
    for hostile in (Safe("\0"), Measured("nan")):
        with pytest.raises(BadJob) as caught:
            check(Job("a", {"x": hostile}))
        assert caught.value.field == "args.x"


def test_an_unknown_option_is_not_an_argument() -> None:
    with pytest.raises(BadJob) as caught:
        described("a", None, {"to": "x"})  # type: ignore[typeddict-unknown-key]
    assert caught.value.field == "to"


def test_a_job_with_arguments_takes_no_others() -> None:
    with pytest.raises(BadJob, match="has arguments already"):
        described(Job("a"), {"x": 1}, {})


def test_a_later_word_on_when_to_run_replaces_the_earlier() -> None:
    job = described(Job("a", at=NOW, queue="mine"), None, {"delay": "5s", "queue": None})
    assert (job.at, job.delay, job.queue) == (None, "5s", "mine")


def test_ids_are_uuid7_of_this_moment_and_differ() -> None:
    before = time.time_ns() // 1_000_000
    ids = [uuid7() for _ in range(1000)]
    after = time.time_ns() // 1_000_000
    assert len(set(ids)) == 1000
    assert {(each.version, each.variant) for each in ids} == {(7, "specified in RFC 4122")}
    assert all(before <= each.int >> 80 <= after for each in ids)


def test_retry_policies_are_what_the_database_reads() -> None:
    assert Retry(attempts=8).as_json() is None
    assert Retry(cap="1m").as_json() == {"cap_s": 60.0}
    assert Retry.fixed("5s").as_json() == {"kind": "fixed", "first_s": 5.0, "cap_s": 5.0}
    exponential = {"kind": "exponential", "first_s": 1.0, "factor": 3, "cap_s": 3600.0}
    assert Retry.exponential(factor=3, cap="1h").as_json() == exponential
    listed = Retry.listed(1, timedelta(seconds=10), "2d")
    assert listed.as_json() == {"kind": "list", "delays_s": [1.0, 10.0, 172_800.0], "cap_s": 172_800.0}
    assert listed.attempts == 4


def test_attempts_come_from_the_policy_unless_said() -> None:
    assert check(Job("a", retry=Retry(attempts=8))).max_attempts == 8
    assert check(Job("a", retry=Retry(attempts=8), max_attempts=2)).max_attempts == 2
    assert check(Job("a")).max_attempts is None


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("attempts", {"attempts": 0}),
        ("attempts", {"attempts": True}),
        ("cap", {"cap": "-1s"}),
        ("kind", {"kind": "never"}),
        ("delays", {"kind": "fixed"}),
        ("delays", {"kind": "list", "delays": [float("nan")]}),
        ("delays", {"kind": "list", "delays": [1] * 101}),
        ("factor", {"kind": "exponential", "delays": [1], "factor": sys.float_info.max}),
    ],
)
def test_a_policy_that_cannot_be_followed_is_refused_by_name(field: str, options: dict[str, Any]) -> None:
    with pytest.raises(BadRetry) as caught:
        Retry(**options)
    assert caught.value.field == field
