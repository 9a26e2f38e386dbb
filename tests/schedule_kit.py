"""Schedules without processes: the real scheduler, the real SQL, and a clock that the test moves."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from actor_kit import Recorder
from fix_cluster import Connection
from psycopg.errors import DatabaseError

from pulse_runtime.actors.scheduler import CLAIMER, REPORTER, Scheduler
from pulse_runtime.events import Log
from pulse_runtime.messages import Due, Fire, Fired, Idle
from pulse_runtime.timing.zones import zone_version
from pulse_supervisor import Joined, Said

HORIZON_S = 30 * 86_400.0


def minute(number: float) -> datetime:
    """So many minutes after noon; tests begin half a minute after it."""
    return datetime(2026, 11, 18, 12, 0, tzinfo=UTC) + timedelta(minutes=number)


class Clock:
    """`pulse.now()` of one database."""

    def __init__(self, connection: Connection, start: datetime) -> None:
        self._connection = connection
        connection.execute("create table public.clock (at timestamptz)")
        connection.execute("insert into public.clock values (%s)", (start,))
        connection.execute(
            "create or replace function pulse.now() returns timestamptz language sql volatile parallel safe"
            " return (select at from public.clock)"
        )
        # Jobs of before the oldest partition are not looked for.
        connection.execute("update pulse.partition set opened_at = %s", (start - timedelta(days=1),))
        self.now = start

    def set(self, now: datetime) -> None:
        self.now = now
        self._connection.execute("update public.clock set at = %s", (now,))

    def advance(self, **by: float) -> None:
        self.set(self.now + timedelta(**by))


class Firing:
    """Claimer and reporter as far as schedules know them, and a scheduler that can be killed at any message."""

    def __init__(
        self,
        connection: Connection,
        *,
        zone: str | None = None,
        most: int = 5000,
        part: tuple[str, int | None, int | None] = ("test", None, None),
    ) -> None:
        self.connection = connection
        self.most = most
        self.part = part
        self.zone = zone or zone_version()
        self.start()

    def start(self) -> None:
        """A new life of the scheduler: nothing is left of the last one."""
        self.office = Recorder()
        self.actor = Scheduler(self.office, zone_version=self.zone, horizon_s=HORIZON_S, log=Log("test", quiet=True))
        self.actor.receive(Joined(CLAIMER, 1), 0.0)

    def look(self) -> bytes | None:
        asked = "select due::text from pulse.due_schedules(%s, %s, %s, %s)"
        row = self.connection.execute(asked, (self.most, *self.part)).fetchone()
        assert row
        return None if row[0] is None else str(row[0]).encode()

    def decide(self, due: bytes) -> list[Fire]:
        self.actor.receive(Said(CLAIMER, Due(due), 1), 0.0)
        return self.take()

    def take(self) -> list[Fire]:
        """What the scheduler has sent to the reporter since."""
        sent, self.office.sent = self.office.sent, []
        return [message for _, message in sent if isinstance(message, Fire)]

    def fire(self, fire: Fire) -> Fired:
        try:
            row = self.connection.execute("select moved from pulse.fire(%s)", (fire.decisions.decode(),)).fetchone()
        except DatabaseError as error:
            return Fired(fire.number, 0, str(error))
        assert row
        return Fired(fire.number, row[0])

    def answer(self, fired: Fired) -> list[Fire]:
        self.actor.receive(Said(REPORTER, fired, 1), 0.0)
        return self.take()

    def turn(self) -> int:
        """Everything that is due now. How many schedules were moved."""
        moved = 0
        for _ in range(1000):
            due = self.look()
            if due is None:
                break
            fires = self.decide(due)
            now = 0
            while fires:
                answer = self.fire(fires.pop(0))
                now += answer.moved
                fires += self.answer(answer)
            moved += now
            if not now:
                break
        return moved

    def each_minute(self, clock: Clock, first: int, last: int) -> None:
        """Turn at each of these minutes, and promote what is due."""
        for number in range(first, last + 1):
            clock.set(minute(number))
            self.turn()
            self.connection.execute("select pulse.promote(10000)")

    @property
    def idle(self) -> bool:
        """Whether the scheduler says so."""
        self.actor.wake(1e9)
        return any(isinstance(message, Idle) for _, message in self.office.sent)


class Schedules:
    """What tests ask the database about schedules."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def ask(self, question: str, *values: Any) -> Any:
        row = self.connection.execute(question.encode(), values).fetchone()
        return row and row[0]

    def add(self, name: str = "s", kind: str = "cron", spec: str = "* * * * *", **options: Any) -> UUID:
        names = "".join(f", {name} => %s" for name in options)
        values = [json.dumps(value) if isinstance(value, dict) else value for value in options.values()]
        call = f"select pulse.add_schedule(%s, %s, %s, 'k'{names})"
        found: UUID = self.ask(call, name, kind, spec, *values)
        return found

    def ledger(self, schedule: UUID) -> list[tuple[datetime, str]]:
        found = self.connection.execute(
            "select occurrence, verdict from pulse.occurrence where schedule_id = %s order by occurrence", (schedule,)
        )
        return found.fetchall()

    def verdicts(self, schedule: UUID) -> list[str]:
        return [verdict for _, verdict in self.ledger(schedule)]

    def jobs(self, schedule: UUID) -> list[tuple[UUID, datetime]]:
        """Every delivery in the log and every delayed one."""
        found = self.connection.execute(
            "select id, occurrence from pulse.log where schedule_id = %s"
            " union all select id, occurrence from pulse.delayed where schedule_id = %s order by 2",
            (schedule, schedule),
        )
        return found.fetchall()

    def row(self, schedule: UUID) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("select to_jsonb(s) from pulse.schedule s where id = %s", schedule)
        return found

    def reasons(self, schedule: UUID) -> list[str | None]:
        found = self.connection.execute(
            "select reason from pulse.occurrence where schedule_id = %s order by occurrence", (schedule,)
        )
        return [reason for (reason,) in found.fetchall()]

    def problems(self) -> list[Any]:
        return self.connection.execute("select * from pulse.audit()").fetchall()
