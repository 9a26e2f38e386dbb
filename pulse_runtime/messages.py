"""Every message between actors, in the order in which a job meets them. Who sends what to whom: `topology.py`.

Jobs stay JSON, as bytes, until the executor decodes them; what becomes of them stays text, as the store takes it, from
the executor to the database. Claimer and reporter forward both and look into neither.
"""

import msgspec

from pulse_supervisor import Message


class Hello(Message, frozen=True):
    """executor → claimer: I am new (executor 0), or you are and I have that id already."""

    executor: int
    pid: int
    pid_start: str
    kinds: list[str]


class Registered(Message, frozen=True):
    """claimer → executor: the id under which you hold leases."""

    executor: int


class Demand(Message, frozen=True):
    """executor → claimer: I have room for so many jobs. Said again with the same number, it replaces what was said.

    Credit: nothing is claimed that nobody has room for. A number is answered once.
    """

    request: int
    slots: int


class Batch(msgspec.Struct, frozen=True, array_like=True):
    """The jobs of one claim, as a JSON array in the order of their positions. They are all of one queue."""

    claim: int
    token: str
    jobs: bytes
    queue: str = ""


class Claimed(Message, frozen=True):
    """claimer → executor: these are yours until your lease lapses."""

    request: int
    batches: list[Batch]


class CancelRunning(Message, frozen=True):
    """claimer → executor: someone wants this job canceled. Whoever does not run it ignores it."""

    claim: int
    position: int
    reason: str


class Ending(msgspec.Struct, frozen=True, array_like=True):
    """A delivery that did not succeed, in the words of `pulse.close`. No delay means "by the job's policy".

    `follow_ups` is what `pulse.close_following` takes, without its brackets.
    """

    position: int
    ending: str
    delay_ms: int | None
    error: str | None
    took_us: int
    follow_ups: str = ""


class Report(Message, frozen=True):
    """executor → reporter: what became of jobs of one claim. Kept by the executor until it is settled.

    `mask` has a 1 for each success and is as long as the claim, or empty; `took_us` their durations with commas between
    them; `results` and `follow_ups` are what `pulse.settle` takes, as JSON arrays without their brackets.
    """

    number: int
    claim: int
    token: str
    mask: str
    took_us: str
    endings: list[Ending]
    results: str = ""
    follow_ups: str = ""


class Progress(Message, frozen=True):
    """executor → reporter: how far a job says it is. At most one a second from each job, and no loss if it is lost."""

    id: str
    attempt: int
    done: float
    total: float | None
    note: str | None


class Settled(Message, frozen=True):
    """reporter → executor: these reports are durable, or changed nothing because the jobs are no longer yours."""

    numbers: list[int]


class Beat(Message, frozen=True):
    """executor → heartbeat: my loop turns, and these claims I believe to hold."""

    executor: int
    claims: list[int]


class Held(msgspec.Struct, frozen=True, array_like=True):
    """An executor that has beaten, and the claims it holds."""

    executor: int
    claims: list[int]


class Extend(Message, frozen=True):
    """heartbeat → reporter: these executors live. One row each, however many jobs they run."""

    held: list[Held]


class Refused(Message, frozen=True):
    """reporter → heartbeat → executor: these executors have ended for the database, and are never extended again."""

    executors: list[int]


class Watch(Message, frozen=True):
    """watchdog → reporter: who stands, and how often have they beaten?"""


class Standing(msgspec.Struct, frozen=True, array_like=True):
    """An executor that has not ended, or that ended and left leases behind."""

    executor: int
    beats: int
    ended: bool


class Watched(Message, frozen=True):
    """reporter → watchdog: those who stand."""

    standing: list[Standing]


class Reap(Message, frozen=True):
    """watchdog → reporter: this executor stood still for a lease time; end it, unless it has beaten since."""

    executor: int
    beats: int


class Maintain(Message, frozen=True):
    """watchdog → reporter: a round of retention."""


class Maintained(Message, frozen=True):
    """reporter → watchdog: it is done; `again` if there is more to prune, `starved` if a lock was not to be had."""

    again: bool
    starved: bool


class Audit(Message, frozen=True):
    """watchdog → reporter: look for what must not exist."""


class Audited(Message, frozen=True):
    """reporter → watchdog: so many findings, each of which was logged; none are expected."""

    findings: int


class Idle(Message, frozen=True):
    """scheduler → claimer: I have nothing in hand; send me what is due, once something is. Credit, as `Demand` is.

    `more`: something may be due now.
    """

    more: bool


class Due(Message, frozen=True):
    """claimer → scheduler: schedules that are due, as `pulse.due_schedules` tells them: JSON that only you decode."""

    schedules: bytes


class Fire(Message, frozen=True):
    """scheduler → reporter: what was decided, as JSON for `pulse.fire`."""

    number: int
    decisions: bytes


class Fired(Message, frozen=True):
    """reporter → scheduler: so many schedules of that Fire were moved; or the database refused all of it, and why."""

    number: int
    moved: int
    refused: str | None = None
