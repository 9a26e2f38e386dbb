"""Who may take over from whom, when a runtime starts under a name that was used before."""

import os
import threading
from collections.abc import Callable

import psycopg
import pytest
from fix_cluster import Connection

from pulse_runtime.actors.boot import Namesake, take_over
from pulse_runtime.events import Log
from pulse_runtime.identity import Identity, start_of
from pulse_runtime.settings import RuntimeSettings

HERE = Identity("here", "this boot")
QUIET = Log("test", quiet=True)


@pytest.fixture
def born(connection: Connection) -> Callable[..., int]:
    """A new executor of runtime `test`."""

    def born(host: str = "here", boot: str = "this boot", pid: int = 1, start: str = "gone") -> int:
        question = "select pulse.register_executor(%s, %s, %s, %s, %s)"
        row = connection.execute(question, ("test", host, boot, pid, start)).fetchone()
        assert row
        return int(row[0])

    return born


def settings(dsn: str) -> RuntimeSettings:
    return RuntimeSettings(dsn=dsn, name="test", lease_s=0.6, beat_s=0.1)


def ended(connection: Connection, executor: int) -> bool:
    row = connection.execute("select ended_at is not null from pulse.executor where id = %s", (executor,)).fetchone()
    assert row
    return bool(row[0])


def test_a_process_that_is_gone_and_one_of_an_earlier_boot_are_ended(
    dsn: str, connection: Connection, born: Callable[..., int]
) -> None:
    gone = born()
    before = born(boot="the boot before", pid=os.getpid(), start=start_of(os.getpid()))
    take_over(settings(dsn), HERE, QUIET)
    assert ended(connection, gone)
    assert ended(connection, before)


def test_a_process_of_this_host_that_lives_is_a_namesake(
    dsn: str, connection: Connection, born: Callable[..., int]
) -> None:
    living = born(pid=os.getpid(), start=start_of(os.getpid()))
    with pytest.raises(Namesake, match=f"executor pid {os.getpid()}"):
        take_over(settings(dsn), HERE, QUIET)
    assert not ended(connection, living)


def test_another_host_that_stands_still_for_a_lease_time_is_taken_over_from(
    dsn: str, connection: Connection, born: Callable[..., int]
) -> None:
    lost = born(host="another")
    take_over(settings(dsn), HERE, QUIET)
    assert ended(connection, lost)


def test_another_host_that_beats_is_a_namesake(dsn: str, connection: Connection, born: Callable[..., int]) -> None:
    living, over = born(host="another"), threading.Event()

    def beat() -> None:
        with psycopg.connect(dsn, autocommit=True) as its:
            while not over.wait(0.05):
                its.execute("select pulse.extend(%s)", ([living],))

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        with pytest.raises(Namesake, match="on another"):
            take_over(settings(dsn), HERE, QUIET)
    finally:
        over.set()
        thread.join()
    assert not ended(connection, living)
