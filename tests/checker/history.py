"""What producers, handlers and the database saw, as plain records."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Slot = tuple[int, int]
"""A claim, and a position in it."""


@dataclass(frozen=True)
class Delivery:
    """A row of the log that was claimed."""

    claim: int
    pos: int
    executor: int
    id: str
    seq: int
    attempt: int

    @property
    def slot(self) -> Slot:
        return self.claim, self.pos


@dataclass(frozen=True)
class Failure:
    """A delivery that started, or may have, and did not succeed."""

    id: str
    attempt: int
    charged: int
    ending: str
    claim: int


@dataclass(frozen=True)
class Job:
    """A row of pulse.jobs."""

    id: str
    status: str
    attempt: int
    charged: int


@dataclass(frozen=True)
class Database:
    """One snapshot of the database's side."""

    jobs: tuple[Job, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    open: tuple[Slot, ...] = ()
    done: tuple[Slot, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True)
class Run:
    """A handler's start and, if it came to that, its end. Times are of CLOCK_MONOTONIC, in ns."""

    id: str
    attempt: int
    start: int
    pid: int = 0
    end: int | None = None
    outcome: str | None = None  # ok, raised, cancelled


@dataclass(frozen=True)
class History:
    """Everything that `check` looks at."""

    database: Database
    enqueued: tuple[str, ...] = ()  # their commit returned
    unsure: tuple[str, ...] = ()  # the reply to their commit was lost
    retried: Counter[str] = field(default_factory=Counter)  # dead letters that were given another life
    runs: tuple[Run, ...] = ()
    strays: tuple[str, ...] = ()  # ends without a start


def read_history(file: Path, database: Database) -> History:
    """The file that handlers and producers wrote, next to what the database says. No file: nobody wrote anything."""
    lines = file.read_text().splitlines() if file.exists() else []
    return history_of([json.loads(line) for line in lines], database)


def history_of(events: Iterable[Mapping[str, Any]], database: Database) -> History:
    """Lines of the history file, in any order."""
    ordered = sorted(events, key=lambda event: event["at"])
    by_kind = {name: [each for each in ordered if each["event"] == name] for name in ("enqueued", "unsure", "retried")}
    runs, strays = _runs([each for each in ordered if each["event"] in {"start", "end"}])
    return History(
        database=database,
        enqueued=tuple(each["id"] for each in by_kind["enqueued"]),
        unsure=tuple(each["id"] for each in by_kind["unsure"]),
        retried=Counter(each["id"] for each in by_kind["retried"]),
        runs=runs,
        strays=strays,
    )


def _runs(events: list[Mapping[str, Any]]) -> tuple[tuple[Run, ...], tuple[str, ...]]:
    """An end belongs to the latest start of its delivery in its process."""
    found: list[Run] = []
    open_: dict[tuple[str, int, int], int] = {}
    strays = []
    for event in events:
        key = event["id"], event["attempt"], event["pid"]
        if event["event"] == "start":
            open_[key] = len(found)
            found.append(Run(key[0], key[1], event["at"], pid=key[2]))
        elif (at := open_.pop(key, None)) is None:
            strays.append(f"{key[0]} attempt {key[1]}")
        else:
            start = found[at].start
            found[at] = Run(key[0], key[1], start, pid=key[2], end=event["at"], outcome=event["outcome"])
    return tuple(found), tuple(strays)
