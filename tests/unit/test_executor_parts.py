"""The parts of an executor that decide: deadlines, pace, what is on its way, retries, splitting what cannot be read."""

import json
import mmap
import string

import anyio
import pytest
from executor_kit import Stage, handler, job
from hypothesis import given
from hypothesis import strategies as st

from pulse_runtime import BadRetry, Retry, Snooze
from pulse_runtime.execution import black_box
from pulse_runtime.execution.black_box import RUNNING, BlackBox
from pulse_runtime.execution.deadlines import NEVER, Deadlines
from pulse_runtime.execution.delivery import Unreadable, _split, decode
from pulse_runtime.execution.holding import Holdings
from pulse_runtime.execution.outbox import MOST_SENT_BYTES, Outbox
from pulse_runtime.execution.pace import Pace
from pulse_runtime.execution.retrying import after_failure
from pulse_runtime.execution.telling import told
from pulse_runtime.messages import Batch, Report
from pulse_runtime.sizes import BadSize, parse_bytes

steps = st.lists(
    st.tuples(st.sampled_from(["add", "end", "pass"]), st.integers(0, 20), st.integers(0, 1000)), max_size=80
)


@given(steps)
def test_the_supervisor_is_told_the_earliest_deadline_of_those_that_run(steps: list[tuple[str, int, int]]) -> None:
    told_: list[float] = [0.0]
    deadlines, running, passed, now = Deadlines(told_.append), dict[int, float](), set[int](), 0.0
    for step, who, moment in steps:
        if step == "add" and who not in running:
            running[who] = now + 1 + moment
            deadlines.add(who, running[who])
        elif step == "end":
            running.pop(who, None)
            passed.discard(who)
            deadlines.ended(who)
        elif step == "pass":
            now += moment
            found: set[object] = set(deadlines.passed(now))
            assert found == {each for each, at in running.items() if at <= now} - passed, "each is told once"
            passed |= {each for each in running if each in found}
        assert told_[-1] == min(running.values(), default=0.0)
        assert deadlines.next == min((at for each, at in running.items() if each not in passed), default=NEVER)


def test_deadlines_of_jobs_that_ended_are_forgotten_although_one_runs_on() -> None:
    deadlines = Deadlines(lambda _: None)
    deadlines.add("long", 10.0)
    for number in range(10_000):
        deadlines.add(number, 20.0 + number)
        deadlines.ended(number)
    assert len(deadlines._heap) < 100


def test_prefetch_is_about_50_ms_of_what_was_measured_and_a_pause_does_not_count() -> None:
    pace = Pace(most=900)
    assert pace.prefetch(100.0) == 0, "nothing is known yet"
    pace.began(100.0)
    for _ in range(1000):
        pace.ended(500)
    pace.rested(100.1)
    assert pace.prefetch(5000.0) == 500
    pace.began(9000.0)
    for _ in range(1000):
        pace.ended(100)
    assert pace.prefetch(9000.025) == 900, "and no more than fits into a claim"


@pytest.mark.parametrize("took_s", [0.05, 0.2, 60.0])
def test_nothing_is_prefetched_for_slow_jobs_however_many_end_at_once(took_s: float) -> None:
    pace = Pace(most=900)
    pace.began(100.0)
    for _ in range(500):
        pace.ended(round(took_s * 1e6))
    assert pace.prefetch(100.0 + took_s) == 0


def test_an_executor_asks_for_its_free_slots_at_first_and_for_more_when_it_proves_fast() -> None:
    async def quick() -> None: ...

    with Stage(handler(quick), concurrency=10) as stage:
        stage.until(lambda: bool(stage.demands))
        assert stage.demands[0].slots == 10
        while stage.demands[-1:] == [] or stage.demands[-1].slots <= 20:
            stage.run(*[job("quick") for _ in range(200)])
            stage.until(lambda: bool(stage.demands))


def report(number: int, size: int) -> Report:
    return Report(number, 1, "t", "1", "1", [], "x" * size)


def test_reports_are_sent_in_their_order_and_no_faster_than_they_become_durable() -> None:
    outbox = Outbox()
    for number in range(1, 6):
        outbox.put(report(number, MOST_SENT_BYTES // 2))
    assert [each.number for each in outbox.take()] == [1, 2]
    assert list(outbox.take()) == []
    outbox.settled(2)
    assert [each.number for each in outbox.take()] == [3]
    outbox.again()
    assert [each.number for each in outbox.take()] == [1, 3], "a new reporter has none of them"
    for number in (1, 3, 3, 4):  # 4 became durable by what an earlier life of the reporter was sent
        outbox.settled(number)
    assert [each.number for each in outbox.take()] == [5]
    outbox.settled(5)
    assert (len(outbox), outbox.size, outbox._sent_bytes) == (0, 0, 0)


def test_a_report_tells_durations_in_the_order_of_its_mask_whatever_ended_first() -> None:
    with mmap.mmap(-1, black_box.size_for(10)) as memory:
        holdings = Holdings(BlackBox(memory))
        batch = Batch(7, "01890a5d-ac96-774b-bcce-b302099a8057", b"")
        held = holdings.open(batch, 3)
        assert held is not None
        assert holdings.open(batch, 3) is None, "its reply came twice"
        for position, took_us in ((2, 70), (0, 50)):
            holdings.succeeded(held, position, took_us)
        holdings.flush()
        (sent,) = holdings.to_send()
        assert (sent.mask, sent.took_us) == ("101", "50,70")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(string.printable + '"\\é'),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(values, max_size=6), st.sampled_from([None, 1]))
def test_an_array_is_split_where_its_elements_meet(elements: list[object], indent: int | None) -> None:
    parts = _split(json.dumps(elements, indent=indent, ensure_ascii=False).encode())
    assert [json.loads(each) for each in parts] == elements


def test_only_what_cannot_be_read_is_unreadable() -> None:
    good = '["01890a5d-ac96-774b-bcce-b302099a8057","k",{},1,0,25,0]'
    found = decode(f'[{good},["x"],{good},null,["x","k",{{}},"one",0,25,0]]'.encode())
    assert [type(each).__name__ for each in found] == ["Delivery", "Unreadable", "Delivery", "NoneType", "Unreadable"]
    assert isinstance(found[1], Unreadable)


class Money(Exception):  # noqa: N818
    pass


class NoMoney(Money):
    pass


@pytest.mark.parametrize("failures", [1, 2, 7])
def test_delays_that_an_executor_reckons_are_those_of_the_database(failures: int) -> None:
    expected = {
        Retry(): failures**2,
        Retry(cap=3): min(failures**2, 3),
        Retry.fixed("5s"): 5,
        Retry.exponential(2, factor=3): 2 * 3 ** (failures - 1),
        Retry.listed(1, 10): [1, 10, 10, 10, 10, 10, 10][failures - 1],
    }
    for policy, seconds in expected.items():
        assert policy.delay_s(failures, ValueError()) == pytest.approx(seconds)
        ending, delay_ms = after_failure(ValueError(), failures=failures, told=None, of_handler=policy)
        assert ending == "fail"
        assert delay_ms is not None
        assert 0.89 * seconds <= delay_ms / 1000 <= 1.11 * seconds


def test_a_policy_names_what_is_never_retried_so_that_it_can_travel() -> None:
    policy = Retry.exponential("1s", never=(Money, KeyError))
    told_ = policy.as_json()
    assert told_ is not None
    assert told_["never"] == [f"{__name__}.Money", "builtins.KeyError"]
    for error, ending in ((NoMoney(), "dead"), (KeyError(), "dead"), (LookupError(), "fail")):
        assert after_failure(error, failures=1, told=told_, of_handler=None) == (ending, None)


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("never", lambda: Retry(never=("ValueError",))),  # type: ignore[arg-type]
        ("never", lambda: Retry(never=[ValueError] * 21)),
        ("compute", lambda: Retry(kind="computed")),
        ("compute", lambda: Retry(compute=lambda *_: 1)),
    ],
)
def test_a_policy_that_cannot_be_followed_is_refused(field: str, make: object) -> None:
    with pytest.raises(BadRetry) as caught:
        make()  # type: ignore[operator]
    assert caught.value.field == field


def test_what_compute_answers_is_bounded_and_may_be_wrong() -> None:
    assert Retry.computed(lambda *_: "2h", cap="1h").delay_s(1, ValueError()) == 3600
    assert Retry.computed(lambda *_: 10**7).delay_s(1, ValueError()) == 86_400
    for wrong in (-1, "soon", None, float("nan")):
        policy = Retry.computed(lambda *_, wrong=wrong: wrong)
        assert after_failure(ValueError(), failures=1, told=None, of_handler=policy) == ("fail", None)


@pytest.mark.parametrize("delay", [-1, "soon", None, float("nan")])
def test_a_snooze_for_no_length_of_time_is_an_error_of_the_handler(delay: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (which words depends on what is wrong)
        Snooze(delay)  # type: ignore[arg-type]


def test_an_error_whose_own_words_raise_is_told_all_the_same() -> None:
    class Mute(Exception):  # noqa: N818
        def __str__(self) -> str:
            raise RuntimeError

    assert told(Mute()).startswith("Mute: (its words raise)")
    assert len(told(ValueError("x" * 100_000))) <= 8000


@pytest.mark.parametrize(
    ("text", "size"),
    [("512MiB", 512 << 20), ("1.5 GB", 3 << 29), ("800m", 800 << 20), ("7", 7), ("64KiB", 65_536)],
)
def test_amounts_of_memory_are_read_as_people_write_them(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1M", "1X", "1e3", "MiB"])
def test_what_is_no_amount_of_memory_is_refused(text: str) -> None:
    with pytest.raises(BadSize, match="512MiB"):
        parse_bytes(text)


def test_as_many_jobs_run_as_there_are_slots_although_each_came_in_a_claim_of_its_own() -> None:
    async def long() -> None:
        await anyio.sleep_forever()

    with Stage(handler(long), concurrency=300) as stage:
        claims = [stage.deliver(job("long")) for _ in range(300)]
        stage.until(lambda: all(stage.states(each) == bytes([RUNNING]) for each in claims[-3:]))
