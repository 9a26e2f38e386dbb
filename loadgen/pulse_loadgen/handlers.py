"""The handlers of the load: they do nothing, or wait, and note that they ran. Loaded by the runtime under measure."""

import os
import time
from pathlib import Path

import anyio

from pulse_loadgen.stamps import VARIABLE, Stamps
from pulse_runtime import job

_stamps = Stamps(Path(os.environ[VARIABLE])) if VARIABLE in os.environ else None
if _stamps is None:
    raise ImportError(f"{VARIABLE} is not set: these handlers are for pulse-loadgen")
_count, _start, _end = _stamps.count, _stamps.start, _stamps.end


@job(kind="loadgen.count")
async def count(n: int) -> None:
    _count(n)


@job(kind="loadgen.noop")
async def noop(n: int) -> None:
    _start(n)
    _end(n)


@job(kind="loadgen.sleep")
async def sleep(n: int, ms: float) -> None:
    _start(n)
    await anyio.sleep(ms / 1000)  # on either loop
    _end(n)


@job(kind="loadgen.noop_in_thread")
def noop_in_thread(n: int) -> None:
    _start(n)
    _end(n)


@job(kind="loadgen.sleep_in_thread")
def sleep_in_thread(n: int, ms: float) -> None:
    _start(n)
    time.sleep(ms / 1000)
    _end(n)
