"""Jobs that failed together wait together, in one row, and are claimed again from where they are in the log."""

import json
from uuid import UUID

import pytest
from fix_cluster import Connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_kit import Batch, Store

CLOSE = "select pulse.close(%s, %s, %s::int[], %s, %s::bigint[], %s, %s::bigint[])"
MINUTE_MS = 60_000
DUE = "update pulse.retrying set run_at = pulse.now()"


@pytest.fixture
def store(connection: Connection) -> Store:
    return Store(connection)


def fail(store: Store, batch: Batch, positions: list[int] | None = None, *, delay_ms: int = MINUTE_MS) -> int:
    """By one report."""
    positions = list(range(len(batch.jobs))) if positions is None else positions
    size = len(positions)
    values = [batch.claim] * size, [batch.token] * size, positions, ["fail"] * size, [delay_ms] * size
    return int(store.ask(CLOSE, *values, [f"error {each}" for each in positions], [3] * size))


def failed(store: Store, jobs: int = 10, **options: object) -> list[UUID]:
    """Their ids, in the order of the row in which they wait."""
    ids = [store.enqueue(**options) for _ in range(jobs)]
    (batch,) = store.claim()
    assert fail(store, batch, list(range(jobs))) == jobs
    return sorted(ids)


def waiting(store: Store) -> list[int]:
    """How many jobs wait in each row."""
    rows = store.connection.execute("select cardinality(ids) - taken from pulse.retrying order by id").fetchall()
    return [row[0] for row in rows]


def got(batches: list[Batch]) -> list[UUID]:
    return [UUID(job[0]) for batch in batches for job in batch.jobs]


def told(store: Store, job: UUID) -> tuple[object, ...]:
    columns = "status, attempt, charged, run_at is not null, last_error is not null"
    row = store.connection.execute(f"select {columns} from pulse.get(%s)".encode(), (job,)).fetchone()
    same = store.connection.execute(f"select {columns} from pulse.jobs where id = %s".encode(), (job,)).fetchone()
    assert row == same, "pulse.get and pulse.jobs differ"
    assert row
    return tuple(row)


def test_eight_that_fail_together_wait_in_one_row_and_are_not_written_to_the_log_again(store: Store) -> None:
    ids = failed(store, 8)
    assert waiting(store) == [8]
    assert store.ask("select count(*) from pulse.delayed") == 0
    assert {told(store, job) for job in ids} == {("RETRYING", 2, 1, True, True)}
    store.connection.execute(DUE)
    (batch,) = store.claim()
    assert [(UUID(job[0]), job[3], job[4]) for job in batch.jobs] == [(job, 2, 1) for job in ids]
    assert waiting(store) == []
    assert store.ask("select count(*) from pulse.log") == 8
    assert {told(store, job) for job in ids} == {("RUNNING", 2, 1, False, True)}
    assert store.settle(batch) == 8
    assert {told(store, job) for job in ids} == {("COMPLETED", 2, 1, False, True)}
    assert store.claim() == []


def test_seven_wait_alone(store: Store) -> None:
    failed(store, 7)
    assert waiting(store) == []
    assert store.ask("select count(*) from pulse.delayed") == 7


@pytest.mark.parametrize(
    "options",
    [{"key": "k{n}"}, {"args": '"' + "x" * 3000 + '"'}, {"max_attempts": 1}],
    ids=["a key", "large arguments", "no attempt left"],
)
def test_jobs_with_anything_rare_wait_alone(store: Store, options: dict[str, str]) -> None:
    for n in range(10):
        store.enqueue(**{name: each.format(n=n) if name == "key" else each for name, each in options.items()})
    (batch,) = store.claim()
    assert fail(store, batch, list(range(10))) == 10
    assert waiting(store) == []


@pytest.mark.parametrize("delay_ms", [0, 601_000])
def test_those_that_run_at_once_or_much_later_wait_alone(store: Store, delay_ms: int) -> None:
    for _ in range(10):
        store.enqueue()
    (batch,) = store.claim()
    fail(store, batch, delay_ms=delay_ms)
    assert waiting(store) == []


def test_they_wait_apart_by_lane_and_by_attempt(store: Store) -> None:
    for _ in range(8):
        store.enqueue(queue="mail")
    failed(store, 8)
    store.connection.execute(DUE)
    for _ in range(8):
        store.enqueue()
    batches = [*store.claim(), *store.claim(queues=("mail",))]
    while sum(len(batch.jobs) for batch in batches) < 24:
        batches += store.claim()
    for batch in batches:
        fail(store, batch)
    rows = store.connection.execute("select queue, attempt, charged, cardinality(ids) from pulse.retrying").fetchall()
    assert sorted(rows) == [("default", 2, 1, 8), ("default", 3, 2, 8), ("mail", 2, 1, 8)]


def test_they_fail_until_their_budget_is_used_up(store: Store) -> None:
    ids = failed(store, 9, max_attempts=3)
    for charged in (1, 2):
        store.connection.execute(DUE)
        (batch,) = store.claim()
        assert {(job[3], job[4]) for job in batch.jobs} == {(charged + 1, charged)}
        assert fail(store, batch) == 9
    assert waiting(store) == []
    assert {told(store, job)[:3] for job in ids} == {("DEAD_LETTERED", 3, 3)}
    history = "select attempt, ending, claimed_at is not null from pulse.history(%s)"
    assert store.connection.execute(history.encode(), (ids[0],)).fetchall() == [
        (1, "fail", True), (2, "fail", True), (3, "fail", True),
    ]  # fmt: skip


def test_history_has_the_delivery_that_was_not_written_to_the_log(store: Store) -> None:
    job, *_ = failed(store)
    store.connection.execute(DUE)
    (batch,) = store.claim()
    history = "select attempt, claim, ending, took_us from pulse.history(%s)"
    first, second = store.connection.execute(history.encode(), (job,)).fetchall()
    assert first[0] == 1
    assert first[2:] == ("fail", 3)
    assert second == (2, batch.claim, "running", None)
    store.settle(batch)
    assert store.connection.execute(history.encode(), (job,)).fetchall()[1] == (2, batch.claim, "completed", 7)


def test_a_claim_takes_as_many_as_it_has_slots_for_and_the_others_wait_on(store: Store) -> None:
    ids = failed(store)
    store.connection.execute(DUE)
    taken = [got(store.claim(slots)) for slots in (3, 4, 100)]
    assert [len(each) for each in taken] == [3, 4, 3]
    assert [job for each in taken for job in each] == ids
    assert {told(store, job)[0] for job in ids} == {"RUNNING"}


def test_the_state_of_a_job_is_right_while_others_of_its_row_are_taken(store: Store) -> None:
    ids = failed(store)
    store.connection.execute(DUE)
    batches = store.claim(4)
    assert [told(store, job)[0] for job in ids] == ["RUNNING"] * 4 + ["RETRYING"] * 6
    store.settle(batches[0], "1010")
    assert [told(store, job)[0] for job in ids[:4]] == ["COMPLETED", "RUNNING", "COMPLETED", "RUNNING"]


def test_a_claim_that_is_asked_again_is_the_same(store: Store) -> None:
    failed(store)
    store.connection.execute(DUE)
    first = store.claim(5)
    store.request -= 1
    (again,) = store.claim(5)
    assert [again.claim] == [batch.claim for batch in first]
    assert json.loads(store.ask("select pulse.fetch(%s, %s)", again.claim, again.token)) == first[0].jobs
    assert store.settle(first[0]) == 0, "the old token means nothing any more"


def test_a_batch_that_is_too_large_to_come_with_its_claim_is_fetched(store: Store) -> None:
    failed(store, 100, args='"' + "x" * 1900 + '"')
    store.connection.execute(DUE)
    (batch,) = store.claim()
    assert batch.jobs == []
    assert store.ask("select json_array_length(pulse.fetch(%s, %s)::json)", batch.claim, batch.token) == 100


def test_a_claim_is_bounded_in_bytes(store: Store) -> None:
    failed(store, 10, args='"' + "x" * 1900 + '"')
    store.connection.execute(DUE)
    assert len(got(store.claim(bytes_=3 * 2048))) == 3


def test_nobody_gets_them_before_they_are_due(store: Store) -> None:
    failed(store)
    assert store.claim() == []
    assert store.ask("select due_s from pulse.look('{default}')") == pytest.approx(60, abs=5)
    assert store.ask("select ready from pulse.look('{default}')") is False
    assert store.ask("select next_s from pulse.promote(10)") == pytest.approx(60, abs=5)
    store.connection.execute(DUE)
    assert store.ask("select ready from pulse.look('{default}')") is True
    assert store.ask("select ready from pulse.look('{mail}')") is False
    assert store.connection.execute("select * from pulse.promote(10)").fetchone() == (0, True, None)


def test_a_paused_queue_keeps_them(store: Store) -> None:
    failed(store)
    store.connection.execute(DUE)
    store.connection.execute("select pulse.pause('default', 'me', 'because')")
    assert store.claim() == []
    store.connection.execute("select pulse.resume('default')")
    assert len(got(store.claim())) == 10


def test_neither_they_nor_new_jobs_of_their_lane_starve(store: Store) -> None:
    again = failed(store, 40)
    store.connection.execute(DUE)
    new = [store.enqueue() for _ in range(40)]
    order = [job in again for _ in range(8) for job in got(store.claim(5))]
    assert sum(order) == 10, "every fourth claim"
    assert {*again, *new} >= {job for _ in range(8) for job in got(store.claim(5))}


def test_one_of_them_can_be_canceled(store: Store) -> None:
    ids = failed(store)
    assert store.ask("select pulse.cancel(%s, 'me', 'why')", ids[4]) == "CANCELED"
    assert waiting(store) == [9]
    assert told(store, ids[4])[:3] == ("CANCELED", 2, 1)
    store.connection.execute(DUE)
    assert got(store.claim(3)) == ids[:3]
    assert store.ask("select pulse.cancel(%s)", ids[5]) == "CANCELED"
    assert store.ask("select pulse.cancel(%s)", ids[0]) == "RUNNING"
    assert store.ask("select claim from pulse.cancel_request") == store.ask("select max(id) from pulse.claim")
    assert got(store.claim()) == [ids[3], *ids[6:]]


def test_all_of_them_can_be_canceled(store: Store) -> None:
    for job in failed(store):
        assert store.ask("select pulse.cancel(%s)", job) == "CANCELED"
    assert store.ask("select count(*) from pulse.retrying") == 0


def test_one_of_them_can_be_moved_and_waits_alone_from_then_on(store: Store) -> None:
    ids = failed(store)
    assert store.ask("select pulse.move(%s, 'mail', 5)", ids[0]) is True
    assert waiting(store) == [9]
    assert store.ask("select queue || priority || attempt from pulse.delayed") == "mail52"
    assert told(store, ids[0])[:3] == ("RETRYING", 2, 1)


@pytest.mark.parametrize("ending", ["release", "lost", "snooze", "suspect", "crash", "fail"])
def test_a_delivery_out_of_the_row_that_ends_otherwise_goes_on_as_any_other(store: Store, ending: str) -> None:
    ids = failed(store)
    store.connection.execute(DUE)
    (batch,) = store.claim()
    assert store.close(batch, ending, delay_ms=0) == 1
    assert told(store, ids[0])[0] in ("PENDING", "RETRYING")
    (again,) = store.claim()
    attempt = 2 if ending == "release" else 3
    assert (UUID(again.jobs[0][0]), again.jobs[0][3]) == (ids[0], attempt)
    assert told(store, ids[0])[:3] == ("RUNNING", attempt, 2 if ending in ("crash", "fail") else 1)
    store.settle(again)
    assert told(store, ids[0])[0] == "COMPLETED"
    assert {told(store, job)[0] for job in ids[1:]} == {"RUNNING"}


def test_an_executor_that_is_reaped_loses_them(store: Store) -> None:
    ids = failed(store)
    store.connection.execute(DUE)
    (batch,) = store.claim()
    assert store.ask("select pulse.reap(%s, 0)", store.executor) == 10
    assert store.settle(batch) == 0
    store.executor = store.ask("select pulse.register_executor('next', 'here', 'boot', 1)")
    (again,) = store.claim()
    assert sorted(got([again])) == sorted(ids)
    assert {job[3] for job in again.jobs} == {3}


def test_an_id_that_was_enqueued_twice_waits_with_both_of_its_rows(store: Store) -> None:
    job = store.enqueue(args='{"n": 1}')
    store.enqueue(id=job, args='{"n": 2}')
    for _ in range(8):
        store.enqueue()
    (batch,) = store.claim()
    assert fail(store, batch) == 10
    store.connection.execute(DUE)
    (again,) = store.claim()
    assert [each[2] for each in again.jobs if each[0] == str(job)] == [{"n": 1}, {"n": 2}]
    assert store.settle(again) == 10


def test_their_partition_stays_until_they_have_ended(store: Store) -> None:
    def dropped() -> list[str]:
        store.connection.execute("select pulse.keep_ahead(interval '1 day', 100)")
        names: list[str] = store.ask("select dropped from pulse.drop_partitions(interval '-1 s')")
        return names

    failed(store)
    store.connection.execute("select pulse.cut(2000000)")
    assert dropped() == []
    store.connection.execute(DUE)
    (batch,) = store.claim()
    assert dropped() == []
    store.settle(batch)
    assert dropped() == ["log_1"]


def test_a_rebase_makes_delayed_jobs_of_them(store: Store) -> None:
    ids = failed(store)
    store.connection.execute(DUE)
    assert got(store.claim(3)) == ids[:3]
    assert store.connection.execute("select * from pulse.rebase()").fetchone() == (3, 3, 0)
    assert [told(store, job)[:3] for job in ids] == [("RETRYING", 3, 1)] * 3 + [("RETRYING", 2, 1)] * 7
    assert waiting(store) == []


def test_lists_and_counts_have_them(store: Store) -> None:
    ids = failed(store)
    alone = store.enqueue(run_at="2100-01-01T00:00:00Z")
    pages: list[UUID] = []
    after = None
    while True:
        listed = (
            "select id, attempt, charged, after, run_at, last_error from pulse.list('RETRYING', most => 3, after => %s)"
        )
        rows = store.connection.execute(listed.encode(), (after,)).fetchall()
        assert all(row[1:3] == (2, 1) and row[4] and row[5] for row in rows)
        pages += [row[0] for row in rows]
        if len(rows) < 3:
            break
        after = rows[-1][3]
    assert pages == sorted(ids)
    counted = "select retrying, delayed, waiting, running, exact from pulse.counts()"
    assert store.connection.execute(counted.encode()).fetchall() == [(10, 1, 0, 0, True)]
    store.connection.execute(DUE)
    assert store.ask("select oldest_due = (select min(run_at) from pulse.retrying) from pulse.counts()") is True
    (batch,) = store.claim(4)
    running = "select id, attempt, charged from pulse.list('RUNNING')"
    assert sorted(store.connection.execute(running.encode()).fetchall()) == sorted((job, 2, 1) for job in ids[:4])
    assert store.connection.execute(counted.encode()).fetchall() == [(6, 1, 0, 4, True)]
    store.settle(batch)
    completed = "select id, attempt, charged from pulse.list('COMPLETED')"
    assert sorted(store.connection.execute(completed.encode()).fetchall()) == sorted((job, 2, 1) for job in ids[:4])
    assert store.ask("select count(*) from pulse.list()") == 11
    assert alone not in pages


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(delay_ms=st.integers(1, 600_000) | st.sampled_from([2**n + more for n in range(20) for more in (-1, 0, 1)][1:]))
def test_a_delay_is_rounded_up_by_a_sixteenth_and_by_a_second_at_most(store: Store, delay_ms: int) -> None:
    stepped = store.ask("select pulse.step_up(%s)", delay_ms)
    assert delay_ms <= stepped <= delay_ms + min(delay_ms / 16, 1000)


def test_delays_that_differ_by_chance_come_to_few_rows(store: Store) -> None:
    """A runtime's default delays are a second, give or take a tenth."""
    for _ in range(100):
        store.enqueue()
    (batch,) = store.claim()
    delays = [900 + 2 * each for each in range(100)]
    values = [batch.claim] * 100, [batch.token] * 100, list(range(100)), ["fail"] * 100, delays, ["x"] * 100, [1] * 100
    assert store.ask(CLOSE, *values) == 100
    assert len(waiting(store)) <= 6
    assert sum(waiting(store)) + store.ask("select count(*) from pulse.delayed") == 100


def test_their_failures_are_pruned_with_the_first_of_them(store: Store) -> None:
    """Only that one has an entry in the index by time."""
    failed(store, 9)
    alone = store.enqueue(max_attempts=1)
    (batch,) = store.claim()
    store.close(batch, "fail")
    assert store.ask("select failures from pulse.prune(interval '1 day', interval '1 day')") == 0
    assert store.ask("select failures from pulse.prune(interval '1 day', interval '-1 s', 1)") == 9
    assert store.connection.execute("select id from pulse.failure").fetchall() == [(alone,)]
    assert store.ask("select failures from pulse.prune(interval '1 day', interval '-1 s', 1)") == 1


@pytest.mark.parametrize("which", [0, 5])
def test_one_that_was_set_apart_is_listed_and_pruned_like_one_that_failed_alone(store: Store, which: int) -> None:
    ids = failed(store, 9)
    assert store.ask("select pulse.move(%s, 'other')", ids[which])
    store.connection.execute("update pulse.delayed set run_at = pulse.now()")
    store.ask("select moved from pulse.promote(10)")
    store.ask("select pulse.discover()")
    listed = "select id from pulse.list('RETRYING', 'other')"
    assert store.connection.execute(listed.encode()).fetchall() == [(ids[which],)]
    while store.ask("select failures from pulse.prune(interval '1 day', interval '-1 s', 1)"):
        pass
    assert store.ask("select count(*) from pulse.failure") == 0


def test_an_id_in_two_lanes_waits_in_each_by_itself(store: Store) -> None:
    """Eight of one lane wait together; the ninth, with the id of one of them, is not taken for it."""
    ids = [store.enqueue() for _ in range(8)]
    store.enqueue(id=ids[0], queue="mail")
    (together,) = store.claim()
    (alone,) = store.claim(queues=("mail",))
    claims, tokens = [together.claim] * 8 + [alone.claim], [together.token] * 8 + [alone.token]
    positions = [*range(8), 0]
    values = claims, tokens, positions, ["fail"] * 9, [MINUTE_MS] * 9, ["x"] * 9, [1] * 9
    assert store.ask(CLOSE, *values) == 9
    assert waiting(store) == [8]
    assert store.ask("select queue from pulse.delayed where id = %s", ids[0]) == "mail"
