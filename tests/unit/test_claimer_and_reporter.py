"""Claimer and reporter without a database: what they ask, and in which order, whatever they are answered."""

import itertools
import mmap

from actor_kit import TOKEN
from asking_kit import (
    CLAIMED,
    EXECUTOR,
    NOTHING,
    NOTHING_TO_SEE,
    SCHEDULER,
    TO_FETCH,
    WATCHDOG,
    Claiming,
    Reporting,
    death,
    refuse,
)

from pulse_runtime.actors.reporter import LATER_S
from pulse_runtime.execution import black_box
from pulse_runtime.execution.black_box import RUNNING, BlackBox
from pulse_runtime.messages import (
    Batch,
    Claimed,
    Due,
    Ending,
    Idle,
    Maintain,
    Reap,
    Report,
    Settled,
    Watch,
)
from pulse_runtime.store.line import Row
from pulse_supervisor import Died, Said


def test_a_batch_is_delivered_as_it_came() -> None:
    claiming = Claiming()
    claiming.claimed()
    assert claiming.delivered == [Claimed(1, [Batch(77, TOKEN, b"[1]", "mail")])]


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
        claiming.line.answer(NOTHING_TO_SEE if question.name == "look" else CLAIMED)
        claiming.clock.now += 0.1
        claiming.demand(request)
    assert 3 <= claiming.line.names.count("look") <= 8
    assert claiming.line.names.count("claim") > 30


def test_however_many_reports_come_a_death_is_dealt_with() -> None:
    reporting = Reporting()
    reporting.report(1)
    reporting.actor.wake(100.0)
    reporting.actor.receive(death(number=2), 100.0)
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


def scribbled() -> Died:
    """It died after writing nonsense into its own box."""
    memory = mmap.mmap(-1, black_box.size_for(100))
    box = BlackBox(memory)
    box.sign(9)
    box.set(box.open(2**64 - 1, TOKEN, 1), RUNNING)
    return Died("executor", 2, 1, 4321, "segfault", None, memory[:])


def test_a_box_that_the_database_refuses_is_buried_as_if_it_were_empty() -> None:
    reporting = Reporting()
    reporting.actor.receive(scribbled(), 100.0)
    reporting.actor.wake(100.0)
    refuse(reporting.settling)
    plain = reporting.settling.questions[0]
    assert plain.values[0] == b"9"
    assert plain.values[-1] == b"lost"
    assert reporting.office.mourned == []
    reporting.settling.answer((b"0", b"0", b"1"))
    assert [each.number for each in reporting.office.mourned] == [2]


def test_a_burial_that_is_refused_altogether_is_left_to_the_watchdog() -> None:
    reporting = Reporting()
    reporting.actor.receive(scribbled(), 100.0)
    reporting.actor.wake(100.0)
    refuse(reporting.settling)
    refuse(reporting.settling)
    assert [each.number for each in reporting.office.mourned] == [2]
    assert reporting.settling.idle


def test_a_report_that_is_refused_is_stored_in_ever_milder_forms_and_then_let_go() -> None:
    reporting = Reporting()
    reporting.office.peers[EXECUTOR] = 1
    ending = Ending(1, "fail", None, "Fehler: ä", 3)
    reporting.actor.receive(Said(EXECUTOR, Report(4, 77, TOKEN, "10", "5", [ending]), 1), 100.0)
    stored = []
    for _ in range(5):
        reporting.actor.wake(100.0)
        stored.append([each.decode() for each in reporting.settling.questions[0].values if each])
        refuse(reporting.settling)
    whole, success, failure, end, milder = [" ".join(each) for each in stored]
    assert "{10}" in whole
    assert "ä" in whole
    assert "{10}" in success
    assert "ä" not in success
    assert "could not be stored: no" in failure
    assert "ä" in end
    assert "\\xe4" in milder
    assert reporting.office.sent[-1] == (EXECUTOR, Settled([4]))


def test_reaps_wait_for_no_retention_and_do_not_pile_up() -> None:
    reporting = Reporting()
    reporting.actor.receive(Said(WATCHDOG, Maintain(), 1), 100.0)
    for _ in range(50):
        reporting.actor.receive(Said(WATCHDOG, Reap(9, 41), 1), 100.0)
    reporting.actor.wake(100.0)
    assert reporting.settling.names == ["reap"]
    reporting.settling.answer((b"3",))
    reporting.actor.wake(100.0)
    assert reporting.settling.names == ["reap"]


def test_a_watch_that_was_refused_is_asked_again() -> None:
    reporting = Reporting()
    for _ in range(2):
        reporting.actor.receive(Said(WATCHDOG, Watch(), 1), 100.0)
        refuse(reporting.extending)
    assert reporting.extending.names == ["standing", "standing"]


def test_an_executor_that_the_database_has_given_up_is_replaced_and_for_no_other_refusal() -> None:
    claiming = Claiming()
    claiming.actor.wake(claiming.clock.now)
    refuse(claiming.line, "23505")
    assert claiming.office.killed == []
    claiming.actor.wake(claiming.clock.now)
    assert claiming.line.idle, "it is not asked again as fast as it is refused"
    claiming.clock.now += 1.1
    claiming.actor.wake(claiming.clock.now)
    if claiming.line.questions[0].name == "look":
        claiming.line.answer(NOTHING_TO_SEE)
        claiming.actor.wake(claiming.clock.now)
    assert claiming.line.names[-1] == "claim"
    refuse(claiming.line, "55000")
    assert claiming.office.killed == [(EXECUTOR, 1, "it may not claim: no")]


def test_whatever_a_claimer_asks_may_be_refused_and_it_is_asked_again_a_second_later() -> None:
    refused = set()
    for answered in range(12):
        claiming = Claiming()
        for _ in range(answered):
            claiming.step()
        claiming.to_ask()
        refused.add(claiming.line.names[-1])
        asked = len(claiming.line.names)
        refuse(claiming.line)
        for _ in range(20):
            claiming.clock.now += 0.04
            claiming.actor.wake(claiming.clock.now)
        assert len(claiming.line.names) == asked
        claiming.clock.now += 0.4
        claiming.actor.wake(claiming.clock.now)
        assert len(claiming.line.names) == asked + 1
    assert {"look", "claim", "park", "promote"} <= refused


def looks_of(claiming: Claiming, *, quiet: bytes) -> list[float]:
    """When it looks, in the second and a half after it found nothing."""
    found, start = [], claiming.clock.now
    while claiming.clock.now < start + 1.5:
        claiming.actor.wake(claiming.clock.now)
        if not claiming.line.idle:
            name = claiming.line.questions[0].name
            found += [claiming.clock.now - start] if name == "look" else []
            answer: dict[str, list[Row]] = {"look": [(*NOTHING[:6], quiet, *NOTHING[7:])], "park": [(b"700",)]}
            claiming.line.answer(*answer.get(name, []))
        claiming.clock.now += 0.001
    return found


def test_a_producer_that_looked_before_we_parked_is_waited_for_with_open_eyes_for_a_second() -> None:
    """It will not wake us: it saw nobody parked. Whoever comes later does, and then looking can become rare."""
    wary, calm = looks_of(Claiming(), quiet=b"f"), looks_of(Claiming(), quiet=b"t")
    gaps = [later - earlier for earlier, later in itertools.pairwise(wary) if later < 1.0]
    assert max(gaps) <= 0.06
    assert len(wary) > 15
    assert len(calm) < 12
    assert max(later - earlier for earlier, later in itertools.pairwise(calm)) > 0.3


def test_a_flag_that_another_runtime_took_down_is_raised_again() -> None:
    claiming = Claiming()
    looks_of(claiming, quiet=b"t")
    parked = claiming.line.names.count("park")
    claiming.to_ask()
    claiming.line.answer((*NOTHING[:5], b"f", *NOTHING[6:]))
    claiming.to_ask()
    assert claiming.line.names.count("park") == parked + 1


def test_a_wake_up_is_followed_by_a_claim_at_once() -> None:
    claiming = Claiming()
    looks_of(claiming, quiet=b"t")
    claiming.actor.notified("default")
    claiming.actor.wake(claiming.clock.now)
    if claiming.line.questions[0].name == "look":
        claiming.line.answer(NOTHING_TO_SEE)
        claiming.actor.wake(claiming.clock.now)
    assert claiming.line.questions[0].name == "claim"


class Idling(Claiming):
    """A claimer that finds nothing; a producer may have missed that it parked until `quiet` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.quiet = self.parked = self.noisy = False
        self.looks: list[float] = []

    def idle(self, for_s: float) -> None:
        end = self.clock.now + for_s
        while self.clock.now < end:
            due = self.actor.wake(self.clock.now)
            if self.line.idle:
                assert due is not None
                self.clock.now = max(due, self.clock.now + 1e-6)
                continue
            question = self.line.questions[0]
            if question.name == "look":
                self.looks.append(self.clock.now)
                flag = b"t" if self.parked else b"f"
                quiet = b"t" if question.values[2] is None or self.quiet else b"f"
                self.line.answer((b"f", b"{}", b"f", None, None, flag, quiet, None, None))
            elif question.name == "park":
                self.parked = True
                self.line.answer((b"700",))
            else:
                self.line.answer()

    def pauses(self) -> list[float]:
        """Between the looks since the last time."""
        looks, self.looks = self.looks, self.looks[-1:]
        return [later - earlier for earlier, later in itertools.pairwise(looks)]


def test_a_claimer_whose_flag_was_taken_by_another_parks_again_and_polls_fast_again() -> None:
    """A producer that is open now may have looked while the flag was down."""
    claiming = Idling()
    claiming.quiet = True
    claiming.idle(5.0)
    claiming.parked = claiming.quiet = False
    claiming.pauses()
    claiming.idle(0.6)
    assert claiming.line.names.count("park") == 2
    claiming.pauses()
    claiming.idle(0.3)
    assert max(claiming.pauses()) <= 0.05
    claiming.idle(3.0)
    assert 0.4 < claiming.pauses()[-1] <= 0.5


def test_busy_is_not_empty_and_is_asked_again_in_a_millisecond_or_two() -> None:
    claiming = Idling()
    claiming.actor.wake(claiming.clock.now)
    assert claiming.line.names[-1] == "claim"
    claiming.line.answer((None, None, b"-1", None, None))
    due = claiming.actor.wake(claiming.clock.now)
    assert due is not None
    assert due - claiming.clock.now <= 0.002
    claiming.clock.now = due
    claiming.actor.wake(claiming.clock.now)
    assert claiming.line.names[-1] == "claim"
    assert "park" not in claiming.line.names


def test_a_batch_that_was_fetched_too_slowly_is_delivered_without_being_fetched_again() -> None:
    """Or a slow line would never see the end of it."""
    claiming = Claiming()
    claiming.actor.wake(claiming.clock.now)
    claiming.line.answer(TO_FETCH)
    claiming.actor.wake(claiming.clock.now)
    claiming.clock.now += 3.0
    claiming.line.answer((b"[1]",))
    assert claiming.delivered == [], "it may have been given back meanwhile"
    while claiming.line.names[-1] != "claim" or claiming.line.idle:
        claiming.actor.wake(claiming.clock.now)
        if claiming.line.questions[0].name == "look":
            claiming.line.answer(NOTHING_TO_SEE)
    other = "11890a5d-ac96-774b-bcce-b302099a8057"
    claiming.line.answer((TO_FETCH[0], other.encode(), *TO_FETCH[2:]))
    assert claiming.delivered == [Claimed(1, [Batch(77, other, b"[1]", "mail")])]
    assert claiming.line.names.count("fetch") == 1


def test_a_report_whose_follow_up_waits_for_someone_is_asked_about_by_itself_and_holds_up_no_other() -> None:
    reporting = Reporting()
    reporting.office.peers[EXECUTOR] = 1
    for number in (1, 2, 3):
        reporting.report(number)
    reporting.actor.wake(100.0)
    refuse(reporting.settling, "PU503")  # all three at once
    reporting.actor.wake(100.0)
    refuse(reporting.settling, "PU503")  # the first by itself
    for _ in (2, 3):
        assert reporting.actor.wake(100.0) == 100.0 + LATER_S
        reporting.settling.answer((b"1", b"1", b"0"))
    reporting.actor.wake(100.1)
    assert reporting.settling.idle, "it is not asked about all the time"
    reporting.report(4)
    reporting.actor.wake(100.0 + LATER_S)
    for _ in (1, 4):
        reporting.settling.answer((b"1", b"1", b"0"))
        reporting.actor.wake(101.0)
    settled = [message for _, message in reporting.office.sent if isinstance(message, Settled)]
    assert settled == [Settled([2]), Settled([3]), Settled([1]), Settled([4])]


def test_follow_ups_that_cannot_be_added_fail_the_delivery_that_asked_for_them() -> None:
    reporting = Reporting()
    endings = [Ending(0, "cancel", None, "not wanted", 3, "[77,0,{}]"), Ending(1, "snooze", 500, None, 3)]
    reporting.actor.receive(Said(EXECUTOR, Report(4, 77, TOKEN, "", "", endings), 1), 100.0)
    reporting.actor.wake(100.0)
    assert b"close_following" in reporting.settling.questions[0].sql
    refuse(reporting.settling)
    reporting.actor.wake(100.0)
    refuse(reporting.settling)  # the one that asked, by itself
    for expected in (b'{"fail"}', b'{"snooze"}'):
        reporting.actor.wake(100.0)
        question = reporting.settling.questions[0]
        assert b"close_following" not in question.sql
        assert expected in question.values
        reporting.settling.answer((b"1",))


def test_a_success_that_cannot_be_stored_fails_alone_and_its_executor_hears_when_all_are() -> None:
    reporting = Reporting()
    reporting.office.peers[EXECUTOR] = 1
    report = Report(4, 77, TOKEN, "1111", "1,2,3,4", [], '[77,2,"odd"]', '[77,1,{"kind":"a"}],[77,1,{"kind":"b"}]')
    reporting.actor.receive(Said(EXECUTOR, report, 1), 100.0)
    reporting.actor.wake(100.0)
    refuse(reporting.settling)
    reporting.actor.wake(100.0)
    assert reporting.settling.questions[0].values[2:4] == [b"{1001}", b"{1,4}"]
    reporting.settling.answer((b"1",))
    reporting.actor.wake(100.0)
    asked = reporting.settling.questions[0].values
    assert (asked[2], asked[3], asked[4], asked[5]) == (
        b"{0100}", b"{2}", None, b'[[77,1,{"kind":"a"}],[77,1,{"kind":"b"}]]'
    )  # fmt: skip
    refuse(reporting.settling, "PU503")  # it waits for someone
    reporting.actor.wake(100.0)
    assert reporting.settling.questions[0].values[2:5] == [b"{0010}", b"{3}", b'[[77,2,"odd"]]']
    refuse(reporting.settling)
    reporting.actor.wake(100.0)
    assert b'{"fail"}' in reporting.settling.questions[0].values
    reporting.settling.answer((b"1",))
    assert not [message for _, message in reporting.office.sent if isinstance(message, Settled)], "one part still waits"
    reporting.actor.wake(100.0 + LATER_S)
    reporting.settling.answer((b"1",))
    assert [message for _, message in reporting.office.sent if isinstance(message, Settled)] == [Settled([4])]


def looks(claiming: Claiming, *, for_s: float, due_at: float | None = None) -> list[tuple[float, bool]]:
    """When it looks, and whether for schedules too, while nothing else is to do."""
    begin = claiming.clock.now
    seen: list[tuple[float, bool]] = []
    while claiming.clock.now < begin + for_s:
        claiming.actor.wake(claiming.clock.now)
        if not claiming.line.idle:
            question = claiming.line.questions[0]
            if question.name == "look":
                asked = question.values[3] != b"0"
                seen.append((claiming.clock.now - begin, asked))
                left = None if due_at is None else max(begin + due_at - claiming.clock.now, 0)
                due = b'["moment",[]]' if asked and left == 0 else None
                next_s = b"%f" % left if asked and left else None
                claiming.line.answer((b"f", b"{}", b"f", None, None, b"t", b"t", due, next_s))
            else:
                claiming.line.answer(*({"park": [(b"700",)]}.get(question.name, [])))
        claiming.clock.now += 0.005
    return seen


def test_schedules_are_looked_for_only_while_the_scheduler_has_room() -> None:
    claiming = Claiming()
    assert not any(asked for _, asked in looks(claiming, for_s=2))
    claiming.actor.receive(Said(SCHEDULER, Idle(True), 1), claiming.clock.now)
    (first, *_) = looks(claiming, for_s=1, due_at=0)
    assert first[1]
    assert [message for _, message in claiming.office.sent if isinstance(message, Due)] == [Due(b'["moment",[]]')]
    assert not any(asked for _, asked in looks(claiming, for_s=2))


def test_schedules_are_looked_for_twice_a_second_and_when_one_is_due() -> None:
    claiming = Claiming()
    claiming.actor.receive(Said(SCHEDULER, Idle(True), 1), claiming.clock.now)
    asked = [at for at, schedules in looks(claiming, for_s=10, due_at=9.8) if schedules]
    assert len(asked) <= 23
    assert max(later - sooner for sooner, later in itertools.pairwise(asked)) <= 1.0
    assert min(abs(at - 9.8) for at in asked) <= 0.02
