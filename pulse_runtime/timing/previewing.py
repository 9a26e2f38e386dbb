"""The next fires of a timing as people read them: by the wall clock and in UTC, by the code that the scheduler runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from pulse_runtime.timing.timings import Cron, Timing
from pulse_runtime.timing.wall import Fire
from pulse_runtime.timing.zones import zone


@dataclass(frozen=True, slots=True)
class Preview:
    """One fire. `note` says what a change of the clocks did to it, and is empty otherwise."""

    local: datetime
    utc: datetime
    note: str = ""


def preview(timing: Timing, *, after: datetime, count: int = 10, tz: str = "UTC") -> list[Preview]:
    """The next `count` fires after `after`, or as many as there are. `tz` is for timings without a zone."""
    place = zone(timing.tz or tz)
    return list(_each(timing, after, count, place))


def _each(timing: Timing, after: datetime, count: int, place: tzinfo) -> Iterator[Preview]:
    for _ in range(count):
        fire = timing.next_fire(after) if isinstance(timing, Cron) else None
        at = fire.at if fire else None if isinstance(timing, Cron) else timing.next_after(after)
        if at is None:
            return
        note = _note(fire, fixed=isinstance(timing, Cron) and timing.expression.fixed)
        yield Preview(at.astimezone(place), at.astimezone(UTC), note)
        after = at


def _note(fire: Fire | None, *, fixed: bool) -> str:
    match fire and fire.mark:
        case "gap" if fire is not None:
            return f"gap: {fire.wall:%H:%M:%S} does not exist on this day, so it fires when the gap ends"
        case "first pass":
            return "fold: this time comes twice; first pass" + (", the only one that fires" if fixed else "")
        case "second pass":
            return "fold: this time comes twice; second pass"
    return ""
