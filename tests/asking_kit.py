"""Claimers and reporters in a test's hands: their lines only write down what is asked."""

import mmap

from actor_kit import TOKEN, Recorder

from pulse_runtime.actors.claimer import Claimer
from pulse_runtime.actors.reporter import Reporter
from pulse_runtime.actors.upkeep import Upkeep
from pulse_runtime.events import Log
from pulse_runtime.execution import black_box
from pulse_runtime.execution.black_box import RUNNING, BlackBox
from pulse_runtime.identity import Identity
from pulse_runtime.messages import (
    Claimed,
    Demand,
    Extend,
    Held,
    Hello,
    Report,
)
from pulse_runtime.settings import RuntimeSettings
from pulse_runtime.store.line import Question, RefusalError, Row
from pulse_supervisor import Died, Joined, Peer, Said

SETTINGS = RuntimeSettings(dsn="", name="test", beat_s=1.0, lease_s=10.0)
EXECUTOR, HEARTBEAT, WATCHDOG = Peer("executor", 1), Peer("heartbeat", 1), Peer("watchdog", 1)
SCHEDULER = Peer("scheduler", 1)
QUIET = Log("test", quiet=True)
TO_FETCH: Row = (b"77", TOKEN.encode(), b"1", None, b"mail")
CLAIMED: Row = (b"77", TOKEN.encode(), b"1", b"[1]", b"mail")
NOTHING: Row = (b"f", b"{}", b"f", None, None, b"t", b"t", None, None)
"""The answer to a look when there is nothing to claim, and nobody who may have missed that we are parked."""
NOTHING_TO_SEE: Row = (b"f", b"{}", b"t", None, None, b"f", b"t", None, None)


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
        self.line.answer(CLAIMED)

    def to_ask(self) -> None:
        """Until it asks something."""
        for _ in range(1000):
            self.actor.wake(self.clock.now)
            if not self.line.idle:
                return
            self.clock.now += 0.01
        raise AssertionError("it asks nothing any more")

    def step(self) -> None:
        """Its next question, answered by an empty database with a delayed job that is due."""
        self.to_ask()
        answers: dict[str, list[Row]] = {
            "look": [(b"f", b"{}", b"f", b"0", None, b"t", b"t", None, None)],
            "park": [(b"700",)],
            "promote": [(b"f", None)],
        }
        self.line.answer(*answers.get(self.line.questions[0].name, []))

    @property
    def delivered(self) -> list[Claimed]:
        return [message for _, message in self.office.sent if isinstance(message, Claimed)]


def refuse(line: Asked, state: str = "22003") -> None:
    question = line.questions.pop(0)
    assert question.otherwise is not None
    question.otherwise(RefusalError(state, "no"))


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


def box_of(executor: int) -> bytes:
    """It runs one job."""
    memory = mmap.mmap(-1, black_box.size_for(100))
    box = BlackBox(memory)
    box.sign(executor)
    box.set(box.open(5, TOKEN, 1), RUNNING)
    return memory[:]


def death(number: int = 1, incarnation: int = 1) -> Died:
    return Died("executor", number, incarnation, 4321, "killed by SIGKILL", None, box_of(9))
