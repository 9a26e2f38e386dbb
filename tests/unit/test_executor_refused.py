"""An executor that the database has given up, because its lease lapsed while it was stopped."""

import anyio
import pytest
from executor_kit import LOOPS, Stage, handler, job

from pulse_runtime.messages import Refused

loops = pytest.mark.parametrize("loop", LOOPS)


@loops
def test_it_starts_nothing_more_and_makes_room_for_a_new_one_within_its_grace(loop: str) -> None:
    ended: list[str] = []

    async def endless() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cleaned up")

    with Stage(handler(endless), loop=loop, concurrency=1, grace_s=0.4) as stage:
        claim = stage.deliver(job("endless"), job("endless"))
        stage.until(lambda: 1 in stage.states(claim))
        for _ in range(3):  # once a beat
            stage.say("heartbeat", Refused([8, 7]))
        stage.until(lambda: (claim, 1) in stage.ended)
        assert stage.ended[claim, 1].ending == "release"
        assert ended == [], "what runs may finish"
        stage.until(stage.over.is_set)
    assert ended == ["cleaned up"]


def test_that_another_was_given_up_is_no_concern_of_its_own() -> None:
    async def short() -> None:
        await anyio.sleep(0.05)

    with Stage(handler(short), grace_s=0.1) as stage:
        stage.say("heartbeat", Refused([8]))
        assert [how.ending for how in stage.run(job("short"))] == [None]
        assert not stage.over.is_set()
