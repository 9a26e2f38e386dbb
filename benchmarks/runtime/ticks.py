"""Handlers of the schedules' rows."""

from pulse_runtime import job


@job
async def tick() -> None:
    """Nothing: what is measured is when it was claimed."""
