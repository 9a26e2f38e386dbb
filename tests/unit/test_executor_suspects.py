"""A suspect runs alone, which is no reason to wait for neighbours that go on and on."""

import threading
from collections.abc import Iterator

import anyio
import pytest
from executor_kit import LOOPS, Stage, handler, job

from pulse_runtime.actors import executor

loops = pytest.mark.parametrize("loop", LOOPS)
over = threading.Event()


@pytest.fixture(autouse=True)
def again() -> Iterator[None]:
    over.clear()
    yield
    over.set()


async def noop() -> None:
    pass


async def long() -> None:
    while not over.is_set():  # noqa: ASYNC110 (it is set by another thread)
        await anyio.sleep(0.01)


@loops
def test_a_suspect_that_waits_for_a_long_neighbour_goes_to_others_with_those_behind_it(
    monkeypatch: pytest.MonkeyPatch, loop: str
) -> None:
    monkeypatch.setattr(executor, "SUSPECT_S", 0.3)
    with Stage(handler(noop), handler(long), loop=loop) as stage:
        claim = stage.deliver(job("long"), job("noop", suspect=1), job("noop"))
        stage.until(lambda: len(stage.ended) == 2)
        assert [stage.ended[claim, position].ending for position in (1, 2)] == ["release", "release"]
        next_ = stage.deliver(job("noop"))
        stage.until(lambda: (next_, 0) in stage.ended)
        assert stage.ended[next_, 0].ending is None, "there is room for others"
        over.set()
        stage.until(lambda: (claim, 0) in stage.ended)
