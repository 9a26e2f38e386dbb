"""The black box: what an executor holds and runs, in memory that outlives it.

The executor writes, the supervisor reads after its death. A row per open claim: its id, token and size, and one byte
per job. A job's state is one byte stored at once; a row counts once its claim id is written, which comes last.
"""

import struct
import uuid
from dataclasses import dataclass
from mmap import mmap

LEAST_ROWS = 256
SPARE_ROWS = 128
"""Besides one for each job that runs, which may be alone in its claim: for claims on their way, or not durable."""
MOST_JOBS = 1024
"""In one claim: as many bytes has a row."""
# Executor id; earliest deadline (monotonic), 0 for none; whether it ended by itself; pid.
_HEAD = struct.Struct("<Qd?xxxI")
_HEAD_BYTES = 64
_ROW = struct.Struct("<Q16sI")
_ROW_BYTES = 32 + MOST_JOBS

DELIVERED, RUNNING, SUCCEEDED, SUCCEEDED_WITH_MORE, ENDED, RUNNING_ALONE, OVERDUE = range(7)
"""Succeeded with more: with a result or follow-ups, which are in the report alone. Running alone: a suspect. Overdue:
it runs, its time was up, and the loop turned and saw that."""


PAST_DEADLINE = "a handler goes on although its time was up"
"""How the reason begins for which an executor is killed that does not end a handler in time."""


def size_for(concurrency: int) -> int:
    """Bytes of a box. What is never written costs no memory."""
    return _HEAD_BYTES + max(LEAST_ROWS, concurrency + SPARE_ROWS) * _ROW_BYTES


def _rows(memory: mmap | bytes | memoryview) -> range:
    """Where each row begins."""
    return range(_HEAD_BYTES, len(memory) - _ROW_BYTES + 1, _ROW_BYTES)


class BlackBox:
    """The executor's side."""

    def __init__(self, memory: mmap) -> None:
        self._memory = memory
        self._free = list(reversed(_rows(memory)))

    def begin(self, pid: int) -> None:
        """Whose it is: the supervisor looks at its memory."""
        struct.pack_into("<I", self._memory, 20, pid)

    def sign(self, executor: int) -> None:
        """From now on the box is that executor's."""
        struct.pack_into("<Q", self._memory, 0, executor)

    def deadline(self, moment: float) -> None:
        """When the first of the running jobs is overdue; 0 for none."""
        struct.pack_into("<d", self._memory, 8, moment)

    def leave(self) -> None:
        """The executor ends now by its own will: what still runs is not why."""
        self._memory[16] = 1

    @property
    def room(self) -> int:
        """How many more claims can be open."""
        return len(self._free)

    def open(self, claim: int, token: str, jobs: int) -> int:
        """A row for a claim, all of whose jobs are delivered. Returns where the states of its jobs begin."""
        start = self._free.pop()
        _ROW.pack_into(self._memory, start, 0, uuid.UUID(token).bytes, jobs)
        self._memory[start + 32 : start + 32 + jobs] = bytes(jobs)
        struct.pack_into("<Q", self._memory, start, claim)
        return start + 32

    def set(self, place: int, state: int) -> None:
        """The state of a job: `place` is where the claim's states begin, plus the job's position."""
        self._memory[place] = state

    def close(self, states: int) -> None:
        """Everything about the claim is durable: forget it."""
        start = states - 32
        struct.pack_into("<Q", self._memory, start, 0)
        self._free.append(start)


@dataclass(frozen=True)
class Found:
    """An open claim in the box of a dead executor; a byte of `states` per job."""

    claim: int
    token: str
    states: bytes


@dataclass(frozen=True)
class Contents:
    """What the box of a dead executor says."""

    executor: int
    """0: it never had an id, and so never a lease."""
    left: bool
    """It ended by itself: when its drain was over, or because the database had given it up."""
    claims: list[Found]


def read(memory: bytes | memoryview) -> Contents:
    """What it says. Whatever the dead has scribbled into it, reading it raises nothing."""
    executor, _, left, _ = _HEAD.unpack_from(memory, 0)
    found = []
    for start in _rows(memory):
        claim, token, jobs = _ROW.unpack_from(memory, start)
        if claim:
            states = bytes(memory[start + 32 : start + 32 + min(jobs, MOST_JOBS)])
            found.append(Found(claim, str(uuid.UUID(bytes=token)), states))
    return Contents(executor, left, found)


def pid_of(memory: memoryview) -> int:
    """Whose box it is; 0 before it has said so."""
    pid: int = _HEAD.unpack_from(memory, 0)[3]
    return pid


def overdue(memory: memoryview, now: float, *, cleanup_s: float) -> str | None:
    """Why the executor should be killed: a handler's time was up, the time to clean up too, and it is still there."""
    deadline: float = _HEAD.unpack_from(memory, 0)[1]
    return f"{PAST_DEADLINE} {now - deadline:.1f} s ago" if deadline and now > deadline + cleanup_s else None
