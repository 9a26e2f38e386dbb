"""What a line asks again by itself because it may pass, and which refusals it tells of."""

import socket
import time
from collections.abc import Callable, Iterator

import pytest
from fix_cluster import Connection

from pulse_runtime.events import Log
from pulse_runtime.store.line import SESSION, Line, Question, RefusalError, Row
from pulse_supervisor import Hub, Peer, Seat

PATIENCE_S = 10.0
TERMINATE = b"""select pg_terminate_backend(pid) from pg_stat_activity
 where datname = current_database() and application_name like '%claimer test' and state = 'active'"""


class Asking:
    """A line in a process that has nothing else to do."""

    def __init__(self, dsn: str) -> None:
        self._far, near = socket.socketpair()
        self._hub = Hub(Seat(peer=Peer("claimer", 1), incarnation=1, control=near, wires={}), {})
        log = Log("test", quiet=True)
        self._line = Line(dsn, actor="claimer test", hub=self._hub, log=log, on_connect=SESSION)
        self.answers: list[list[Row] | RefusalError] = []

    def ask(self, sql: str, *, deadline_s: float = 5.0) -> None:
        question = Question("test", sql.encode(), [], self.answers.append, self.answers.append, deadline_s=deadline_s)
        self._line.ask(question, time.monotonic())

    def turn(self, until: Callable[[], object], *, within_s: float = PATIENCE_S) -> bool:
        """As the loop of an actor does. Whether it came true."""
        end = time.monotonic() + within_s
        while not (found := until()) and time.monotonic() < end:
            due = self._line.wake(time.monotonic())
            wait_s = 0.05 if due is None else due - time.monotonic()
            self._hub.poll(max(0.0, min(wait_s, 0.05)))
        return bool(found)

    def answer(self) -> list[Row] | RefusalError:
        assert self.turn(lambda: self.answers), "no answer"
        return self.answers.pop(0)

    def close(self) -> None:
        self._line.close()
        self._hub.close()
        self._far.close()


@pytest.fixture
def asking(dsn: str) -> Iterator[Asking]:
    asking = Asking(dsn)
    yield asking
    asking.close()


@pytest.mark.parametrize(
    ("wrong", "state"),
    [
        ("select 1 / 0", "22012"),
        ("select '{'::json", "22P02"),
        ("insert into pulse.dispatch select * from pulse.dispatch", "23505"),
    ],
)
def test_what_is_wrong_with_a_value_is_told_and_the_next_question_asked(asking: Asking, wrong: str, state: str) -> None:
    asking.ask(wrong)
    asking.ask("select 7")
    refusal = asking.answer()
    assert isinstance(refusal, RefusalError)
    assert refusal.state == state
    assert asking.answer() == [(b"7",)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("alter schema pulse rename to elsewhere", "alter schema elsewhere rename to pulse"),
        ("alter function pulse.now() rename to later", "alter function pulse.later() rename to now"),
    ],
)
def test_what_is_missing_may_come_back(asking: Asking, connection: Connection, before: str, after: str) -> None:
    connection.execute(before.encode())
    asking.ask("select pulse.now() is null")
    assert not asking.turn(lambda: asking.answers, within_s=0.3)
    connection.execute(after.encode())
    assert asking.answer() == [(b"f",)]


def test_a_right_that_is_missing_may_be_given(asking: Asking, connection: Connection) -> None:
    connection.execute("create role nobody_in_line; grant usage on schema pulse to nobody_in_line")
    try:
        asking.ask("set role nobody_in_line")
        asking.answer()
        # The line connects again, and so is who it was: a right that came back.
        asking.ask("select count(*) from pulse.dispatch")
        assert asking.answer() == [(b"1",)]
    finally:
        connection.execute("drop owned by nobody_in_line; drop role nobody_in_line")


def test_a_backend_that_is_terminated_is_not_noticed(asking: Asking, connection: Connection) -> None:
    asking.ask("select 1")
    asking.answer()
    asking.ask("select pg_sleep(0.4), 5")
    assert asking.turn(lambda: connection.execute(TERMINATE).fetchall())
    assert asking.answer() == [(b"", b"5")]


def test_an_answer_that_does_not_come_in_time_is_asked_for_again(asking: Asking, connection: Connection) -> None:
    connection.autocommit = False
    connection.execute("lock table pulse.dispatch")
    asking.ask("update pulse.dispatch set paused_by = null returning 3", deadline_s=0.2)
    assert not asking.turn(lambda: asking.answers, within_s=0.5)
    connection.rollback()
    connection.autocommit = True
    assert asking.answer() == [(b"3",)]


def test_questions_that_were_given_up_do_not_pile_up_in_the_server(
    asking: Asking, connection: Connection, dsn: str
) -> None:
    """A backend that waits for a lock does not notice by itself that nobody waits for it any more."""
    waiting = """select count(*) from pg_stat_activity
      where datname = current_database() and application_name like '%claimer test' and wait_event_type = 'Lock'"""
    asking.ask("select 1")
    asking.answer()
    with connection.transaction():
        connection.execute("lock table pulse.dispatch")
        asking.ask("update pulse.dispatch set paused_by = null returning 3", deadline_s=0.05)
        asking.turn(lambda: False, within_s=2.5)
        row = connection.execute(waiting).fetchone()
        assert row is not None
        assert row[0] <= 4
    assert asking.answer() == [(b"3",)]


def test_what_fails_whenever_it_is_asked_is_asked_with_growing_pauses_though_every_connection_begins_well(
    asking: Asking, connection: Connection
) -> None:
    connection.execute("create sequence public.asked")
    asking.ask("do $$ begin perform nextval('public.asked'); raise exception using errcode = '40001'; end $$")
    assert not asking.turn(lambda: asking.answers, within_s=1.5)
    row = connection.execute("select last_value from public.asked").fetchone()
    assert row is not None
    assert 2 <= row[0] <= 9, "and not forty times"
