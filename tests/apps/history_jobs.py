"""Handlers for system tests: they do as they are told, and record each start and end in the history."""

import contextlib
import ctypes
import os
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import anyio
from checker.record import Recorder

from pulse_runtime import Context, job

How = Literal["segfault", "exit", "kill", "oom"]
_LOOK_S = 0.01


taken: list[bytes] = []


class AskedTo(Exception):  # noqa: N818
    """The failure that a test wanted."""


@job
async def work(ctx: Context, ms: float = 0.0) -> None:
    """Take so long."""
    with recorded(ctx):
        await anyio.sleep(ms / 1000)


@job
async def fail_then_succeed(ctx: Context, times: int = 1) -> None:
    """Fail in the first so many attempts."""
    with recorded(ctx):
        if ctx.attempt <= times:
            raise AskedTo(f"attempt {ctx.attempt} of {times} that fail")


@job
async def crash(ctx: Context, how: How = "kill", attempts: int = 1, after_ms: float = 0.0) -> None:
    """End the process in the first so many attempts, after a while in which others can run beside it."""
    with recorded(ctx):
        await anyio.sleep(after_ms / 1000)
        if ctx.attempt <= attempts:
            end_process(how)


@job
async def hold(ctx: Context, path: str) -> None:
    """Run until there is such a file."""
    with recorded(ctx):
        while not Path(path).exists():  # noqa: ASYNC110, ASYNC240 (another process makes it)
            await anyio.sleep(_LOOK_S)


@job
async def sleep_forever(ctx: Context) -> None:
    """Run until it is cancelled."""
    with recorded(ctx):
        await anyio.sleep_forever()


@job
async def grow(ctx: Context, mib: int, attempts: int = 1) -> None:
    """Take memory and never give it back, in the first so many attempts."""
    with recorded(ctx):
        if ctx.attempt <= attempts:
            taken.append(b"x" * (mib << 20))
        await anyio.sleep(0.3)


@job
async def spin(ctx: Context, ms: float) -> None:
    """Block the loop, as C code that never returns to it does, without keeping a core busy."""
    with recorded(ctx):
        time.sleep(ms / 1000)  # noqa: ASYNC251


@contextlib.contextmanager
def recorded(ctx: Context) -> Iterator[None]:
    """Start and end of one run. A process that ends within leaves no end."""
    recorder, outcome = Recorder.from_environment(), "ok"
    about = {"id": str(ctx.id), "attempt": ctx.attempt, "kind": ctx.kind}
    recorder.write("start", **about)
    try:
        yield
    except BaseException as error:
        outcome = "raised" if isinstance(error, Exception) else "cancelled"
        raise
    finally:
        recorder.write("end", **about, outcome=outcome)


def end_process(how: How) -> None:
    """Without a word, and without running anything that is still to be run."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    match how:
        case "segfault":
            ctypes.string_at(0)
        case "exit":
            os._exit(0)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "oom":
            _run_out_of_memory()


def _run_out_of_memory(*, most_mib: int = 256) -> None:
    """Take memory until the kernel kills us (a cgroup's limit). Where nothing limits us, be killed all the same when
    the bound is reached: the supervisor sees the same SIGKILL, and the machine is spared."""
    taken: list[bytes] = []
    with contextlib.suppress(MemoryError):  # RLIMIT_AS refuses; it does not kill
        taken.extend(b"x" * 1_048_576 for _ in range(most_mib))
    os.kill(os.getpid(), signal.SIGKILL)
