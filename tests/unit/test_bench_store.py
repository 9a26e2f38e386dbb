"""What the store's scenarios stand on, as far as it needs no database."""

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing import resource_tracker
from uuid import UUID

import pytest

from benchmarks.catalog import load
from benchmarks.scenarios.store_drain import mask_without
from benchmarks.store.crew import CrewError, Member, crew, tally
from benchmarks.store.meters import Process, Reading, cpu_s, process_of, server_cpu_s
from benchmarks.store.pulse import array, fresh_ids

BURN = "import time\nwhile time.process_time() < 0.2: pass"


@pytest.fixture
def _no_tracker() -> Iterator[None]:
    """Python starts a process of its own beside the first crew; in a benchmark it ends with the program."""
    yield
    resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]


def test_the_rows_are_those_that_the_store_must_reach() -> None:
    rows = [(each.row_name(target), target.text) for each in load("store").scenarios for target in each.targets]
    assert [target for _, target in rows] == [
        "≥ 2.5 ×",
        "≥ 1.5 ×",
        "≤ 500 B/job",
        "≤ 0.65 ×",
        "p50 ≤ 1.3 ×",
        "≤ 5,000 rows",
        "p50 ≤ 1.3 ×",
        "≤ 1 ×",
        "p50 ≤ 1.3 ×",
        "p50 ≤ 3 ×",
        "p95 ≤ 10 ms",
        "≥ 0.4 ×",
        "≥ 0.85 ×",
        "≤ 2 ×",
        "≥ 80,000 jobs/s or ≥ 0.3 ×",
        "p50 ≤ 0.6 ms",
    ]
    assert len({name for name, _ in rows}) == len(rows)


def test_a_process_may_call_itself_anything() -> None:
    stat = "12 (postgres: a) b (c) S 7 12 12 0 -1 4194560 1 2 3 4 100 20 3000 400 20 0 1 0 99 1 2"
    assert process_of(stat) == Process(parent=7, own=120, reaped=3400)


def test_the_cpu_of_processes_that_ended_still_counts() -> None:
    before, own_before = server_cpu_s(os.getpid()), cpu_s(os.getpid())
    subprocess.run([sys.executable, "-c", BURN], check=True)
    of_others = server_cpu_s(os.getpid()) - before - (cpu_s(os.getpid()) - own_before)
    assert of_others >= 0.15


def test_the_cpu_of_processes_that_run_counts() -> None:
    before = server_cpu_s(os.getpid())
    with subprocess.Popen([sys.executable, "-c", f"{BURN}\nprint(flush=True)\ninput()"], stdin=-1, stdout=-1) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert server_cpu_s(os.getpid()) - before >= 0.15
        child.communicate(b"\n")


def test_a_checkpoint_in_between_spoils_a_measurement() -> None:
    first = Reading(cpu_s=1, wal_bytes=100, checkpoint="0/1")
    assert Reading(cpu_s=3, wal_bytes=400, checkpoint="0/1").since(first) == Reading(
        cpu_s=2, wal_bytes=300, checkpoint="0/1"
    )
    with pytest.raises(RuntimeError, match="a checkpoint fell into"):
        Reading(cpu_s=3, wal_bytes=400, checkpoint="0/2").since(first)


@pytest.mark.usefixtures("_no_tracker")
def test_a_crew_is_let_go_together_and_adds_up() -> None:
    with tally() as done, crew([Member(map, (done.add, [0, 2, 3])), Member(map, (done.add, [0, 10]))]) as go:
        assert done.sum == 0
        assert go() > 0
        assert done.sum == 15


@pytest.mark.usefixtures("_no_tracker")
def test_a_member_that_fails_ends_the_crew_at_once() -> None:
    started = time.monotonic()
    with (
        pytest.raises(CrewError, match="'x'"),
        crew([Member(itertools.count, ()), Member(map, (int, ["1", "x"]))]) as go,
    ):
        go()
    assert time.monotonic() - started < 30
    with pytest.raises(CrewError, match="ValueError"), crew([Member(map, (int, ["x"]))]):
        pass


def test_ids_are_uuid7_of_this_moment_and_all_different() -> None:
    before = time.time_ns() // 1_000_000
    ids = [UUID(each) for each in fresh_ids(1000)]
    assert len(set(ids)) == 1000
    assert {each.version for each in ids} == {7}
    assert {each.variant for each in ids} == {"specified in RFC 4122"}
    assert all(before <= each.int >> 80 <= time.time_ns() // 1_000_000 for each in ids)


def test_masks_and_arrays_are_written_as_postgres_reads_them() -> None:
    assert mask_without([0, 3], 5) == "01101"
    assert array(["a", "b"]) == "{a,b}"
