"""Retention decides without a database: answers in, questions out."""

import pytest

from pulse_runtime.actors.upkeep import STARVING, Upkeep
from pulse_runtime.events import EVENTS, Log
from pulse_runtime.messages import Audited, Maintained
from pulse_runtime.settings import RuntimeSettings
from pulse_runtime.store.line import Question, RefusalError, Row
from pulse_supervisor import Died, Message, Peer

STEPS = ["keep ahead", "raise floors", "drop partitions", "prune", "prune lanes", "prune schedules"]
NOTHING: dict[str, Row] = {
    "keep ahead": (b"", b"0", b"f"),
    "raise floors": (b"0",),
    "drop partitions": (b"", b"f"),
    "prune": (b"0",),
    "prune lanes": (b"0",),
    "prune schedules": (b"0",),
}


class Recorder:
    """An office and a line that only write down."""

    idle = True

    def __init__(self) -> None:
        self.peers: dict[Peer, int] = {}
        self.asked: list[Question] = []
        self.sent: list[Message] = []

    def ask(self, question: Question, now: float) -> None:
        self.asked.append(question)

    def send(self, peer: Peer, message: Message) -> None:
        self.sent.append(message)

    def broadcast(self, kind: str, message: Message) -> None: ...
    def kill(self, peer: Peer, incarnation: int, why: str) -> None: ...
    def seen(self, death: Died) -> None: ...


def upkeep() -> tuple[Upkeep, Recorder]:
    recorder = Recorder()
    settings = RuntimeSettings(dsn="", name="r")
    return Upkeep(recorder, recorder, settings, Log("reporter", pretty=False)), recorder


def play(actor: Upkeep, recorder: Recorder, **answers: Row) -> list[str]:
    """One round, and the names of its steps."""
    actor.begin(100.0)
    names = []
    while recorder.asked:
        question = recorder.asked.pop(0)
        names.append(question.name)
        question.then([answers.get(question.name.replace(" ", "_"), NOTHING[question.name])])
    return names


def test_a_round_takes_every_step_and_tells_the_watchdog() -> None:
    actor, recorder = upkeep()
    assert play(actor, recorder) == STEPS
    assert recorder.sent == [Maintained(again=False, starved=False)]


def test_a_round_that_pruned_all_it_may_is_followed_by_another_at_once() -> None:
    actor, recorder = upkeep()
    play(actor, recorder, prune=(b"5000",))
    assert recorder.sent == [Maintained(again=True, starved=False)]


@pytest.mark.parametrize("step", range(len(STEPS)))
def test_a_step_that_is_refused_ends_its_round_and_not_retention(step: int) -> None:
    actor, recorder = upkeep()
    actor.begin(100.0)
    for _ in range(step):
        question = recorder.asked.pop(0)
        question.then([NOTHING[question.name]])
    (question,) = recorder.asked
    recorder.asked.clear()
    assert question.otherwise
    question.otherwise(RefusalError("57014", "canceled"))
    assert [type(message) for message in recorder.sent] == [Maintained]
    assert play(actor, recorder) == STEPS


def test_retention_that_starves_raises_an_alert_after_some_rounds(capfd: pytest.CaptureFixture[str]) -> None:
    """Trap 7 of the design: one round without a lock is nothing, and a good one begins the count again."""
    actor, recorder = upkeep()
    for _ in range(STARVING - 1):
        play(actor, recorder, drop_partitions=(b"", b"t"))
    play(actor, recorder)
    assert "retention starves" in EVENTS
    assert "retention starves" not in capfd.readouterr().err
    for _ in range(STARVING):
        play(actor, recorder, drop_partitions=(b"", b"t"))
    assert capfd.readouterr().err.count("retention starves") == 1


def test_an_audit_logs_each_finding_and_tells_the_watchdog_how_many(capfd: pytest.CaptureFixture[str]) -> None:
    actor, recorder = upkeep()
    actor.audit(100.0)
    (question,) = recorder.asked
    question.then([(b"a lease without its claim", b"7", b"executor 3")])
    assert recorder.sent == [Audited(1)]
    told = capfd.readouterr().err
    assert '"audit finding"' in told
    assert "a lease without its claim" in told
