"""How handlers can end, on asyncio, on trio and in threads, and what an executor makes of it."""

import asyncio
import contextvars
import threading
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import anyio
import anyio.lowlevel
import pytest
from executor_kit import LOOPS, How, Stage, handler, job

from pulse_runtime import BadJob, Cancel, Context, Fail, Retry, Snooze

loops = pytest.mark.parametrize("loop", LOOPS)
seen: contextvars.ContextVar[list[str]] = contextvars.ContextVar("seen")


class Refusal(Exception):  # noqa: N818
    pass


class BadCard(Refusal):
    pass


async def double(n: int) -> int:
    await anyio.lowlevel.checkpoint()
    return 2 * n


def triple(n: int) -> int:
    return 3 * n


async def raises(what: str) -> None:
    raise ENDS[what]()


def raises_in_a_thread(what: str) -> None:
    raise ENDS[what]()


async def raises_in_a_group(what: str) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(raises, what)


ENDS: dict[str, Any] = {
    "value": lambda: ValueError("no"),
    "exit": lambda: SystemExit(1),
    "interrupt": KeyboardInterrupt,
    "generator": GeneratorExit,
    "cancelled": asyncio.CancelledError,
    "snooze": lambda: Snooze("90s"),
    "cancel": lambda: Cancel("not wanted"),
    "fail": lambda: Fail("bad card"),
    "words": lambda: ValueError("\0 and \ud800"),
}


@loops
def test_async_handlers_and_those_that_block_run_side_by_side(loop: str) -> None:
    with Stage(handler(double, keep_result=True), handler(triple, keep_result=True), loop=loop) as stage:
        ends = stage.run(*[job("double", {"n": n}) for n in range(50)], *[job("triple", {"n": n}) for n in range(50)])
    assert [each.result for each in ends] == [*[2 * n for n in range(50)], *[3 * n for n in range(50)]]


@loops
@pytest.mark.parametrize("function", [raises, raises_in_a_thread, raises_in_a_group])
def test_whatever_is_raised_is_the_end_of_that_job_alone(function: Any, loop: str) -> None:
    order = [*ENDS, "value"]
    with Stage(handler(function, "raises"), loop=loop) as stage:
        ends = dict(zip(order, stage.run(*[job("raises", {"what": what}) for what in order]), strict=True))
        first = {what: (each.ending, (each.error or "").partition("\n")[0]) for what, each in ends.items()}
        assert stage.run(job("raises", {"what": "value"}))[0].ending == "fail", "the executor lives"
    assert first["value"] == ("fail", "ValueError: no")
    assert first["exit"] == ("fail", "SystemExit: 1")
    assert first["words"] == ("fail", "ValueError: � and ?")
    assert first["snooze"] == ("snooze", "")
    assert ends["snooze"].delay_ms == 90_000
    assert first["cancel"] == ("cancel", "not wanted")
    assert first["fail"] == ("dead", "bad card")
    if not (function is raises_in_a_group and loop == "uvloop"):  # a cancelled child of a group is no error there
        assert [first[what][0] for what in ("interrupt", "generator", "cancelled")] == ["fail"] * 3


@loops
def test_an_error_is_told_with_the_frames_of_the_handler_and_none_of_ours(loop: str) -> None:
    with Stage(handler(raises), loop=loop) as stage:
        (how,) = stage.run(job("raises", {"what": "value"}))
    assert how.error is not None
    assert "raise ENDS[what]()" in how.error
    assert "shell.py" not in how.error


@loops
def test_results_that_cannot_be_kept_fail_the_job_with_the_reason(loop: str) -> None:
    async def returns(what: str) -> Any:
        return {"nan": float("nan"), "object": object(), "large": "x" * 50_000_000, "wide": 2**64, "nul": "\0"}[what]

    with Stage(handler(returns), loop=loop) as stage:
        names = ("nan", "object", "large", "wide", "nul")
        kept = stage.run(*[job("returns", {"what": what}, options={"keep_result": True}) for what in names])
        not_kept = stage.run(*[job("returns", {"what": what}) for what in names])
    assert {each.ending for each in kept} == {"fail"}
    assert "is not a number in JSON" in str(kept[0].error)
    assert "50000002 bytes as JSON and may have 1048576" in str(kept[2].error)
    assert not_kept == [How()] * 5, "nobody asked for it"


@loops
def test_arguments_that_no_longer_fit_fail_the_job_and_name_the_field(loop: str) -> None:
    with Stage(handler(double), loop=loop) as stage:
        ends = stage.run(*[job("double", args) for args in ({"n": "two"}, {}, {"n": 1, "m": 2}, [1])])
    assert [each.ending for each in ends] == ["fail"] * 4
    wrong = "Expected `int`, got `str` - at `$.n`"
    assert ends[0].error == f"BadArguments: its arguments do not fit double(n: int): {wrong}"
    assert "missing required field `n`" in str(ends[1].error)
    assert "unknown field `m`" in str(ends[2].error)


def test_jobs_that_cannot_be_read_at_all_do_not_sink_their_batch() -> None:
    deep = "[" * 3000 + "]" * 3000
    ids = [str(uuid4()) for _ in range(5)]
    texts = [
        f'["{ids[0]}","triple",{{"n":1}},1,0,25,0]',
        f'["{ids[1]}","triple",{deep},1,0,25,0]',
        "null",
        f'["{ids[3]}","triple",{{"n":"a,]}}\\"["}},1,0,25,0,{{"options":[1],"tenant":"t"}},null]',
        f'["{ids[4]}","triple",{{"n":2}},1,0,25,0,{{"options":{{"timeout_ms":"x","retry":7}}}},{deep}]',
    ]
    with Stage(handler(triple)) as stage:
        claim = stage.deliver_text(f"[{','.join(texts)}]".encode())
        stage.until(lambda: len(stage.ended) == 5)
        ends = [stage.ended[claim, position].ending for position in range(5)]
    assert ends == [None, "fail", "release", "fail", "fail"]
    assert "it cannot be read: RecursionError" in str(stage.ended[claim, 1].error)


def test_options_that_make_no_sense_are_passed_over() -> None:
    with Stage(handler(triple)) as stage:
        options: list[Any] = [[1], "x", {"timeout_ms": "x"}, {"timeout_ms": -1}, {"retry": 7}, {"retry": {"never": 1}}]
        assert stage.run(*[job("triple", {"n": 1}, options=each) for each in options]) == [How()] * len(options)


@loops
def test_an_unknown_kind_is_put_off_and_nothing_of_it_is_charged(loop: str) -> None:
    with Stage(loop=loop) as stage:
        ends = stage.run(job("nobody"), job("nobody"), job("no one"))
    assert ends[0] == ends[1] == How("put_off", "no handler for 'nobody' here", None)
    assert [line["kind"] for line in stage.said("kind unknown")] == ["nobody", "no one"], "each is told of once"


@loops
def test_context_variables_do_not_leak_from_job_to_job(loop: str) -> None:
    async def notes(n: int) -> bool:
        fresh = seen.get(None) is None
        seen.set([str(n)])
        await anyio.sleep(0.001)
        return fresh and seen.get() == [str(n)]

    def notes_in_a_thread(n: int) -> bool:
        fresh = seen.get(None) is None
        seen.set([str(n)])
        return fresh

    known = handler(notes, keep_result=True), handler(notes_in_a_thread, keep_result=True)
    with Stage(*known, loop=loop, concurrency=3) as stage:
        jobs = [job(each.kind, {"n": n}) for n in range(20) for each in known]
        assert {each.result for each in stage.run(*jobs)} == {True}


@loops
def test_a_handler_is_told_everything_about_its_delivery(loop: str) -> None:
    told: list[Context] = []

    def looks(ctx: Context, n: int) -> None:
        told.append(ctx)

    schedule, moment = uuid4(), datetime(2030, 1, 1, tzinfo=UTC)
    rare = {"tenant": "t", "project": "p", "key": "k", "trace": "00-1", "schedule_id": str(schedule)}
    sent = job(
        "looks", {"n": 1}, attempt=4, charged=2, max_attempts=9, meta={"a": 1},
        occurrence="2030-01-01T00:00:00+00:00", options={"timeout_ms": 60_000}, **rare,
    )  # fmt: skip
    with Stage(handler(looks), loop=loop) as stage:
        stage.run(sent, queue="mail")
    (ctx,) = told
    assert ctx.id == UUID(sent[0])
    assert (ctx.kind, ctx.queue, ctx.attempt, ctx.charged, ctx.max_attempts) == ("looks", "mail", 4, 2, 9)
    assert (ctx.tenant, ctx.project, ctx.key, ctx.trace, ctx.metadata) == ("t", "p", "k", "00-1", {"a": 1})
    assert (ctx.schedule_id, ctx.occurrence) == (schedule, moment)
    assert ctx.deadline is not None
    assert ctx.left_s is not None
    assert timedelta(0) < ctx.deadline - datetime.now(UTC) <= timedelta(minutes=1)
    assert 0 < ctx.left_s <= 60


@loops
def test_follow_ups_go_with_an_end_that_the_handler_chose_and_not_with_a_failure(loop: str) -> None:
    async def follows(ctx: Context, what: str) -> None:
        ctx.enqueue("next", {"n": 1}, queue="mail", priority=3, delay="5s")
        if what != "returns":
            raise ENDS[what]()

    order = ("returns", "snooze", "cancel", "fail", "value", "exit")
    with Stage(handler(follows), loop=loop) as stage:
        ends = dict(zip(order, stage.run(*[job("follows", {"what": what}) for what in order]), strict=True))
    assert [len(each.follow_ups) for each in ends.values()] == [1, 1, 1, 1, 0, 0]
    (said,) = ends["returns"].follow_ups
    del said["id"]
    assert said == {"kind": "next", "args": {"n": 1}, "queue": "mail", "priority": 3, "rest": {"delay_s": 5.0}}


def test_a_follow_up_that_cannot_be_enqueued_is_refused_in_the_handler() -> None:
    ctx = Context(uuid4(), "k")
    with pytest.raises(BadJob, match="priority"):
        ctx.enqueue("next", priority=11)
    for _ in range(1000):
        ctx.enqueue("next")
    with pytest.raises(BadJob, match="at most 1000 follow-ups"):
        ctx.enqueue("next")
    large = Context(uuid4(), "k")
    for _ in range(4):
        large.enqueue("next", {"x": "y" * 1_000_000})
    with pytest.raises(BadJob, match="follow-ups with 4194304 bytes"):
        large.enqueue("next", {"x": "y" * 1_000_000})
    assert len(large.enqueued) == 4


def test_a_follow_up_after_the_end_is_refused() -> None:
    kept: list[Context] = []

    def keeps(ctx: Context) -> None:
        kept.append(ctx)

    with Stage(handler(keeps)) as stage:
        stage.run(job("keeps"))
    with pytest.raises(BadJob, match="the handler has ended"):
        kept[0].enqueue("next")


@loops
def test_a_policy_of_the_handler_holds_for_jobs_that_bring_none(loop: str) -> None:
    async def fails(what: str) -> None:
        raise {"card": BadCard, "refusal": Refusal, "value": ValueError}[what](what)

    computed = Retry.computed(lambda failures, error: 100 * failures + len(str(error)), never=(BadCard, KeyError))
    known = (
        handler(fails, "plain"),
        handler(fails, "fixed", retry=Retry.fixed("10s")),
        handler(fails, "computed", retry=computed),
        handler(fails, "broken", retry=Retry.computed(lambda *_: 1 / 0)),
        handler(fails, "never", retry=Retry(never=Refusal)),
    )
    named = {"options": {"retry": {"kind": "fixed", "first_s": 1.0, "never": [f"{__name__}.Refusal"]}}}
    brought = {"options": {"retry": computed.as_json()}}
    with Stage(*known, loop=loop) as stage:
        plain, fixed, third, broken, never, by_name, spared, asked, dead = stage.run(
            job("plain", {"what": "value"}),
            job("fixed", {"what": "value"}),
            job("computed", {"what": "refusal"}, charged=2),
            job("broken", {"what": "value"}),
            job("never", {"what": "card"}),
            job("plain", {"what": "card"}, **named),
            job("plain", {"what": "value"}, **named),
            job("computed", {"what": "value"}, **brought),
            job("computed", {"what": "card"}, **brought),
        )
    assert (plain.ending, plain.delay_ms) == ("fail", None)
    assert fixed.delay_ms is not None
    assert 9_000 <= fixed.delay_ms <= 11_000
    assert (third.ending, third.delay_ms) == ("fail", 307_000), "what is computed is meant as it is"
    assert (broken.ending, broken.delay_ms) == ("fail", None)
    assert [each.ending for each in (never, by_name, spared, dead)] == ["dead", "dead", "fail", "dead"]
    assert asked.delay_ms == 105_000


@loops
def test_a_handler_in_disguise_is_run_to_its_end(loop: str) -> None:
    def hidden(n: int) -> Any:
        return double(n)

    class Callable_:  # noqa: N801
        async def __call__(self, n: int) -> int:
            return await double(n)

    known = handler(hidden, keep_result=True), handler(Callable_().__call__, "object", keep_result=True)
    with Stage(*known, loop=loop) as stage:
        assert [each.result for each in stage.run(job("hidden", {"n": 2}), job("object", {"n": 3}))] == [4, 6]


def test_a_suspect_runs_alone() -> None:
    now, most = [0], [0]
    lock = threading.Lock()

    def counts(alone: bool) -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
            if alone:
                assert now[0] == 1
        threading.Event().wait(0.005)
        with lock:
            if alone:
                assert now[0] == 1
            now[0] -= 1

    with Stage(handler(counts)) as stage:
        jobs = [job("counts", {"alone": n % 7 == 3}, suspect=int(n % 7 == 3)) for n in range(40)]
        assert {each.ending for each in stage.run(*jobs)} == {None}
    assert most[0] > 1


@loops
def test_progress_is_told_from_a_task_and_from_a_thread_once_a_second(loop: str) -> None:
    async def counts(ctx: Context) -> None:
        for n in range(100):
            ctx.progress(n, 100, f"\0 line {n}")

    def counts_in_a_thread(ctx: Context) -> None:
        ctx.progress(1)
        with pytest.raises(ValueError, match="progress is told in numbers"):
            ctx.progress(float("nan"))

    sent = job("counts", attempt=3), job("counts_in_a_thread")
    with Stage(handler(counts), handler(counts_in_a_thread), loop=loop) as stage:
        assert stage.run(*sent) == [How(), How()]
        stage.until(lambda: len(stage.progress) == 2)
    told = {each.id: (each.attempt, each.done, each.total, each.note) for each in stage.progress}
    assert told == {sent[0][0]: (3, 0.0, 100.0, "� line 0"), sent[1][0]: (1, 1.0, None, None)}


def test_progress_is_told_again_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now, told = [100.0], list[float]()
    monkeypatch.setattr("pulse_runtime.context.time.monotonic", lambda: now[0])
    ctx = Context(uuid4(), "k", say=lambda done, _total, _note: told.append(done))
    for moment in (100.0, 100.5, 100.99, 101.0, 101.5, 102.1):
        now[0] = moment
        ctx.progress(moment)
    assert told == [100.0, 101.0, 102.1]


@loops
def test_handlers_that_block_run_at_once_as_many_as_there_are_slots(loop: str) -> None:
    together = threading.Barrier(10)

    def meets() -> None:
        together.wait(10.0)

    with Stage(handler(meets), loop=loop, concurrency=10) as stage:
        assert stage.run(*[job("meets") for _ in range(30)]) == [How()] * 30
