"""The black box: what an executor holds and runs, in memory that outlives it.

The executor writes, the supervisor reads after its death. A row per open claim: its id, token and size, and one byte
per job. A job's state is one byte stored at once; a row counts once its claim id is written, which comes last.
"""

import struct
import uuid
from dataclasses import dataclass
from mmap import mmap

ROWS = 256
MOST_JOBS = 1024
"""In one claim: as many bytes has a row."""
_HEAD = struct.Struct("<Qd")  # executor id; earliest deadline (monotonic), 0 for none
_HEAD_BYTES = 64
_ROW = struct.Struct("<Q16sI")
_ROW_BYTES = 32 + MOST_JOBS
SIZE = _HEAD_BYTES + ROWS * _ROW_BYTES

DELIVERED, RUNNING, SUCCEEDED, SUCCEEDED_WITH_MORE, ENDED = range(5)
"""Succeeded with more: with a result or follow-ups, which are in the report alone."""


class BlackBox:
    """The executor's side."""

    def __init__(self, memory: mmap) -> None:
        self._memory = memory
        self._free = list(range(ROWS - 1, -1, -1))

    def sign(self, executor: int) -> None:
        """From now on the box is that executor's."""
        struct.pack_into("<Q", self._memory, 0, executor)

    def deadline(self, moment: float) -> None:
        """When the first of the running jobs is overdue; 0 for none."""
        struct.pack_into("<d", self._memory, 8, moment)

    @property
    def room(self) -> int:
        """How many more claims can be open."""
        return len(self._free)

    def open(self, claim: int, token: str, jobs: int) -> int:
        """A row for a claim, all of whose jobs are delivered. Returns where the states of its jobs begin."""
        row = self._free.pop()
        start = _HEAD_BYTES + row * _ROW_BYTES
        _ROW.pack_into(self._memory, start, 0, uuid.UUID(token).bytes, jobs)
        self._memory[start + 32 : start + 32 + jobs] = bytes(jobs)
        struct.pack_into("<Q", self._memory, start, claim)
        return start + 32

    def set(self, place: int, state: int) -> None:
        """The state of a job: `place` is where the claim's states begin, plus the job's position."""
        self._memory[place] = state

    def close(self, states: int) -> None:
        """Everything about the claim is durable: forget it."""
        struct.pack_into("<Q", self._memory, states - 32, 0)
        self._free.append((states - 32 - _HEAD_BYTES) // _ROW_BYTES)


@dataclass(frozen=True)
class Found:
    """An open claim in the box of a dead executor; a byte of `states` per job."""

    claim: int
    token: str
    states: bytes


def read(memory: bytes | memoryview) -> tuple[int, list[Found]]:
    """The executor's id (0: it never had one, and so never a lease) and its open claims."""
    executor, _ = _HEAD.unpack_from(memory, 0)
    found = []
    for start in range(_HEAD_BYTES, _HEAD_BYTES + ROWS * _ROW_BYTES, _ROW_BYTES):
        claim, token, jobs = _ROW.unpack_from(memory, start)
        if claim:
            states = bytes(memory[start + 32 : start + 32 + min(jobs, MOST_JOBS)])
            found.append(Found(claim, str(uuid.UUID(bytes=token)), states))
    return executor, found


def overdue(memory: memoryview, now: float, *, grace_s: float = 3.0) -> str | None:
    """Why the executor should be killed: a handler is past its deadline and the grace, and the executor did nothing."""
    _, deadline = _HEAD.unpack_from(memory, 0)
    return f"a handler is {now - deadline:.1f} s past its deadline" if deadline and now > deadline + grace_s else None
