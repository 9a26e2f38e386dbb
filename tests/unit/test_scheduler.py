"""The scheduler as a process that only hears and says: what it has in hand, and what it does when it is refused."""

import ast
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import msgspec
from actor_kit import Recorder

import pulse_runtime
from pulse_runtime.actors.scheduler import CLAIMER, MOST_FIRES, PAUSE_S, REPORTER, SLICE, Scheduler
from pulse_runtime.events import Log
from pulse_runtime.messages import Due, Fire, Fired, Idle
from pulse_runtime.scheduling.fires import Decision, Seen, Told
from pulse_supervisor import Joined, Left, Said

NOW = datetime(2026, 11, 18, 12, 0, 30, tzinfo=UTC)


class Scheduling:
    """One scheduler, and what it has said."""

    def __init__(self) -> None:
        self.office = Recorder()
        self.actor = Scheduler(self.office, zone_version="v", horizon_s=30 * 86_400.0, log=Log("test", quiet=True))
        self.actor.receive(Joined(CLAIMER, 1), 0.0)

    def due(self, *seen: Seen) -> None:
        self.actor.receive(Said(CLAIMER, Due(msgspec.json.encode(Told(NOW, list(seen)))), 1), 0.0)

    def fires(self) -> list[Fire]:
        """Those since the last question."""
        sent, self.office.sent = self.office.sent, []
        return [message for _, message in sent if isinstance(message, Fire)]

    def answer(self, fire: Fire, *, refused: str | None = None) -> None:
        moved = 0 if refused else len(decisions(fire))
        self.actor.receive(Said(REPORTER, Fired(fire.number, moved, refused), 1), 0.0)

    def idle(self, now: float) -> bool:
        self.actor.wake(now)
        return any(isinstance(message, Idle) for _, message in self.office.sent)


def decisions(fire: Fire) -> list[Decision]:
    return msgspec.json.decode(fire.decisions, type=list[Decision])


def each_minute(number: int, *, behind: timedelta = timedelta(0)) -> Seen:
    return Seen(
        UUID(int=number), 1, "cron", "* * * * *", "UTC", None, NOW - behind, None, None, False, None,
        "latest", 100, 0.0, None, "allow", 0.0, None, None, 0, 0.0, "v", None, False,
    )  # fmt: skip


def test_a_backlog_goes_out_as_fast_as_it_is_answered_and_all_of_it() -> None:
    scheduling = Scheduling()
    scheduling.due(*(each_minute(number, behind=timedelta(hours=5)) for number in range(20)))
    waiting = scheduling.fires()
    told: list[Decision] = []
    while waiting:
        assert len(waiting) <= MOST_FIRES
        assert not scheduling.idle(0.0)
        told += decisions(waiting[0])
        scheduling.answer(waiting.pop(0))
        waiting += scheduling.fires()
    assert sorted(each.id.int for each in told) == list(range(20))
    assert sum(len(each.occurrences) for each in told) == 20 * 300 > MOST_FIRES * SLICE
    assert scheduling.idle(0.0)


def test_what_a_lost_reporter_had_is_looked_at_again() -> None:
    scheduling = Scheduling()
    scheduling.due(*(each_minute(number, behind=timedelta(hours=5)) for number in range(20)))
    (late, *_) = scheduling.fires()
    scheduling.actor.receive(Left(REPORTER, 1, "closed"), 1.0)
    assert scheduling.idle(1.0)
    scheduling.answer(late)
    assert scheduling.fires() == []


def test_a_database_that_refuses_everything_is_not_asked_as_fast_as_it_refuses() -> None:
    scheduling = Scheduling()
    scheduling.due(each_minute(1, behind=timedelta(minutes=1)))
    (fire,) = scheduling.fires()
    scheduling.answer(fire, refused="no")
    (pausing,) = scheduling.fires()
    assert decisions(pausing)[0].error == "no"
    scheduling.answer(pausing, refused="no again")
    assert scheduling.fires() == []
    assert not scheduling.idle(PAUSE_S / 2)
    assert scheduling.idle(PAUSE_S)


def test_no_clock_of_the_host_is_read_to_decide_when_something_fires() -> None:
    """So one that jumps changes nothing: every moment comes from the database."""
    package = Path(pulse_runtime.__file__).parent
    files = [*package.glob("timing/*.py"), *package.glob("scheduling/*.py"), package / "actors" / "scheduler.py"]
    assert len(files) > 15
    asked = [
        f"{file.name}:{node.lineno} {node.func.value.id}.{node.func.attr}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
        if node.func.value.id in ("datetime", "date", "time")
        if node.func.attr not in ("combine", "fromisoformat")
    ]
    assert asked == []
