"""The connection of an actor: what it says was answered is durable, and what was not is asked again."""

import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from fix_cluster import Connection
from store_kit import Store

from pulse_runtime.events import Log
from pulse_runtime.store import claims
from pulse_runtime.store.line import Line, Question, RefusalError
from pulse_supervisor import Hub, Peer, Seat

PATIENCE_S = 20.0
# Fails when the transaction commits, after its rows were sent.
AT_COMMIT = """
  create function public.fail_at_commit() returns trigger language plpgsql as $$
  begin
    raise exception 'not now' using errcode = '%s';
  end $$;
  create constraint trigger fail_at_commit after insert on pulse.claim deferrable initially deferred
    for each row execute function public.fail_at_commit()
"""


@dataclass
class Asking:
    """An actor's line, driven by hand, and what it was told."""

    hub: Hub
    line: Line
    told: list[object] = field(default_factory=list)

    def until(self, is_so: Callable[[], bool]) -> bool:
        end = time.monotonic() + PATIENCE_S
        while not is_so() and time.monotonic() < end:
            self.line.wake(time.monotonic())
            self.hub.poll(0.01)
        return is_so()

    def claim(self, store: Store) -> None:
        question = claims.claim(store.executor, 1, b"{default}", b"{1}", 10, self.told.append, self.told.append)
        self.line.ask(question, time.monotonic())


@pytest.fixture
def asking(dsn: str) -> Iterator[Asking]:
    ours, theirs = socket.socketpair()
    hub = Hub(Seat(peer=Peer("claimer", 1), incarnation=1, control=theirs, wires={}), {})
    line = Line(dsn, actor="tests", hub=hub, log=Log("test", quiet=True))
    yield Asking(hub, line)
    line.close()
    hub.close()
    ours.close()


@pytest.fixture
def store(connection: Connection) -> Store:
    store = Store(connection)
    store.enqueue()
    store.ask("select pulse.discover()")
    return store


def test_a_claim_that_fails_at_its_commit_is_not_forwarded_although_its_jobs_were_sent(
    asking: Asking, store: Store
) -> None:
    """Trap 4."""
    store.connection.execute((AT_COMMIT % "23514").encode())
    asking.claim(store)
    assert asking.until(lambda: bool(asking.told))
    assert asking.told == [RefusalError("23514", "not now")]
    store.connection.execute("drop function public.fail_at_commit cascade")
    assert [len(batch.jobs) for batch in store.claim()] == [1]


def test_a_claim_that_fails_at_its_commit_for_now_is_asked_again_until_it_commits(asking: Asking, store: Store) -> None:
    """Trap 4: nothing is told before."""
    store.connection.execute((AT_COMMIT % "40001").encode())
    asking.claim(store)
    assert asking.until(lambda: bool(store.ask("select last_value > 1 from pulse.claim_id_seq"))), "it is asked again"
    assert asking.told == []
    store.connection.execute("drop function public.fail_at_commit cascade")
    assert asking.until(lambda: bool(asking.told))
    (claim,) = asking.told
    assert isinstance(claim, claims.Claim)
    assert [batch.claim for batch in claim.batches] == [store.ask("select max(claim) from pulse.lease")]


def test_questions_are_answered_in_their_order_whatever_becomes_of_the_connection(
    asking: Asking,
) -> None:
    gone = Question("gone", b"select pg_terminate_backend(pg_backend_pid())", [], asking.told.append)
    numbers = [Question(str(number), b"select $1::int", [b"%d" % number], asking.told.append) for number in range(5)]
    for question in (*numbers[:3], gone, *numbers[3:]):
        asking.line.ask(question, time.monotonic())
    assert asking.until(lambda: len(asking.told) == 3 and not asking.line.up)
    assert asking.told == [[(b"0",)], [(b"1",)], [(b"2",)]]
    assert asking.line.forget() == 3
