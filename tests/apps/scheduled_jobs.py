"""Declares one schedule."""

from pulse_runtime import job
from pulse_runtime.declare import every


@every("1s")
@job
async def each_second() -> None: ...
