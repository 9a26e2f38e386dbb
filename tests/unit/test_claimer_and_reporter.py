"""Claimer and reporter without a database: what they ask, and in which order, whatever they are answered."""

import mmap

from actor_kit import TOKEN, Recorder

from pulse_runtime import black_box
from pulse_runtime.actors.claimer import Claimer
from pulse_runtime.actors.reporter import Reporter
from pulse_runtime.actors.upkeep import Upkeep
from pulse_runtime.black_box import RUNNING, BlackBox
from pulse_runtime.events import Log
from pulse_runtime.identity import Identity
from pulse_runtime.messages import Batch, Claimed, Demand, Extend, Held, Hello, Report, Watch
from pulse_runtime.settings import RuntimeSettings
from pulse_runtime.store.line import Question, Row
from pulse_supervisor import Died, Joined, Peer, Said

SETTINGS = RuntimeSettings(dsn="", name="test", beat_s=1.0, lease_s=10.0)
EXECUTOR, HEARTBEAT, WATCHDOG = Peer("executor", 1), Peer("heartbeat", 1), Peer("watchdog", 1)
QUIET = Log("test", quiet=True)
NOTHING_TO_SEE: Row = (b"f", b"{}", b"t", None, None, b"f", b"t")


class Asked:
    """A line that only writes down; `answer` answers the oldest question."""

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.names: list[str] = []

    @property
    def idle(self) -> bool:
        return not self.questions

    def ask(self, question: Question, _: float) -> None:
        self.questions.append(question)
        self.names.append(question.name)

    def answer(self, *rows: Row) -> None:
        self.questions.pop(0).then(list(rows))


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Claiming:
    """A claimer with one executor that wants five jobs."""

    def __init__(self) -> None:
        self.office, self.line, self.clock = Recorder(), Asked(), Clock()
        self.actor = Claimer(self.office, self.line, SETTINGS, Identity("here", "boot"), QUIET, clock=self.clock)
        self.actor.receive(Said(EXECUTOR, Hello(7, 4321, "1", []), 1), self.clock.now)
        self.demand(1)
        self.actor.wake(self.clock.now)
        self.line.answer(NOTHING_TO_SEE)

    def demand(self, request: int) -> None:
        self.actor.receive(Said(EXECUTOR, Demand(request, 5), 1), self.clock.now)

    def claimed(self, *, late_s: float = 0.0) -> None:
        self.actor.wake(self.clock.now)
        self.clock.now += late_s
        self.line.answer((b"77", TOKEN.encode(), b"1", b"[1]"))

    @property
    def delivered(self) -> list[Claimed]:
        return [message for _, message in self.office.sent if isinstance(message, Claimed)]


def test_a_batch_is_delivered_as_it_came() -> None:
    claiming = Claiming()
    claiming.claimed()
    assert claiming.delivered == [Claimed(1, [Batch(77, TOKEN, b"[1]")])]


def test_a_batch_whose_answer_took_a_beat_is_asked_for_again_under_the_same_number() -> None:
    claiming = Claiming()
    claiming.claimed(late_s=1.5)
    assert claiming.delivered == []
    claiming.actor.wake(claiming.clock.now)
    if claiming.line.questions[0].name == "look":
        claiming.line.answer(NOTHING_TO_SEE)
    claiming.claimed()
    assert [each.request for each in claiming.delivered] == [1]


def test_however_much_there_is_to_claim_the_claimer_looks_around() -> None:
    claiming = Claiming()
    for request in range(2, 42):
        claiming.actor.wake(claiming.clock.now)
        question = claiming.line.questions[0]
        claiming.line.answer(NOTHING_TO_SEE if question.name == "look" else (b"77", TOKEN.encode(), b"1", b"[1]"))
        claiming.clock.now += 0.1
        claiming.demand(request)
    assert 3 <= claiming.line.names.count("look") <= 8
    assert claiming.line.names.count("claim") > 30


class Reporting:
    """A reporter with an executor, and lines that answer when they are told to."""

    def __init__(self) -> None:
        self.office, self.settling, self.extending, self.clock = Recorder(), Asked(), Asked(), Clock()
        upkeep = Upkeep(self.office, Asked(), SETTINGS, QUIET)
        self.actor = Reporter(self.office, self.settling, self.extending, upkeep, SETTINGS, QUIET, clock=self.clock)
        self.actor.receive(Joined(EXECUTOR, 1), self.clock.now)

    def report(self, number: int) -> None:
        message = Report(number, number, TOKEN, "1", "5", [])
        self.actor.receive(Said(EXECUTOR, message, 1), self.clock.now)

    def beat(self, *claims: int) -> None:
        self.actor.receive(Said(HEARTBEAT, Extend([Held(7, list(claims))]), 1), self.clock.now)
        self.actor.wake(self.clock.now)


def death_of_another() -> Died:
    memory = mmap.mmap(-1, black_box.SIZE)
    box = BlackBox(memory)
    box.sign(9)
    box.set(box.open(5, TOKEN, 1), RUNNING)
    return Died("executor", 2, 1, 4321, "killed by SIGKILL", None, memory[:])


def test_however_many_reports_come_a_death_is_dealt_with() -> None:
    reporting = Reporting()
    reporting.report(1)
    reporting.actor.wake(100.0)
    reporting.actor.receive(death_of_another(), 100.0)
    for number in range(2, 6):
        reporting.report(number)
        reporting.settling.answer((b"1", b"1", b"0"))
        reporting.actor.wake(100.0)
    assert reporting.settling.names == ["report", "bury", "report", "report", "report"]
    assert [each.number for each in reporting.office.mourned] == [2]


def test_while_the_database_is_away_beats_and_looks_do_not_pile_up() -> None:
    reporting = Reporting()
    for _ in range(100):
        reporting.beat(1)
        reporting.actor.receive(Said(WATCHDOG, Watch(), 1), 100.0)
    assert sorted(reporting.extending.names) == ["extend", "standing"]


def test_a_claim_that_nobody_holds_is_given_back_after_beats_and_not_because_we_were_stopped() -> None:
    unheld = f'[[5, "{TOKEN}"]]'.encode()
    reporting = Reporting()
    reporting.beat()
    reporting.extending.answer((b"", unheld))
    reporting.beat()
    reporting.clock.now += 60.0  # stopped while the answer was under way
    reporting.extending.answer((b"", unheld))
    assert "give back" not in reporting.extending.names
    reporting.beat()
    reporting.extending.answer((b"", unheld))
    assert reporting.extending.names[-1] == "give back"


def test_a_claim_that_was_asked_for_again_is_watched_afresh() -> None:
    other = "11890a5d-ac96-774b-bcce-b302099a8057"
    reporting = Reporting()
    for token in (TOKEN, other):
        reporting.beat()
        reporting.extending.answer((b"", f'[[5, "{token}"]]'.encode()))
        reporting.clock.now += 60.0
    assert "give back" not in reporting.extending.names
