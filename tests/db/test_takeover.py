"""Who may take over from whom, when a runtime starts under a name that was used before."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import psycopg
import pytest
from fix_cluster import Connection

from pulse_runtime.actors.boot import Namesake, WrongIsolation, check_database, take_over
from pulse_runtime.events import Log
from pulse_runtime.identity import Identity, start_of
from pulse_runtime.settings import RuntimeSettings

HERE = Identity("here", "this boot")
SERIALIZABLE = b"""do $$ begin
  execute format('alter database %I set default_transaction_isolation = serializable', current_database());
end $$"""
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


def test_an_executor_of_our_own_tree_is_none_of_its_last_life(
    dsn: str, connection: Connection, born: Callable[..., int]
) -> None:
    """A reporter that is killed while the tree comes up is followed by one that takes over once more."""
    program = f"""
from pulse_runtime.actors.boot import take_over
from pulse_runtime.events import Log
from pulse_runtime.identity import Identity
from pulse_runtime.settings import RuntimeSettings
take_over(RuntimeSettings(dsn={dsn!r}, name="test"), Identity("here", "this boot"), Log("reporter-1"))
"""
    with subprocess.Popen(["sleep", "60"]) as sibling:
        ours, gone = born(pid=sibling.pid, start=start_of(sibling.pid)), born()
        try:
            subprocess.run([sys.executable, "-c", program], check=True)
        finally:
            sibling.kill()
    assert not ended(connection, ours)
    assert ended(connection, gone)


def test_a_process_that_is_on_its_way_out_is_waited_for(
    dsn: str, connection: Connection, born: Callable[..., int]
) -> None:
    with subprocess.Popen(["sleep", "60"]) as dying:
        last = born(pid=dying.pid, start=start_of(dying.pid))
        killer = threading.Timer(0.3, dying.kill)
        killer.start()
        began = time.monotonic()
        take_over(settings(dsn), HERE, QUIET)
        killer.join()
    assert time.monotonic() - began >= 0.25, "it lived when we came"
    assert ended(connection, last)


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


def test_sessions_that_begin_with_another_isolation_level_are_refused(dsn: str, connection: Connection) -> None:
    check_database(settings(dsn))
    connection.execute(SERIALIZABLE)
    with pytest.raises(WrongIsolation, match="'serializable'"):
        check_database(settings(dsn))
