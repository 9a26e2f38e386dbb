"""What an executor holds: its open claims, and the reports that are not durable yet."""

from dataclasses import dataclass, field

from pulse_runtime.black_box import DELIVERED, ENDED, RUNNING, SUCCEEDED, SUCCEEDED_WITH_MORE, BlackBox
from pulse_runtime.messages import Batch, Ending, Report


@dataclass
class Held:
    """One open claim. `states` is where its jobs' states begin in the black box."""

    claim: int
    token: str
    jobs: int
    states: int
    unreported: list[tuple[int, int]] = field(default_factory=list)
    """Positions that succeeded, and how long each took, in µs."""
    endings: list[Ending] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    reported: int = 0
    open_reports: int = 0


class Holdings:
    """Open claims and reports; every change is in the black box before it is anywhere else."""

    def __init__(self, box: BlackBox) -> None:
        self._box = box
        self._claims: dict[int, Held] = {}
        self._dirty: dict[int, Held] = {}
        self._reports: dict[int, Report] = {}
        self._number = 0

    @property
    def claims(self) -> list[int]:
        return list(self._claims)

    @property
    def unsettled(self) -> int:
        """Reports that are not durable yet."""
        return len(self._reports)

    @property
    def reports(self) -> list[Report]:
        """In their order: to be sent again to a new reporter."""
        return list(self._reports.values())

    def room(self) -> int:
        return self._box.room

    def open(self, batch: Batch, jobs: int) -> Held | None:
        """None: we hold it already, and its reply came twice."""
        if batch.claim in self._claims:
            return None
        held = Held(batch.claim, batch.token, jobs, self._box.open(batch.claim, batch.token, jobs))
        self._claims[batch.claim] = held
        return held

    def get(self, claim: int) -> Held | None:
        return self._claims.get(claim)

    def started(self, held: Held, position: int) -> None:
        self._box.set(held.states + position, RUNNING)

    def returned(self, held: Held, position: int) -> None:
        """It was not started after all."""
        self._box.set(held.states + position, DELIVERED)

    def succeeded(self, held: Held, position: int, took_us: int, result: str | None = None) -> None:
        self._box.set(held.states + position, SUCCEEDED if result is None else SUCCEEDED_WITH_MORE)
        held.unreported.append((position, took_us))
        if result is not None:
            held.results.append(f"[{held.claim},{position},{result}]")
        self._dirty[held.claim] = held

    def ended(self, held: Held, ending: Ending) -> None:
        self._box.set(held.states + ending.position, ENDED)
        held.endings.append(ending)
        self._dirty[held.claim] = held

    def flush(self) -> list[Report]:
        """One report for each claim of which something ended since."""
        dirty, self._dirty = self._dirty, {}
        made = [self._report(held) for held in dirty.values()]
        for report in made:
            self._reports[report.number] = report
        return made

    def settled(self, numbers: list[int]) -> None:
        """These are durable. A claim of which everything is, is forgotten."""
        for number in numbers:
            report = self._reports.pop(number, None)
            held = self._claims.get(report.claim) if report is not None else None
            if held is not None:
                held.open_reports -= 1
                if held.reported == held.jobs and not held.open_reports:
                    self._box.close(held.states)
                    del self._claims[held.claim]

    def _report(self, held: Held) -> Report:
        self._number += 1
        done = sorted(held.unreported)
        held.reported += len(done) + len(held.endings)
        held.open_reports += 1
        report = Report(
            number=self._number,
            claim=held.claim,
            token=held.token,
            mask=_mask([position for position, _ in done], held.jobs),
            took_us=",".join([str(took) for _, took in done]),
            endings=held.endings,
            results=",".join(held.results),
        )
        held.unreported, held.endings, held.results = [], [], []
        return report


def _mask(positions: list[int], jobs: int) -> str:
    if len(positions) == jobs:
        return "1" * jobs
    if not positions:
        return ""
    bits = bytearray(b"0" * jobs)
    for position in positions:
        bits[position] = 49
    return bits.decode()
