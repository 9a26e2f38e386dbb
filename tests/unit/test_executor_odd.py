"""What people's code can do where an executor does not expect it: in policies, verdicts, words and cleaning up."""

import contextvars
import threading
from typing import Any

import anyio
import msgspec
import pytest
from executor_kit import LOOPS, How, Stage, handler, job

from pulse_runtime import Cancel, Context, Retry, Snooze
from pulse_runtime.execution.attempt import Attempt, Interrupted
from pulse_runtime.execution.delivery import Delivery, decode
from pulse_runtime.execution.running import Runner
from pulse_runtime.handlers import Registry

loops = pytest.mark.parametrize("loop", LOOPS)
word: contextvars.ContextVar[str] = contextvars.ContextVar("word", default="none")


class Half(Snooze):
    def __init__(self) -> None:
        """Without its base's."""


class Mute:
    def __str__(self) -> str:
        raise KeyboardInterrupt


class MuteError(Exception):
    def __str__(self) -> str:
        raise SystemExit


def exits(*_: object) -> float:
    raise SystemExit(3)


RAISED: dict[str, Any] = {"verdict": Half, "reason": lambda: Cancel(Mute()), "words": MuteError}  # type: ignore[arg-type]


async def raises(what: str) -> None:
    raise RAISED[what]()


def raises_in_a_thread(what: str) -> None:
    raise RAISED[what]()


@loops
@pytest.mark.parametrize("function", [raises, raises_in_a_thread])
def test_what_cannot_be_judged_is_the_failure_of_that_job_alone(function: Any, loop: str) -> None:
    with Stage(handler(function, "raises"), loop=loop) as stage:
        ends = stage.run(*[job("raises", {"what": what}) for what in RAISED])
        assert stage.run(job("unknown"))[0].ending == "put_off", "the executor lives"
    assert [each.ending for each in ends] == ["fail"] * 3
    assert str(ends[0].error).startswith("AttributeError: 'Half' object has no attribute")
    assert str(ends[2].error).startswith("MuteError: (its words raise)")


@loops
def test_a_policy_that_exits_is_followed_by_the_default_one(loop: str) -> None:
    async def fails() -> None:
        raise ValueError

    def fails_in_a_thread() -> None:
        raise ValueError

    known = [handler(each, retry=Retry.computed(exits)) for each in (fails, fails_in_a_thread)]
    with Stage(*known, loop=loop) as stage:
        ends = stage.run(*[job(each.kind) for each in known])
    assert [(each.ending, each.delay_ms) for each in ends] == [("fail", None)] * 2
    assert str(ends[0].error).startswith("ValueError")


@loops
def test_what_a_policy_sets_is_not_seen_by_the_next_job(loop: str) -> None:
    def sets(*_: object) -> float:
        word.set("of a policy")
        return 1.0

    def fails() -> None:
        raise ValueError

    async def looks() -> str:
        return word.get()

    def looks_in_a_thread() -> str:
        return word.get()

    lookers = [handler(each, keep_result=True) for each in (looks, looks_in_a_thread)]
    with Stage(handler(fails, retry=Retry.computed(sets)), *lookers, loop=loop) as stage:
        stage.run(job("fails"))
        assert [each.result for each in stage.run(*[job(each.kind) for each in lookers])] == ["none", "none"]


@loops
@pytest.mark.parametrize("timeout_ms", [10**400, 1e300])
def test_a_timeout_beyond_every_clock_is_none_to_speak_of(timeout_ms: float, loop: str) -> None:
    async def plain() -> None: ...

    async def asks(ctx: Context) -> bool:
        return ctx.deadline is not None and ctx.deadline.year > 2030

    with Stage(handler(plain), handler(asks, keep_result=True), loop=loop) as stage:
        ends = stage.run(*[job(kind, options={"timeout_ms": timeout_ms}) for kind in ("plain", "asks")])
    assert ends == [How(), How(result=True)]


def test_whatever_a_handler_makes_of_being_stopped_is_not_charged() -> None:
    registry = Registry()
    registry.add(handler(raises))
    runner = Runner(registry)
    sent = job("raises", {"what": "words"})
    (delivery,) = decode(msgspec.json.encode([sent]))
    assert isinstance(delivery, Delivery)
    for error, ending in ((Interrupted(), "lost"), (RuntimeError("interrupted"), "lost"), (Snooze(1), "snooze")):
        attempt = runner.begin(delivery, "default")
        assert isinstance(attempt, Attempt)
        attempt.ask_to_end("stop", "its runtime ends")
        assert runner.judge(attempt, None, error).ending == ending


@loops
def test_a_timeout_is_told_with_the_place_where_the_handler_was(loop: str) -> None:
    async def waits_here() -> None:
        await anyio.sleep_forever()

    with Stage(handler(waits_here, timeout="30ms"), loop=loop) as stage:
        (how,) = stage.run(job("waits_here"))
    assert str(how.error).startswith("TimeoutError: it did not end within 0.03 s")
    assert "in waits_here" in str(how.error)


@loops
def test_an_error_that_a_handler_makes_of_its_timeout_is_told_with_it(loop: str) -> None:
    async def wraps() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise ConnectionError("cannot roll back")

    with Stage(handler(wraps, timeout="30ms"), loop=loop) as stage:
        (how,) = stage.run(job("wraps"))
    first = str(how.error).partition("\n")[0]
    assert (how.ending, first) == ("fail", "ConnectionError: cannot roll back (it did not end within 0.03 s)")


@loops
def test_no_more_run_at_once_than_there_are_slots(loop: str) -> None:
    now, most = [0], [0]

    async def counts() -> None:
        now[0] += 1
        most[0] = max(most[0], now[0])
        await anyio.sleep(0.001)
        now[0] -= 1

    with Stage(handler(counts), loop=loop, concurrency=7) as stage:
        assert stage.run(*[job("counts") for _ in range(100)]) == [How()] * 100
    assert most == [7]


@loops
def test_a_system_without_threads_to_spare_costs_speed_and_no_job(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def blocks() -> None: ...

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with Stage(handler(blocks), loop=loop) as stage:
        stage.until(lambda: bool(stage.demands))
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            (without,) = stage.run(job("blocks"))
        assert stage.run(job("blocks")) == [How()]
        monkeypatch.setattr(threading.Thread, "start", refuse)
        assert stage.run(*[job("blocks") for _ in range(10)]) == [How()] * 10, "the one that there is does it all"
    assert without.ending == "fail"
    assert str(without.error).startswith("RuntimeError: can't start new thread")
