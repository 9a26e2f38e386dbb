"""In which order a death is dealt with: the claimer after its last claim, the reporter after the last report."""

import pytest
from actor_kit import TOKEN
from asking_kit import (
    CLAIMED,
    EXECUTOR,
    Claiming,
    Reporting,
    death,
    refuse,
)

from pulse_runtime.messages import Demand, Hello, Report
from pulse_supervisor import Said


def test_a_claimer_answers_a_death_after_its_last_claim_for_the_dead() -> None:
    claiming = Claiming()
    claiming.actor.wake(claiming.clock.now)
    assert claiming.line.questions[0].name == "claim"
    claiming.actor.receive(death(), claiming.clock.now)
    claiming.actor.receive(death(number=2), claiming.clock.now)
    assert [each.number for each in claiming.office.mourned] == [2], "nothing is claimed for that one"
    claiming.line.answer(CLAIMED)
    assert [each.number for each in claiming.office.mourned] == [2, 1]
    assert claiming.delivered == [], "what came for the dead is not for whoever comes next"
    claiming.actor.wake(claiming.clock.now + 1.0)
    assert claiming.line.names.count("claim") == 1


@pytest.mark.parametrize("state", ["55000", "22003"])
def test_a_claimer_whose_claim_for_the_dead_is_refused_answers_too(state: str) -> None:
    claiming = Claiming()
    claiming.actor.wake(claiming.clock.now)
    claiming.actor.receive(death(), claiming.clock.now)
    refuse(claiming.line, state)
    assert [each.incarnation for each in claiming.office.mourned] == [1]


def test_a_death_takes_nothing_from_whoever_came_after_the_dead() -> None:
    claiming = Claiming()
    claiming.actor.receive(Said(EXECUTOR, Hello(8, 4322, "2", []), 2), claiming.clock.now)
    claiming.actor.receive(Said(EXECUTOR, Demand(1, 5), 2), claiming.clock.now)
    claiming.actor.receive(death(), claiming.clock.now)
    assert len(claiming.office.mourned) == 1
    claiming.actor.wake(claiming.clock.now)
    assert claiming.line.questions[0].values[0] == b"8"


def test_a_death_waits_for_the_last_words_of_the_dead_and_for_their_durability() -> None:
    reporting = Reporting()
    reporting.office.peers[EXECUTOR] = 1
    reporting.actor.receive(death(), 100.0)
    reporting.actor.wake(100.0)
    assert reporting.settling.idle, "its wire has not ended"
    reporting.report(1)
    del reporting.office.peers[EXECUTOR]
    reporting.actor.wake(100.0)
    reporting.settling.answer((b"1", b"1", b"0"))
    reporting.actor.wake(100.0)
    assert reporting.settling.names == ["report", "bury"]


def test_a_death_waits_for_no_report_of_whoever_came_after_the_dead() -> None:
    reporting = Reporting()
    reporting.office.peers[EXECUTOR] = 2
    reporting.actor.receive(Said(EXECUTOR, Report(1, 1, TOKEN, "1", "5", []), 2), 100.0)
    reporting.actor.receive(death(), 100.0)
    reporting.actor.wake(100.0)
    assert reporting.settling.names == ["bury"]
