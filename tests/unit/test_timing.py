"""Once, every and cron: when they fire, how they are stored, what is refused, and what a person is told."""

import re
from datetime import UTC, datetime, timedelta
from statistics import mean
from uuid import UUID

import pytest

from pulse_runtime.timing.cron import parse
from pulse_runtime.timing.describing import describe
from pulse_runtime.timing.errors import BadCron, BadTiming, NeverFires, TooFrequent, UnknownZone
from pulse_runtime.timing.jitter import fire_at
from pulse_runtime.timing.previewing import preview
from pulse_runtime.timing.timings import Cron, Every, Once, check, every, occurrences, parse_timing
from pulse_runtime.timing.zones import zone_version

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
ID = UUID(int=7)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def fires(expr: str, tz: str, after: str, count: int) -> list[str]:
    found = list(occurrences(Cron(expr, tz), at(after), at("2099-01-01T00:00Z"), count))
    return [each.strftime("%m-%dT%H:%M") for each in found]


def test_once_fires_once_and_strictly_after() -> None:
    assert Once(NOW).next_after(NOW - timedelta(microseconds=1)) == NOW
    assert Once(NOW).next_after(NOW) is None


def test_every_is_the_anchor_and_whole_periods_after_it() -> None:
    timing = Every(90, NOW)
    assert timing.next_after(NOW - timedelta(days=400)) == NOW
    assert timing.next_after(NOW) == NOW + timedelta(seconds=90)
    assert timing.next_after(NOW + timedelta(seconds=180_000_001)) == NOW + timedelta(seconds=180_000_090)


def test_a_period_of_a_third_of_a_second_more_does_not_drift_in_a_million() -> None:
    timing = every("1333ms", anchor=NOW)
    assert timing.next_after(NOW + timedelta(milliseconds=1333 * 10**6)) == NOW + timedelta(
        milliseconds=1333 * (10**6 + 1)
    )


def test_a_fixed_time_in_a_gap_fires_at_its_end_and_only_once() -> None:
    assert fires("0,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", 3) == [
        "03-29T01:00",
        "03-30T00:00",
        "03-30T00:30",
    ]


def test_a_fixed_time_in_a_fold_fires_on_the_first_pass_only() -> None:
    assert fires("30 1 * * *", "America/New_York", "2026-10-31T12:00Z", 2) == ["11-01T05:30", "11-02T06:30"]


def test_a_repeating_expression_follows_real_time_through_fold_and_gap() -> None:
    assert fires("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:59Z", 5) == [
        "10-25T00:00", "10-25T00:30", "10-25T01:00", "10-25T01:30", "10-25T02:00",
    ]  # fmt: skip
    assert fires("*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", 1) == ["03-30T00:00"]


def test_either_of_two_restricted_days_suffices_but_a_star_only_narrows() -> None:
    assert fires("0 0 13 * FRI#1", "UTC", "2026-11-01T00:00Z", 3) == ["11-06T00:00", "11-13T00:00", "12-04T00:00"]
    assert fires("0 0 */2 * MON", "UTC", "2026-11-01T00:00Z", 3) == ["11-09T00:00", "11-23T00:00", "12-07T00:00"]


@pytest.mark.parametrize("timing", [Once(NOW), Every(5400.25, NOW), Cron("0 9 * * mon-fri", "Europe/Berlin")])
def test_a_timing_survives_being_stored(timing: Once | Every | Cron) -> None:
    assert parse_timing(timing.kind, timing.spec, timing.tz, timing.anchor) == timing


def test_the_stored_text_does_not_depend_on_how_it_was_typed() -> None:
    assert Cron("  0   9 * * mon-Fri ").spec == "0 9 * * MON-FRI"
    assert Cron("@Daily").spec == "@daily"
    assert every("90s", anchor=NOW).spec == every(90, anchor=NOW).spec == "1m30s"


@pytest.mark.parametrize(
    ("expr", "reason"),
    [
        ("", "empty"), ("* * * *", "4 fields"), ("* * * * * * *", "A year cannot be given"), ("60 * * * *", "0 to 59"),
        ("0 24 * * *", "Midnight is 0"), ("0 0 0 * *", "1 to 31"), ("0 0 * 13 *", "1 to 12"), ("0 0 * * 8", "0 to 7"),
        ("0 0 * * MONDAY", "three letters: MON"), ("*/90 * * * *", 'every("90m")'), ("*/0 * * * *", "from 1"),
        ("1,,2 * * * *", "no minute"), ("*,5 * * * *", "* in a list"), ("0 0 15W * *", "nearest weekday"),
        ("0 0 * * 1#6", "from 1 to 5"), ("0 0 * * FRI#L", "LFRI"), ("0 0 * * 1,2#1", "two schedules"),
        ("H 0 * * *", "jitter"),
        ("@reboot", "no moment"), ("@every 5m", 'every("5m")'), ("@dayly", "@daily"), ("0 0 L-3 * *", "is L"),
        ("-5 * * * *", "no minute"), ("٣ * * * *", "no minute"), ("9" * 5000 + " * * * *", "no minute"),
    ],
)  # fmt: skip
def test_a_wrong_expression_is_refused_with_the_reason(expr: str, reason: str) -> None:
    with pytest.raises(BadCron, match=re.escape(reason)) as refused:
        Cron(expr)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    "expr", ["0 0 31 2 *", "0 0 30,31 2 *", "0 0 31 4,6,9,11 *", "0 0 */30 * MON#2", "0 0 31 2 */2"]
)
def test_a_date_that_no_calendar_has_is_refused(expr: str) -> None:
    with pytest.raises(NeverFires, match="never fires"):
        Cron(expr)


def test_a_time_that_every_change_of_the_clocks_skips_is_refused() -> None:
    timing = Cron("*/5 0 * 4 LFRI", "Africa/Cairo")
    with pytest.raises(NeverFires, match="put forward"):
        check(timing, moment=NOW)


def test_a_moment_that_has_passed_is_refused() -> None:
    with pytest.raises(NeverFires, match="passed"):
        check(Once(NOW), moment=NOW)


@pytest.mark.parametrize("period", ["999ms", 0, 0.5])
def test_a_period_shorter_than_a_look_is_refused(period: str | float) -> None:
    with pytest.raises(TooFrequent, match="1s"):
        every(period, anchor=NOW)


@pytest.mark.parametrize("period", ["-5s", "11000d", float("inf"), float("nan"), "soon"])
def test_an_absurd_period_is_refused(period: str | float) -> None:
    with pytest.raises(BadTiming):
        every(period, anchor=NOW)


def test_an_expression_that_fires_more_often_than_the_scheduler_looks_is_refused() -> None:
    check(Cron("* * * * * *"), moment=NOW)
    with pytest.raises(TooFrequent, match="every 20 s"):
        check(Cron("10,30 * * * * *"), moment=NOW, look_s=30)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("europe/berlin", "Europe/Berlin"), ("Berlin", "Europe/Berlin"), ("", "such as"), ("../UTC", "such as")],
)
def test_an_unknown_zone_is_refused_with_one_that_exists(name: str, hint: str) -> None:
    with pytest.raises(UnknownZone, match=hint):
        Cron("@daily", name)


def test_the_zone_database_has_a_version() -> None:
    assert zone_version() == zone_version() != ""


def test_naive_moments_are_refused() -> None:
    with pytest.raises(BadTiming, match="no zone"):
        Once(datetime(2026, 1, 1))  # noqa: DTZ001


def test_jitter_is_the_same_everywhere_and_within_its_share() -> None:
    timing = Every(1000, NOW)
    shifts = [
        (fire_at(timing, ID, each, 0.25) - each).total_seconds()
        for each in occurrences(timing, NOW, NOW + timedelta(days=30), 500)
    ]
    # Written down, because another Python on another host must find the same.
    assert shifts[:2] == [-190.525, 200.28]
    assert max(map(abs, shifts)) <= 250
    assert min(shifts) < -200 < 200 < max(shifts)
    assert abs(mean(shifts)) < 30


def test_jitter_never_reaches_a_neighbour() -> None:
    timing = Cron("0 9,10 * * *")
    found = [fire_at(timing, ID, each, 0.5) for each in occurrences(timing, NOW, NOW + timedelta(days=90), 100)]
    assert found == sorted(found)


def test_the_shortest_time_between_two_is_known() -> None:
    texts = ("* * * * *", "0,50 * * * *", "0 9,17 * * *", "5/20 * * * * *", "@daily")
    assert [parse(text).shortest_s for text in texts] == [60, 600, 28_800, 20, 86_400]


@pytest.mark.parametrize(
    ("expr", "said"),
    [
        ("* * * * *", "every minute"),
        ("*/5 * * * *", "every 5 minutes"),
        ("@hourly", "every hour"),
        ("0 9 * * MON-FRI", "at 09:00, on Monday to Friday"),
        ("0 0 1,15 * *", "at 00:00, on the 1st and 15th of the month"),
        ("30 18 L * *", "at 18:30, on the last day of the month"),
        ("0 8 * 6-8 SAT,SUN", "at 08:00, on Saturday and Sunday, in June to August"),
        ("0 0 13 * FRI", "at 00:00, on the 13th of the month or on Friday"),
        ("0 0 * * MON#1", "at 00:00, on the first Monday of the month"),
        ("0 12 29 2 *", "at 12:00, on the 29th of the month, in February"),
        ("*/15 9-17 * * *", "every 15 minutes in the hours 09 to 17"),
        ("*/10 * * * * *", "every 10 seconds"),
        ("0 0 1-31 * FRI", "at 00:00"),
        ("0 0 */10 * MON", "at 00:00, on the 1st, 11th, 21st and 31st of the month if it is Monday"),
    ],
)
def test_an_expression_is_said_in_plain_english(expr: str, said: str) -> None:
    assert describe(expr) == said


def test_a_preview_marks_what_the_clocks_moved() -> None:
    gap = preview(Cron("30 2 * * *", "Europe/Berlin"), after=at("2026-03-28T12:00Z"), count=2)
    assert [each.local.isoformat() for each in gap] == ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"]
    assert "gap: 02:30:00 does not exist" in gap[0].note
    assert gap[1].note == ""
    fold = preview(Cron("30 2 * * *", "Europe/Berlin"), after=at("2026-10-24T12:00Z"), count=1)
    assert "the only one that fires" in fold[0].note
    both = preview(Cron("30 * * * *", "Europe/Berlin"), after=at("2026-10-24T23:59Z"), count=2)
    assert ["first pass" in both[0].note, "second pass" in both[1].note] == [True, True]


def test_a_preview_of_a_period_and_of_a_moment_has_no_notes() -> None:
    assert [each.note for each in preview(Every(60, NOW), after=NOW, count=3)] == ["", "", ""]
    assert len(preview(Once(NOW), after=NOW - timedelta(1), count=3)) == 1
