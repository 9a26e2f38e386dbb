"""Schedules that live through whatever may happen, at random: what must hold holds after every step."""

import json
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import DatabaseError
from schedule_kit import Clock, Firing, Schedules
from store_kit import Batch, Store

from pulse_runtime.ids import occurrence_id
from pulse_runtime.timing.timings import occurrences, parse_timing

STEPS = 120
TIMINGS = [
    ("cron", "* * * * *"),
    ("cron", "*/7 * * * *"),
    ("cron", "*/20 * * * * *"),
    ("every", "45s"),
    ("every", "5m"),
]
POLICIES: dict[str, list[Any]] = {
    "missed": ["latest", "all", "none"], "overlap": ["allow", "allow", "skip", "queue_one"], "jitter": [0, 0, 0.3, 0.5],
    "lookahead_s": [0, 60, 60, 400], "max_fires": [None, None, None, 6], "pause_after": [0, 3, 10],
    "delivery": ["at_least_once", "at_most_once"], "missed_pace_s": [0, 5], "missed_most": [3, 100],
}  # fmt: skip
ENDINGS = ("fail", "dead", "lost", "suspect", "crash", "release", "cancel", "put_off")
# What was asked for by people is beside the timing: it counts towards nothing.
WRONG = {
    "two jobs of one occurrence": """select schedule_id, occurrence from (
        select schedule_id, occurrence, id from pulse.log where schedule_id is not null
        union select schedule_id, occurrence, id from pulse.delayed where schedule_id is not null) j
      group by 1, 2 having count(*) > 1""",
    "fires are not those of the ledger": """select s.id, s.fires, count(o) from pulse.schedule s
      left join pulse.occurrence o on o.schedule_id = s.id and o.verdict in ('fired', 'late', 'lost')
       and coalesce(o.reason, '') !~ '^(run now|backfilled) by' group by s.id having s.fires <> count(o)""",
    "more fires than there may be": "select id, fires from pulse.schedule where fires > max_fires",
    "something is ahead of one that does not go": """select s.id, d.run_at from pulse.schedule s
      join pulse.delayed d on d.schedule_id = s.id and d.attempt = 1
      join pulse.occurrence o on o.job_id = d.id and o.due_at > pulse.now()
     where s.paused_at is not null or s.deleted_at is not null""",
    "runs overlap": """select s.id, count(*) from pulse.schedule s
      join pulse.occurrence o on o.schedule_id = s.id and o.job_id is not null
       and coalesce(o.reason, '') not like 'backfilled by%%'
     cross join lateral pulse.get(o.job_id) j
     where s.overlap <> 'allow' and j.status in ('PENDING', 'RUNNING', 'RETRYING') group by s.id having count(*) > 1""",
    "one waits and is not known, or is known and does not": """select s.id, s.queued_at from pulse.schedule s
      left join pulse.occurrence o on o.schedule_id = s.id and o.verdict = 'queued'
     where s.queued_at is distinct from o.occurrence""",
}

PAST = """select occurrence from pulse.occurrence where schedule_id = %s and decided_at > %s and occurrence <= %s
  and coalesce(reason, '') !~ '^(run now|backfilled) by' limit 1"""


class Lives:
    """Some schedules, and everything that people and machines do to them."""

    def __init__(self, schedules: Schedules, clock: Clock, firing: Firing, chance: random.Random) -> None:
        self.schedules, self.clock, self.firing, self.chance = schedules, clock, firing, chance
        self.store = Store(schedules.connection)
        self.batches: list[Batch] = []
        self.ids: list[UUID] = []
        self.timed: dict[UUID, datetime] = {}
        self.made = 0
        for _ in range(6):
            self.add()

    def step(self) -> str:
        often: list[Callable[[], object]] = [self.advance, self.fire, self.promote, self.claim, self.end]
        seldom = [
            self.pause, self.resume, self.edit_args, self.edit_policy, self.edit_timing, self.run_now, self.replace,
        ]  # fmt: skip
        what = self.chance.choice([*often * 4, *seldom, self.backfill])
        what()
        return what.__name__

    def add(self) -> None:
        kind, spec = self.chance.choice(TIMINGS)
        self.made += 1
        policies = {name: self.chance.choice(values) for name, values in POLICIES.items()}
        said = {name: value for name, value in policies.items() if value is not None}
        self.ids.append(
            self.schedules.add(f"s{self.made}", kind, spec, id=UUID(int=self.chance.getrandbits(128)), **said)
        )

    def advance(self) -> None:
        self.clock.advance(seconds=self.chance.choice([0.5, 7, 20, 61, 61, 200, 900]))

    def fire(self) -> None:
        due = self.firing.look()
        fires = self.firing.decide(due) if due else []
        while fires:
            fire = fires.pop(0)
            if self.chance.random() < 0.1:
                break
            answer = self.firing.fire(fire)
            assert answer.refused is None
            if self.chance.random() < 0.1:
                self.firing.fire(fire)
            fires += self.firing.answer(answer)
        self.firing.start()

    def promote(self) -> None:
        self.schedules.ask("select pulse.promote(10000)")

    def claim(self) -> None:
        self.batches += self.store.claim(self.chance.randint(1, 20))

    def end(self) -> None:
        if self.batches:
            batch = self.batches.pop(self.chance.randrange(len(self.batches)))
            for position in range(len(batch.jobs)):
                if self.chance.random() < 0.5:
                    mask = "".join("1" if each == position else "0" for each in range(len(batch.jobs)))
                    self.store.settle(batch, mask)
                else:
                    self.store.close(batch, self.chance.choice(ENDINGS), delay_ms=30_000, position=position)

    def pause(self) -> None:
        self.schedules.ask("select pulse.pause_schedule(%s)", self.any())

    def resume(self) -> None:
        self.schedules.ask("select pulse.resume_schedule(%s)", self.any())

    def edit_args(self) -> None:
        self.edit({"args": {"n": self.chance.randrange(9)}})

    def edit_policy(self) -> None:
        name = self.chance.choice([name for name in POLICIES if name not in ("overlap", "max_fires")])
        self.edit({name: self.chance.choice(POLICIES[name])})

    def edit_timing(self) -> None:
        kind, spec = self.chance.choice(TIMINGS)
        self.timed[self.edit({"kind": kind, "spec": spec})] = self.clock.now
        self.clock.advance(seconds=0.001)  # what is decided from here on is decided later

    def edit(self, changes: dict[str, Any]) -> UUID:
        mine = self.any()
        self.schedules.ask("select pulse.edit_schedule(%s, %s)", mine, json.dumps(changes))
        return mine

    def run_now(self) -> None:
        try:
            self.schedules.ask("select pulse.run_schedule(%s, 'me')", self.any())
        except DatabaseError as refused:
            assert refused.sqlstate == "PU410"  # noqa: PT017 (it may run as well)

    def backfill(self) -> None:
        mine = self.any()
        row = self.schedules.row(mine)
        window = list(occurrences(self.timing(row), self.clock.now - timedelta(minutes=20), self.clock.now, 30))
        jobs = [occurrence_id(mine, each) for each in window]
        self.schedules.ask("select pulse.backfill(%s, %s, %s::uuid[], true, 'me')", mine, window, jobs)

    def replace(self) -> None:
        mine = self.any()
        self.schedules.ask("select pulse.delete_schedule(%s)", mine)
        self.ids.remove(mine)
        self.add()

    def any(self) -> UUID:
        return self.chance.choice(self.ids)

    def timing(self, row: dict[str, Any]) -> Any:
        return parse_timing(row["kind"], row["spec"], row["tz"], row["anchor"] and from_json(row["anchor"]))

    def wrong(self) -> list[Any]:
        found = [(what, row) for what, asked in WRONG.items() for row in self.rows(asked)]
        found += [
            ("fired in the past", mine) for mine, at in self.timed.items() if self.schedules.ask(PAST, mine, at, at)
        ]
        return found + self.schedules.problems()

    def rows(self, asked: str) -> list[Any]:
        return self.schedules.connection.execute(asked.replace("%%", "%").encode()).fetchall()

    def gaps(self) -> list[Any]:
        """Occurrences up to the cursor of which the ledger has none."""
        found = []
        for mine in self.ids:
            row = self.schedules.row(mine)
            if row["next_run_at"] is not None:
                told = {occurrence for occurrence, _ in self.schedules.ledger(mine)}
                last = from_json(row["next_run_at"]) - timedelta(microseconds=1)
                due = occurrences(self.timing(row), self.timed.get(mine, from_json(row["created_at"])), last, 10_000)
                found += [(mine, each) for each in due if each not in told]
        return found


from_json = datetime.fromisoformat


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 40))])
def test_nothing_that_must_not_be_comes_of_a_random_life(
    schedules: Schedules, clock: Clock, firing: Firing, seed: int
) -> None:
    lives = Lives(schedules, clock, firing, random.Random(seed))
    did: list[str] = []
    for _ in range(STEPS):
        did.append(lives.step())
        if did[-1] == "fire" or lives.chance.random() < 0.2:
            firing.turn()
            assert lives.wrong() == [], did
    firing.turn()
    assert lives.wrong() == [], did
    assert lives.gaps() == [], did
