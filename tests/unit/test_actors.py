"""Actors decide without processes, clocks or a database: events in, messages out."""

import mmap
from pathlib import Path

import pytest
from actor_kit import TOKEN, Recorder
from hypothesis import given
from hypothesis import strategies as st

from pulse_runtime import topology
from pulse_runtime.actors.heartbeat import Heartbeat
from pulse_runtime.actors.watchdog import Watchdog
from pulse_runtime.events import Log
from pulse_runtime.execution import black_box
from pulse_runtime.execution.black_box import (
    DELIVERED,
    ENDED,
    RUNNING,
    RUNNING_ALONE,
    SUCCEEDED,
    SUCCEEDED_WITH_MORE,
    BlackBox,
    Contents,
)
from pulse_runtime.execution.burial import burial_of, plain_burial_of
from pulse_runtime.execution.holding import Holdings
from pulse_runtime.execution.running import Outcome
from pulse_runtime.messages import (
    Audit,
    Audited,
    Batch,
    Beat,
    Ending,
    Extend,
    Held,
    Maintain,
    Reap,
    Refused,
    Standing,
    Watch,
    Watched,
)
from pulse_supervisor import Died, Joined, Left, Message, Peer, Said

EXECUTOR, REPORTER = Peer("executor", 1), Peer("reporter", 1)


def heartbeat() -> tuple[Heartbeat, Recorder]:
    office = Recorder()
    actor = Heartbeat(office, beat_s=5.0, silence_s=25.0, log=Log("heartbeat", quiet=True))
    actor.wake(now=100.0)
    actor.receive(Joined(EXECUTOR, 3), now=100.0)
    return actor, office


def test_beats_within_one_interval_become_one_extension() -> None:
    actor, office = heartbeat()
    actor.receive(Said(EXECUTOR, Beat(7, [1]), 3), now=101.0)
    actor.receive(Said(EXECUTOR, Beat(7, [1, 2]), 3), now=102.0)
    actor.wake(now=105.0)
    assert office.sent == [(REPORTER, Extend([Held(7, [1, 2])]))]


def test_a_silent_executor_is_not_extended_and_killed_before_its_lease_lapses() -> None:
    actor, office = heartbeat()
    actor.receive(Said(EXECUTOR, Beat(7, []), 3), now=101.0)
    actor.wake(now=105.0)
    actor.wake(now=110.0)
    assert len(office.sent) == 1
    actor.wake(now=127.0)
    assert office.killed == [(EXECUTOR, 3, "silent for 26.0 s")]


def test_a_silence_is_found_when_it_is_one_and_not_a_beat_later() -> None:
    actor, _ = heartbeat()
    actor.receive(Said(EXECUTOR, Beat(7, []), 3), now=102.0)
    moments = [actor.wake(now=now) for now in (102.0, 107.0, 112.0, 117.0, 122.0, 126.9)]
    assert moments[-1] == 127.0


def test_an_executor_that_is_not_registered_yet_is_not_extended_and_may_not_be_silent_either() -> None:
    actor, office = heartbeat()
    actor.receive(Said(EXECUTOR, Beat(0, []), 3), now=101.0)
    actor.wake(now=105.0)
    assert office.sent == []
    actor.wake(now=127.0)
    assert office.killed == [(EXECUTOR, 3, "silent for 26.0 s")]


def test_an_executor_may_take_long_until_its_first_beat_and_not_for_ever() -> None:
    actor, office = heartbeat()
    for now in range(100, 185, 5):
        actor.wake(now=float(now))
    assert office.killed == []
    actor.wake(now=185.5)
    assert [each[0] for each in office.killed] == [EXECUTOR]


def test_a_new_reporter_is_told_at_once_what_the_last_one_may_not_have_written() -> None:
    actor, office = heartbeat()
    actor.receive(Said(EXECUTOR, Beat(7, [1]), 3), now=104.9)
    actor.wake(now=105.0)
    actor.receive(Joined(REPORTER, 2), now=106.0)
    actor.wake(now=106.0)
    assert office.sent == [(REPORTER, Extend([Held(7, [1])]))] * 2


def test_a_refusal_reaches_the_executor_that_is_meant() -> None:
    actor, office = heartbeat()
    actor.receive(Said(EXECUTOR, Beat(7, []), 3), now=101.0)
    actor.receive(Said(REPORTER, Refused([7])), now=102.0)
    assert office.sent == [(EXECUTOR, Refused([7]))]


class Watching:
    """A watchdog that is answered every second."""

    def __init__(self) -> None:
        self.office = Recorder()
        self.actor = Watchdog(self.office, lease_s=10.0, beat_s=1.0)

    def see(self, now: float, *standing: Standing) -> list[Message]:
        self.office.sent.clear()
        self.actor.receive(Said(REPORTER, Watched(list(standing))), now)
        return [message for _, message in self.office.sent]


def test_an_executor_is_reaped_after_its_beats_stood_still_for_a_lease_time() -> None:
    watching = Watching()
    for second in range(10):
        assert watching.see(100.0 + second, Standing(7, 41, False)) == []
    assert watching.see(110.0, Standing(7, 41, False)) == [Reap(7, 41)]


def test_the_moment_of_a_lapse_is_not_waited_past() -> None:
    watching = Watching()
    for tenth in range(0, 100, 4):
        watching.actor.wake(100.2 + tenth / 10)
        watching.see(100.2 + tenth / 10, Standing(7, 41, False))
    assert watching.actor.wake(109.9) == pytest.approx(110.2)


def test_a_beat_or_a_silence_of_the_database_begins_the_watch_afresh() -> None:
    watching = Watching()
    for second in range(9):
        watching.see(100.0 + second, Standing(7, 41, False))
    assert watching.see(109.0, Standing(7, 42, False)) == []
    assert watching.see(110.0, Standing(7, 42, False)) == []
    assert watching.see(200.0, Standing(7, 42, False)) == [], "the database did not answer for 90 s: nobody could beat"
    assert watching.see(201.0, Standing(7, 42, False)) == []


def test_what_an_ended_executor_left_behind_is_taken_up_at_once() -> None:
    assert Watching().see(100.0, Standing(7, 41, True)) == [Reap(7, -1)]


def test_a_watchdog_asks_for_an_audit_once_a_day_and_again_if_it_was_not_answered() -> None:
    watching = Watching()

    def audits(now: float) -> int:
        watching.office.sent.clear()
        watching.actor.wake(now)
        return [type(message) for _, message in watching.office.sent].count(Audit)

    assert [audits(now) for now in (100.0, 699.0, 700.0, 701.0, 1301.0)] == [0, 0, 1, 0, 1]
    watching.actor.receive(Said(REPORTER, Audited(0), 1), 1400.0)
    assert [audits(now) for now in (2100.0, 87_799.0, 87_800.0)] == [0, 0, 1]


def test_a_watchdog_asks_who_stands_and_for_upkeep() -> None:
    watching = Watching()
    watching.actor.wake(now=100.0)
    watching.actor.wake(now=101.5)
    assert [type(message) for _, message in watching.office.sent] == [Watch, Watch, Maintain]
    watching.actor.receive(Left(REPORTER, 1, "closed"), now=102.0)
    watching.actor.wake(now=102.0)  # what the last reporter was asked is asked again, a second later
    watching.actor.wake(now=103.0)
    assert type(watching.office.sent[-1][1]) is Maintain


def boxed(*states: int, executor: int = 5, left: bool = False) -> bytes:
    memory = mmap.mmap(-1, black_box.size_for(100))
    box = BlackBox(memory)
    box.sign(executor)
    start = box.open(77, TOKEN, len(states))
    for position, state in enumerate(states):
        box.set(start + position, state)
    if left:
        box.leave()
    held = memory[:]
    memory.close()
    return held


def died(box: bytes, *, why: str | None = None) -> Died:
    return Died("executor", 1, 1, 4321, "killed by SIGKILL", why, box)


def test_a_black_box_tells_what_was_finished_what_ran_and_what_was_merely_delivered() -> None:
    burial = burial_of(died(boxed(SUCCEEDED, RUNNING, DELIVERED, SUCCEEDED_WITH_MORE, ENDED)))
    assert burial is not None
    assert (burial.executor, burial.rest) == (5, "release")
    assert burial.settled == [(77, TOKEN, "10000")]
    assert [(position, ending) for _, _, position, ending, _ in burial.ended] == [
        (1, "crash"),
        (3, "lost"),
        (4, "lost"),
    ]


@pytest.mark.parametrize(
    ("states", "why", "ending"),
    [
        ((RUNNING,), None, "crash"),
        ((RUNNING, RUNNING), None, "suspect"),
        ((RUNNING,), f"{black_box.PAST_DEADLINE} 4.0 s ago", "crash"),
        ((RUNNING,), "it did not drain in time", "lost"),
        ((RUNNING,), "silent for 26.0 s", "lost"),
        ((RUNNING_ALONE,), "silent for 26.0 s", "crash"),
        ((RUNNING_ALONE,), None, "crash"),
        ((RUNNING_ALONE,), "it did not drain in time", "lost"),
    ],
)
def test_only_a_job_that_ran_alone_is_charged(states: tuple[int, ...], why: str | None, ending: str) -> None:
    burial = burial_of(died(boxed(*states), why=why))
    assert burial is not None
    assert {each[3] for each in burial.ended} == {ending}


@pytest.mark.parametrize("states", [(RUNNING,), (RUNNING, RUNNING), (RUNNING_ALONE,)])
def test_what_an_executor_leaves_running_when_it_ends_by_itself_is_neither_charged_nor_suspected(
    states: tuple[int, ...],
) -> None:
    death = Died("executor", 1, 1, 4321, "exited with status 0", None, boxed(*states, left=True))
    burial = burial_of(death)
    assert burial is not None
    assert {each[3] for each in burial.ended} == {"lost"}


@given(st.binary(min_size=1, max_size=200))
def test_whatever_a_dead_executor_scribbled_into_its_box_somebody_is_buried(scribble: bytes) -> None:
    burial = burial_of(died((scribble * (black_box.size_for(100) // len(scribble) + 1))[: black_box.size_for(100)]))
    if burial is not None:
        plain = plain_burial_of(burial)
        assert (plain.settled, plain.ended, plain.rest) == ([], [], "lost")
        assert 0 < plain.executor < 2**63


def test_an_executor_without_an_id_held_nothing() -> None:
    assert burial_of(died(boxed(RUNNING, executor=0))) is None


def test_a_claim_leaves_the_box_when_everything_about_it_is_durable() -> None:
    memory = mmap.mmap(-1, black_box.size_for(100))
    box = BlackBox(memory)
    box.sign(5)
    holdings = Holdings(box)
    held = holdings.open(Batch(77, TOKEN, b"[]"), 3)
    assert held is not None
    assert holdings.open(Batch(77, TOKEN, b"[]"), 3) is None, "an answer that came twice"
    holdings.ended(held, 2, Outcome(9))
    holdings.ended(held, 0, Outcome(4))
    holdings.flush()
    (report,) = holdings.to_send()
    assert (report.mask, report.took_us) == ("101", "4,9")
    holdings.settled([report.number])
    assert black_box.read(memory[:]).claims != [], "one job is still to end"
    holdings.ended(held, 1, Outcome(1, "fail", None, "x"))
    holdings.flush()
    (last,) = holdings.to_send()
    assert last.endings == [Ending(1, "fail", None, "x", 1)]
    holdings.send_again()
    assert list(holdings.to_send()) == [last], "a new reporter is told what is not durable"
    holdings.settled([last.number])
    assert black_box.read(memory[:]) == Contents(executor=5, left=False, claims=[])
    assert holdings.claims == []
    del held
    memory.close()


def test_a_heartbeat_that_was_stopped_itself_calls_nobody_silent() -> None:
    actor, office = heartbeat()
    actor.receive(Said(EXECUTOR, Beat(7, []), 3), now=101.0)
    actor.wake(now=102.0)
    actor.wake(now=150.0)
    assert office.killed == []
    for second in range(151, 177):
        actor.wake(now=float(second))
    assert office.killed == [(EXECUTOR, 3, "silent for 25.0 s")]


def test_every_actor_of_a_wire_exists_and_no_message_has_two_meanings() -> None:
    assert {each.source for each in topology.WIRES} | {each.target for each in topology.WIRES} == set(topology.ACTORS)
    assert {kind for stage in topology.STOPS for kind in stage} == set(topology.ACTORS)
    names = [each.__name__ for wire in topology.WIRES for each in wire.carries]
    assert len(set(names)) == len(names) - 1, "Refused alone travels twice: to heartbeat, and on to the executor"


def test_the_page_on_the_runtime_shows_the_topology_as_it_is() -> None:
    page = (Path(__file__).parents[2] / "docs/explanation/runtime.md").read_text("utf-8")
    assert f"<!-- topology -->\n{topology.picture()}<!-- end -->" in page
