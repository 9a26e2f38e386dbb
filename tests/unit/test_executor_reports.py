"""When what has ended is reported: together while others run, at once when nobody does."""

import gc
import threading

import anyio
import pytest
from executor_kit import LOOPS, Stage, handler, job

from pulse_runtime.actors.executor import MOST_UNSETTLED, MOST_UNSETTLED_BYTES
from pulse_runtime.execution.attempt import Attempt
from pulse_runtime.execution.black_box import SUCCEEDED_WITH_MORE

loops = pytest.mark.parametrize("loop", LOOPS)
over = threading.Event()


async def noop() -> None:
    pass


async def long() -> None:
    while not over.is_set():  # noqa: ASYNC110 (it is set by another thread)
        await anyio.sleep(0.01)


@loops
def test_an_end_is_reported_although_a_neighbour_goes_on(loop: str) -> None:
    over.clear()
    with Stage(handler(noop), handler(long), loop=loop) as stage:
        claim = stage.deliver(job("long"), job("noop"))
        stage.until(lambda: (claim, 1) in stage.ended)
        assert (claim, 0) not in stage.ended
        over.set()
        stage.until(lambda: (claim, 0) in stage.ended)


@loops
def test_many_ends_are_few_reports_and_none_is_forgotten(loop: str) -> None:
    with Stage(handler(noop), loop=loop, concurrency=10) as stage:
        claims = [stage.deliver(*[job("noop")] * 300) for _ in range(3)]
        stage.until(lambda: len(stage.ended) == 300 * len(claims))
        assert all(how.ending is None for how in stage.ended.values())
        assert len(stage.reports) < len(stage.ended) / 20, "ten of them end in each turn of the loop"


async def makes(size: int) -> str:
    return "x" * size


@loops
@pytest.mark.parametrize(("size", "most"), [(0, MOST_UNSETTLED), (900_000, MOST_UNSETTLED_BYTES // 900_000 + 1)])
def test_reports_wait_for_the_disk_and_the_executor_goes_on_until_there_are_too_many(
    loop: str, size: int, most: int
) -> None:
    with Stage(handler(makes, keep_result=True), loop=loop) as stage:
        stage.settling, ended = False, 0
        stage.until(lambda: bool(stage.demands))
        while stage.demands:
            claim = stage.deliver(job("makes", {"size": size}))
            stage.until(lambda claim=claim: stage.states(claim) == bytes([SUCCEEDED_WITH_MORE]))  # type: ignore[misc]
            ended, beats = ended + 1, stage.beats
            stage.until(lambda beats=beats: bool(stage.demands) or stage.beats > beats + 1)  # type: ignore[misc]
        # Room for more may have been asked for before the last one had ended, or was in a report.
        assert most <= ended <= most + 2
        stage.settling = True
        stage.settle()
        stage.run(job("makes", {"size": size}))


@loops
def test_jobs_that_have_ended_leave_nothing_to_the_collector_of_garbage(loop: str) -> None:
    with Stage(handler(noop), loop=loop) as stage:
        stage.run(*[job("noop")] * 10)
        gc.collect()
        gc.disable()
        try:
            stage.run(*[job("noop")] * 200)
            # By type: isinstance would ask the lazy objects of other people's libraries what they are.
            left = sum(type(each) is Attempt for each in gc.get_objects())
        finally:
            gc.enable()
    assert left < 20, "they are in a ring"
