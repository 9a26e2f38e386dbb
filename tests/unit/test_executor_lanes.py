"""Claims that are spread over many lanes: more batches than there is room for in the black box."""

from uuid import uuid4

import anyio
import anyio.lowlevel
import msgspec
from executor_kit import Stage, handler, job

from pulse_runtime.execution.black_box import LEAST_ROWS as ROWS
from pulse_runtime.messages import Batch, Claimed


async def noop() -> None:
    await anyio.lowlevel.checkpoint()


def batches(count: int) -> list[Batch]:
    """Of one job each, as tenants or priorities of their own make them."""
    return [Batch(number, str(uuid4()), msgspec.json.encode([job("noop")])) for number in range(1, count + 1)]


def test_batches_for_which_there_is_no_room_go_back_at_once_and_the_others_run() -> None:
    with Stage(handler(noop), concurrency=100) as stage:
        stage.until(lambda: bool(stage.demands))
        stage.say("claimer", Claimed(stage.demands.pop().request, batches(ROWS + 50)))
        stage.until(lambda: len(stage.ended) == ROWS + 50)
        assert [how.ending for how in stage.ended.values()].count("release") == 50
        assert {how.ending for how in stage.ended.values()} == {None, "release"}
        stage.until(lambda: bool(stage.demands))
        assert stage.demands[-1].slots <= ROWS, "no more than fits when every lane has one job"
