"""What an executor holds: its open claims, and the reports that are not durable yet."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from pulse_runtime.execution.black_box import (
    ENDED,
    OVERDUE,
    RUNNING,
    RUNNING_ALONE,
    SUCCEEDED,
    SUCCEEDED_WITH_MORE,
    BlackBox,
)
from pulse_runtime.execution.outbox import Outbox
from pulse_runtime.execution.running import Outcome
from pulse_runtime.messages import Batch, Ending, Report

REPORT_BYTES = 1 << 20
"""A report with more results and follow-ups than that is sent as several: a frame has its bounds."""


@dataclass
class Held:
    """One open claim. `states` is where its jobs' states begin in the black box."""

    claim: int
    token: str
    jobs: int
    states: int
    queue: str = ""
    unreported: list[tuple[int, int]] = field(default_factory=list)
    """Positions that succeeded, and how long each took, in µs."""
    endings: list[Ending] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    follow_ups: list[str] = field(default_factory=list)
    size: int = 0
    reported: int = 0
    open_reports: int = 0


class Holdings:
    """Open claims and reports; every change is in the black box before it is anywhere else."""

    def __init__(self, box: BlackBox) -> None:
        self._box = box
        self._claims: dict[int, Held] = {}
        self._dirty: dict[int, Held] = {}
        self._outbox = Outbox()
        self.unreported = 0
        """What ended and is in no report yet."""

    @property
    def claims(self) -> list[int]:
        return list(self._claims)

    @property
    def unsettled(self) -> int:
        """Reports that are not durable yet."""
        return len(self._outbox)

    @property
    def unsettled_bytes(self) -> int:
        return self._outbox.size

    def room(self) -> int:
        return self._box.room

    def open(self, batch: Batch, jobs: int) -> Held | None:
        """None: we hold it already, and its reply came twice; or there is no room to note it, and it goes back."""
        if batch.claim in self._claims:
            return None
        if not self._box.room:
            self.refuse(batch, jobs)
            return None
        held = Held(batch.claim, batch.token, jobs, self._box.open(batch.claim, batch.token, jobs), batch.queue)
        self._claims[batch.claim] = held
        return held

    def refuse(self, batch: Batch, jobs: int) -> None:
        """It goes back as if it had never been claimed, unless we hold it. If we die first, the box says the same."""
        if batch.claim not in self._claims:
            endings = [Ending(position, "release", None, None, 0) for position in range(jobs)]
            self._outbox.put(Report(self._outbox.next_number(), batch.claim, batch.token, "", "", endings))

    def started(self, held: Held, position: int, *, alone: bool = False) -> None:
        self._box.set(held.states + position, RUNNING_ALONE if alone else RUNNING)

    def overdue(self, held: Held, position: int) -> None:
        """It was asked to end because its time was up, and goes on."""
        self._box.set(held.states + position, OVERDUE)

    def succeeded(self, held: Held, position: int, took_us: int) -> None:
        """It ended well, and there is nothing more to say of it."""
        self._box.set(held.states + position, SUCCEEDED)
        held.unreported.append((position, took_us))
        self.unreported += 1
        self._dirty[held.claim] = held

    def ended(self, held: Held, position: int, outcome: Outcome) -> None:
        """It ended, however that was."""
        if outcome.ending is None and outcome.result is None and not outcome.follow_ups:
            self.succeeded(held, position, outcome.took_us)
            return
        self.unreported += 1
        follow_ups = ",".join([f"[{held.claim},{position},{each}]" for each in outcome.follow_ups])
        if outcome.ending is not None:
            self._box.set(held.states + position, ENDED)
            held.endings.append(
                Ending(position, outcome.ending, outcome.delay_ms, outcome.error, outcome.took_us, follow_ups)
            )
        else:
            self._box.set(held.states + position, SUCCEEDED_WITH_MORE)
            held.unreported.append((position, outcome.took_us))
            if outcome.result is not None:
                held.results.append(f"[{held.claim},{position},{outcome.result}]")
            if follow_ups:
                held.follow_ups.append(follow_ups)
        self._dirty[held.claim] = held
        held.size += len(outcome.result or "") + len(follow_ups) + len(outcome.error or "")
        if held.size > REPORT_BYTES:
            self._report(self._dirty.pop(held.claim))

    def flush(self) -> None:
        """One report for each claim of which something ended since."""
        dirty, self._dirty, self.unreported = self._dirty, {}, 0
        for held in dirty.values():
            self._report(held)

    def to_send(self) -> Iterator[Report]:
        return self._outbox.take()

    def send_again(self) -> None:
        """Everything that is not durable, because the reporter is a new one."""
        self._outbox.again()

    def settled(self, numbers: list[int]) -> None:
        """These are durable. A claim of which everything is, is forgotten."""
        for number in numbers:
            report = self._outbox.settled(number)
            held = self._claims.get(report.claim) if report is not None else None
            if held is not None:
                held.open_reports -= 1
                if held.reported == held.jobs and not held.open_reports:
                    self._box.close(held.states)
                    del self._claims[held.claim]

    def _report(self, held: Held) -> None:
        done = sorted(held.unreported)
        held.reported += len(done) + len(held.endings)
        held.open_reports += 1
        report = Report(
            number=self._outbox.next_number(),
            claim=held.claim,
            token=held.token,
            mask=_mask([position for position, _ in done], held.jobs),
            took_us=",".join([str(took) for _, took in done]),
            endings=held.endings,
            results=",".join(held.results),
            follow_ups=",".join(held.follow_ups),
        )
        held.unreported, held.endings, held.results, held.follow_ups, held.size = [], [], [], [], 0
        self._outbox.put(report)


def _mask(positions: list[int], jobs: int) -> str:
    if len(positions) == jobs:
        return "1" * jobs
    if not positions:
        return ""
    bits = bytearray(b"0" * jobs)
    for position in positions:
        bits[position] = 49
    return bits.decode()
