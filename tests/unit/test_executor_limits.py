"""Ends that always come: timeouts, cancels, drains, threads that nobody can end, and executors that are replaced."""

import contextlib
import threading
import time
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from executor_kit import LOOPS, How, Stage, handler, job

from pulse_runtime import Context
from pulse_runtime.execution import black_box
from pulse_runtime.execution.black_box import OVERDUE, PAST_DEADLINE, RUNNING
from pulse_runtime.execution.burial import burial_of
from pulse_runtime.execution.limits import Age
from pulse_supervisor import Died

loops = pytest.mark.parametrize("loop", LOOPS)


class Seen:
    """What handlers of one test have told; they wait until `go_on`."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.go_on = threading.Event()

    async def cleans_up(self) -> None:
        self.words.append("began")
        try:
            await anyio.sleep_forever()
        finally:
            self.words.append("cleaned up")

    async def stubborn(self) -> str:
        self.words.append("began")
        while not self.go_on.is_set():
            with contextlib.suppress(BaseException), anyio.CancelScope(shield=True):
                await anyio.sleep(0.002)
        return "late"

    def blocks(self, ctx: Context) -> str:
        self.words.append("began")
        assert self.go_on.wait(20.0)
        return str(ctx.canceled)

    async def quick(self) -> None:
        await anyio.lowlevel.checkpoint()


def died(stage: Stage, why: str | None) -> Died:
    return Died("executor", 1, 3, 4321, "killed by SIGKILL", why, stage.box[:])


def verdicts(stage: Stage, why: str | None) -> dict[tuple[int, int], str]:
    burial = burial_of(died(stage, why))
    assert burial is not None
    return {(claim, position): ending for claim, _, position, ending, _ in burial.ended}


@loops
def test_a_handler_that_takes_too_long_is_cancelled_and_cleans_up(loop: str) -> None:
    seen = Seen()
    with Stage(handler(seen.cleans_up, "f", timeout="0.2s"), loop=loop) as stage:
        (how,) = stage.run(job("f"))
        (soon,) = stage.run(job("f", options={"timeout_ms": 100}))
    assert how.ending == soon.ending == "fail"
    assert str(how.error).startswith("TimeoutError: it did not end within 0.2 s")
    assert str(soon.error).startswith("TimeoutError: it did not end within 0.1 s"), "what was said of the job holds"
    assert seen.words == ["began", "cleaned up"] * 2


@loops
def test_a_handler_that_ends_after_its_time_with_success_has_succeeded(loop: str) -> None:
    seen = Seen()
    said: dict[str, Any] = {"timeout": "150ms", "keep_result": True}
    with Stage(handler(seen.stubborn, "f", **said), handler(seen.blocks, "g", **said), loop=loop) as stage:
        claim = stage.deliver(job("f"), job("g"))
        stage.until(lambda: stage.states(claim) == bytes([OVERDUE, OVERDUE]))
        seen.go_on.set()
        stage.until(lambda: len(stage.ended) == 2)
    assert [stage.ended[claim, n].result for n in (0, 1)] == ["late", "it did not end within 0.15 s"]


@loops
def test_cancelling_reaches_a_running_handler_and_one_that_waits(loop: str) -> None:
    seen = Seen()
    with Stage(handler(seen.cleans_up, "f"), loop=loop, concurrency=1) as stage:
        stage.run(job("unknown"))
        claim = stage.deliver(job("f"), job("f"))
        stage.until(lambda: seen.words == ["began"])
        stage.cancel(claim, 1, "not wanted")
        stage.until(lambda: (claim, 1) in stage.ended)
        for _ in range(3):
            stage.cancel(claim, 0, "nor this")
        stage.until(lambda: (claim, 0) in stage.ended)
        stage.cancel(99, 0, "of someone else")
        assert stage.run(job("unknown"))[0].ending == "put_off"
    assert [stage.ended[claim, position].error for position in (0, 1)] == ["nor this", "not wanted"]
    assert [stage.ended[claim, position].ending for position in (0, 1)] == ["cancel", "cancel"]
    assert seen.words == ["began", "cleaned up"], "the other has never begun"


@loops
def test_a_handler_that_is_cancelled_before_its_first_step_never_begins(loop: str) -> None:
    seen, stand_still = Seen(), threading.Event()

    async def stands_still() -> None:
        while not stand_still.is_set():  # noqa: ASYNC110 (it is set by another thread)
            await anyio.sleep(0.001)
        seen.words.append("stands still")
        assert seen.go_on.wait(20.0)  # blocks the loop: what comes meanwhile is read at once

    with Stage(handler(seen.cleans_up, "f"), handler(stands_still), loop=loop) as stage:
        stage.deliver(job("stands_still"))
        stage.until(lambda: bool(stage.demands))
        stand_still.set()
        stage.until(lambda: seen.words == ["stands still"])
        claim = stage.deliver(job("f"))
        stage.cancel(claim, 0, "not wanted")
        seen.go_on.set()
        stage.until(lambda: (claim, 0) in stage.ended)
    assert stage.ended[claim, 0] == How("cancel", "not wanted")
    assert seen.words == ["stands still"]


@loops
def test_a_cancel_that_reached_a_thread_reaches_what_the_thread_makes_of_it(loop: str) -> None:
    seen = Seen()

    def hidden(ctx: Context) -> Any:
        seen.blocks(ctx)
        return seen.cleans_up()

    with Stage(handler(hidden), loop=loop) as stage:
        claim = stage.deliver(job("hidden"))
        stage.until(lambda: seen.words == ["began"])
        stage.cancel(claim, 0, "not wanted")
        assert stage.run(job("unknown"))[0].ending == "put_off", "by now it was heard"
        seen.go_on.set()
        stage.until(lambda: (claim, 0) in stage.ended)
    assert stage.ended[claim, 0] == How("cancel", "not wanted")
    assert seen.words == ["began"]


@loops
def test_a_handler_that_blocks_is_told_that_it_was_cancelled_and_decides(loop: str) -> None:
    seen = Seen()
    with Stage(handler(seen.blocks, "f", keep_result=True), loop=loop) as stage:
        claim = stage.deliver(job("f"))
        stage.until(lambda: seen.words == ["began"])
        stage.cancel(claim, 0, "not wanted")
        stage.cancel(99, 0, "by now the one before was heard")
        assert stage.run(job("unknown"))[0].ending == "put_off"
        seen.go_on.set()
        stage.until(lambda: (claim, 0) in stage.ended)
    assert stage.ended[claim, 0] == How(result="not wanted"), "it did its work to the end: that is what counts"


@loops
def test_whoever_minds_no_cancelling_is_named_to_the_supervisor_and_alone_convicted(loop: str) -> None:
    seen = Seen()
    with Stage(handler(seen.stubborn, "f"), loop=loop) as stage:
        claim = stage.deliver(job("f", options={"timeout_ms": 150}), job("f"))
        stage.until(lambda: stage.states(claim) == bytes([OVERDUE, RUNNING]))
        now = time.monotonic()
        with memoryview(stage.box) as held:
            assert black_box.overdue(held, now, cleanup_s=3.0) is None
            why = black_box.overdue(held, now + 3.0, cleanup_s=3.0)
        assert why is not None
        assert why.startswith(PAST_DEADLINE)
        assert verdicts(stage, why) == {(claim, 0): "crash", (claim, 1): "lost"}
        assert verdicts(stage, None) == {(claim, 0): "suspect", (claim, 1): "suspect"}, "it died of something else"
        seen.go_on.set()
        stage.until(lambda: len(stage.ended) == 2)
        with memoryview(stage.box) as held:
            assert black_box.overdue(held, now + 60.0, cleanup_s=3.0) is None, "nobody is late any more"


def test_a_loop_that_stands_still_past_a_deadline_convicts_nobody_of_several() -> None:
    seen = Seen()

    async def stands_still() -> None:
        seen.words.append("began")
        assert seen.go_on.wait(20.0)  # blocks the loop

    with Stage(handler(seen.cleans_up, "f", timeout="50ms"), handler(stands_still, "g")) as stage:
        claim = stage.deliver(job("f"), job("g"))
        stage.until(lambda: seen.words == ["began", "began"])
        with memoryview(stage.box) as held:
            why = black_box.overdue(held, time.monotonic() + 4.0, cleanup_s=3.0)
        assert verdicts(stage, why) == {(claim, 0): "suspect", (claim, 1): "suspect"}
        seen.go_on.set()
        stage.until(lambda: len(stage.ended) == 2)


@loops
def test_a_stuck_thread_takes_nobody_down_and_keeps_its_slot_until_the_executor_is_replaced(loop: str) -> None:
    seen, neighbour = Seen(), Seen()
    known = handler(seen.blocks, "f", timeout="20ms"), handler(neighbour.blocks, "g")
    with Stage(*known, loop=loop, cleanup_s=0.05, concurrency=2) as stage:
        claim = stage.deliver(job("f"), job("g"), job("g"))
        stage.until(lambda: (claim, 2) in stage.ended)
        assert stage.ended[claim, 2].ending == "release", "what was not started goes to others"
        assert stage.kills == [], "its neighbour is still at it"
        neighbour.go_on.set()
        stage.until(lambda: bool(stage.kills))
        assert stage.ended[claim, 1] == How()
        assert (claim, 0) not in stage.ended, "who is stuck is not reported: it goes on"
        (kill,) = stage.kills
        assert (kill.kind, kill.number, kill.incarnation) == ("executor", 1, 3)
        assert kill.why.startswith(PAST_DEADLINE)
        assert kill.why.endswith("f, which blocks a thread")
        assert verdicts(stage, kill.why)[claim, 0] == "crash"
        with memoryview(stage.box) as held:
            assert black_box.overdue(held, time.monotonic() + 60.0, cleanup_s=0.05) is None, "it sees to that itself"
        seen.go_on.set()


def test_a_thread_that_gets_stuck_while_its_executor_retires_is_charged_with_that() -> None:
    seen = Seen()
    known = handler(seen.blocks, "f", timeout="0.4s"), handler(seen.quick, "g")
    with Stage(*known, cleanup_s=0.2, max_jobs=1) as stage:
        claim = stage.deliver(job("f"), job("g"))
        stage.until(lambda: bool(stage.said("executor retires")))
        assert stage.said("executor retires")[0]["why"] == "it has run 1 jobs"
        stage.until(lambda: bool(stage.kills))
        assert stage.kills[0].why.startswith(PAST_DEADLINE)
        assert verdicts(stage, stage.kills[0].why) == {(claim, 0): "crash"}
        seen.go_on.set()


@loops
def test_an_executor_that_has_run_its_jobs_is_replaced_when_everything_is_durable(loop: str) -> None:
    seen = Seen()
    with Stage(handler(seen.quick, "f"), loop=loop, concurrency=4, max_jobs=10) as stage:
        stage.run(*[job("f") for _ in range(4)], job("unknown"))
        asked = [stage.run(*[job("f") for _ in range(2)]) for _ in range(2)]
        assert all(each.slots <= 6 for each in stage.demands)
        stage.settling = False
        claim = stage.deliver(job("f"), job("f"))
        stage.until(lambda: (claim, 1) in stage.ended)
        assert stage.kills == [], "the last reports are not durable yet"
        stage.settle()
        stage.until(lambda: bool(stage.kills))
        assert stage.kills[0].why == "it has run 10 jobs"
        assert stage.demands == []
        burial = burial_of(died(stage, stage.kills[0].why))
        assert burial is not None
        assert (burial.settled, burial.ended) == ([], [])
    assert len(asked) == 2


def test_an_executor_that_has_grown_is_replaced() -> None:
    with Stage(handler(Seen().quick, "f"), max_memory=1) as stage:
        stage.run(job("f"))
        stage.until(lambda: bool(stage.kills))
    assert "its memory has grown to" in stage.kills[0].why
    assert Age(None, 1).reached(ran=0) is None, "the next one would be no smaller, and no job would ever run"


@loops
def test_a_drain_lets_handlers_finish_and_then_clean_up(loop: str) -> None:
    seen, quick = Seen(), Seen()
    with Stage(handler(seen.cleans_up, "f"), handler(quick.blocks, "g"), loop=loop, concurrency=2) as stage:
        claim = stage.deliver(job("f"), job("g"), job("g"))
        stage.until(lambda: len(seen.words + quick.words) == 2)
        stage.drain(1.0)
        stage.until(lambda: (claim, 2) in stage.ended)
        quick.go_on.set()
        stage.until(lambda: (claim, 0) in stage.ended)
        assert stage.over.wait(5.0)
    assert [stage.ended[claim, position].ending for position in range(3)] == ["lost", None, "release"]
    assert seen.words == ["began", "cleaned up"]


@loops
def test_a_drain_does_not_wait_for_a_thread_that_never_ends(loop: str) -> None:
    seen = Seen()
    with Stage(handler(seen.blocks, "f"), loop=loop) as stage:
        claim = stage.deliver(job("f"))
        stage.until(lambda: seen.words == ["began"])
        stage.drain(0.1)
        assert stage.over.wait(5.0)
        assert stage.states(claim) == bytes([RUNNING])
        seen.go_on.set()


@loops
def test_large_results_leave_in_reports_that_a_wire_takes_and_no_faster_than_they_are_stored(loop: str) -> None:
    async def large() -> str:
        return "x" * 900_000

    with Stage(handler(large, keep_result=True), loop=loop, concurrency=30) as stage:
        stage.settling = False
        claim = stage.deliver(*[job("large") for _ in range(30)])
        stage.until(lambda: len(stage.reports) >= 4)
        stage.until(lambda: stage.states(claim).count(black_box.SUCCEEDED_WITH_MORE) == 30)
        sent = sum(len(each.results) for each in stage.reports)
        assert sent < 12 << 20, "the rest waits"
        assert max(len(each.results) for each in stage.reports) < 3 << 20
        stage.settling = True
        stage.settle()
        stage.until(lambda: len(stage.ended) == 30 and bool(stage.demands))
    assert all(len(stage.ended[claim, n].result) == 900_000 for n in range(30))
