"""What an executor does that was stopped for a while, and went on."""

import asyncio
import mmap
from collections.abc import Iterator

import msgspec
import pytest
from actor_kit import TOKEN, Recorder

from pulse_runtime.actors.executor import Executor
from pulse_runtime.events import Log
from pulse_runtime.execution import black_box
from pulse_runtime.execution.asyncio_shell import AsyncioShell
from pulse_runtime.execution.black_box import BlackBox
from pulse_runtime.execution.running import Runner
from pulse_runtime.handlers import Handler, Registry
from pulse_runtime.messages import Batch, Claimed, Demand, Hello, Registered, Report
from pulse_runtime.settings import RuntimeSettings
from pulse_supervisor import Peer, Said

pytestmark = pytest.mark.anyio
CLAIMER = Peer("claimer", 1)
SILENCE_S = RuntimeSettings(dsn="", name="test").silence_s


class Bench:
    """An executor of two slots that has five jobs, of which it runs two until `go_on` is set."""

    def __init__(self, memory: mmap.mmap) -> None:
        self.office, self.now, self.ran = Recorder(), 100.0, 0
        self.go_on = asyncio.Event()
        registry = Registry()

        async def hold() -> None:
            self.ran += 1
            await self.go_on.wait()

        registry.add(Handler(hold, "gap.hold", {}))
        self.executor = Executor(
            self.office,
            AsyncioShell(asyncio.get_running_loop()),
            BlackBox(memory),
            Runner(registry),
            Hello(0, 1, "1", []),
            RuntimeSettings(dsn="", name="test", concurrency=2),
            Log("test", quiet=True),
            kill_me=lambda _: None,
            clock=lambda: self.now,
        )
        self.hear(Registered(7))
        self.hear(Claimed(1, [Batch(77, TOKEN, jobs(5))]))

    def hear(self, message: object) -> None:
        self.executor.receive(Said(CLAIMER, message, 1), self.now)

    @property
    def released(self) -> list[int]:
        said = [message for _, message in self.office.sent if isinstance(message, Report)]
        return [ending.position for report in said for ending in report.endings if ending.ending == "release"]


def jobs(count: int) -> bytes:
    return msgspec.json.encode([[f"{n:032x}", "gap.hold", {}, 1, 0, 5, 0] for n in range(count)])


@pytest.fixture
def memory() -> Iterator[mmap.mmap]:
    with mmap.mmap(-1, black_box.size_for(100)) as memory:
        yield memory


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_what_it_had_not_started_before_a_long_stop_is_given_back(memory: mmap.mmap) -> None:
    bench = Bench(memory)
    await settle()
    assert bench.ran == 2
    bench.now += SILENCE_S
    bench.go_on.set()
    await settle()
    assert bench.ran == 2
    assert bench.released == [2, 3, 4]


async def test_after_a_short_stop_it_goes_on(memory: mmap.mmap) -> None:
    bench = Bench(memory)
    await settle()
    bench.now += SILENCE_S - 1.0
    bench.go_on.set()
    await settle()
    assert (bench.ran, bench.released) == (5, [])


async def test_an_answer_that_waited_out_a_long_stop_is_not_taken(memory: mmap.mmap) -> None:
    bench = Bench(memory)
    bench.go_on.set()
    await settle()
    asked = [message.request for _, message in bench.office.sent if isinstance(message, Demand)]
    bench.now += SILENCE_S
    bench.executor.wake(bench.now)  # the tick comes before what waits in the wire
    bench.hear(Claimed(asked[-1], [Batch(78, TOKEN, jobs(2))]))
    await settle()
    assert bench.ran == 5
    assert bench.executor._request > asked[-1], "it has asked anew"
    assert bench.released == [0, 1], "nobody has to wait until it is missed"


async def test_an_old_answer_takes_nothing_from_what_is_held(memory: mmap.mmap) -> None:
    bench = Bench(memory)
    await settle()
    bench.hear(Claimed(0, [Batch(77, TOKEN, jobs(5))]))
    bench.go_on.set()
    await settle()
    assert (bench.ran, bench.released) == (5, [])
