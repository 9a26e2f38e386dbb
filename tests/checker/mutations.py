"""Ways to break a good history: what a runtime with a mistake would have left behind."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from checker.history import Delivery, Failure, History, Job

Break = Callable[[History, str], History]


@dataclass(frozen=True)
class Mutation:
    """A job's attempts ended like `endings`; then the history is broken, and the report must begin with `report`."""

    name: str
    report: str
    endings: tuple[str, ...]
    apply: Break


def _database(history: History, **changes: Any) -> History:
    return replace(history, database=replace(history.database, **changes))


def _job(history: History, job: str, **changes: Any) -> History:
    jobs = [replace(each, **changes) if each.id == job else each for each in history.database.jobs]
    return _database(history, jobs=tuple(jobs))


def _last(history: History, job: str) -> Delivery:
    return [each for each in history.database.deliveries if each.id == job][-1]


def _again(history: History, job: str, *, attempt: int) -> tuple[History, Delivery]:
    """One more delivery of a job."""
    more = replace(_last(history, job), claim=9001, seq=9001, attempt=attempt)
    return _database(history, deliveries=(*history.database.deliveries, more)), more


def _settle_again(history: History, job: str, *, attempt: int) -> History:
    changed, more = _again(history, job, attempt=attempt)
    return _database(changed, done=(*changed.database.done, more.slot))


def _hold(history: History, job: str) -> History:
    changed, more = _again(history, job, attempt=_last(history, job).attempt)
    return _database(changed, open=(*changed.database.open, more.slot))


def _without_job(history: History, job: str) -> History:
    return _database(history, jobs=tuple(each for each in history.database.jobs if each.id != job))


def _twice_in_jobs(history: History, job: str) -> History:
    return _database(history, jobs=(*history.database.jobs, Job(job, "PENDING", attempt=2, charged=0)))


def _without_success(history: History, job: str) -> History:
    gone = {each.slot for each in history.database.deliveries if each.id == job}
    return _database(history, done=tuple(each for each in history.database.done if each not in gone))


def _failed_too(history: History, job: str) -> History:
    last = _last(history, job)
    more = Failure(job, last.attempt, 0, "lost", last.claim)
    return _database(history, failures=(*history.database.failures, more))


def _without_lease(history: History, job: str) -> History:
    return _job(_database(history, open=()), job, status="PENDING", attempt=7)


def _failures(history: History, job: str, change: Callable[[Failure], Failure | None]) -> History:
    found = [change(each) if each.id == job else each for each in history.database.failures]
    return _database(history, failures=tuple(each for each in found if each is not None))


def _runs(history: History, job: str, **changes: Any) -> History:
    """The job's first run, changed."""
    first = next(each for each in history.runs if each.id == job)
    return replace(history, runs=tuple(replace(each, **changes) if each is first else each for each in history.runs))


def _first_run_again(history: History, job: str) -> History:
    first = next(each for each in history.runs if each.id == job)
    return replace(history, runs=(*history.runs, replace(first, pid=2, start=9001, end=9002)))


def _overlap(history: History, job: str) -> History:
    second = [each for each in history.runs if each.id == job][1]
    return _runs(history, job, end=second.start + 1)


def _without_runs(history: History, job: str) -> History:
    return replace(history, runs=tuple(each for each in history.runs if each.id != job))


def _drop_failure(history: History, job: str) -> History:
    return _failures(history, job, lambda each: None if each.attempt == 1 else each)


def _charge_all(history: History, job: str) -> History:
    changed = _failures(history, job, lambda each: replace(each, charged=each.charged + 1))
    return _job(changed, job, charged=1)


def _run_past_the_end(history: History, job: str) -> History:
    last = [each for each in history.runs if each.id == job][-1]
    changed, _ = _again(history, job, attempt=last.attempt + 1)
    return replace(changed, runs=(*changed.runs, replace(last, attempt=last.attempt + 1, start=9001, end=9002)))


MUTATIONS = (
    Mutation("an acknowledged job is gone", "lost", ("done",), _without_job),
    Mutation("a completed job was settled by nobody", "lost", ("done",), _without_success),
    Mutation("a job is in the log and ended", "in 2 states", ("done",), _twice_in_jobs),
    Mutation("a job has a state that there is not", "in no known", ("done",), lambda h, j: _job(h, j, status="GONE")),
    Mutation("nobody sent it", "from nowhere", ("done",), lambda h, _: replace(h, enqueued=h.enqueued[1:])),
    Mutation("settled twice in one attempt", "settled 2", ("done",), lambda h, j: _settle_again(h, j, attempt=1)),
    Mutation("settled in two attempts", "settled 2", ("fail", "done"), lambda h, j: _settle_again(h, j, attempt=1)),
    Mutation("settled and a dead letter", "settled, and", ("done",), lambda h, j: _job(h, j, status="DEAD_LETTERED")),
    Mutation("held by two leases", "held 2", ("running",), _hold),
    Mutation("held and completed", "held by 1", ("done",), _hold),
    Mutation("settled and failed", "2 fates", ("done",), _failed_too),
    Mutation("claimed and then nothing", "vanished", ("running",), _without_lease),
    Mutation("a failure was not recorded", "attempts with", ("fail", "fail", "done"), _drop_failure),
    Mutation("an attempt was skipped", "attempts with", ("fail", "waiting"), lambda h, j: _job(h, j, attempt=3)),
    Mutation("a loss was charged", "charged 1", ("lost", "done"), _charge_all),
    Mutation("a release was charged", "charged 1", ("release", "waiting"), lambda h, j: _job(h, j, charged=1)),
    Mutation("a failure was not charged", "charged 0", ("fail", "waiting"), lambda h, j: _job(h, j, charged=0)),
    Mutation("an attempt was delivered twice", "started 2", ("done",), _first_run_again),
    Mutation("ended without a start", "ended without", ("done",), lambda h, j: replace(h, strays=(j,))),
    Mutation("started unclaimed", "started without", ("running",), lambda h, j: _runs(h, j, attempt=2)),
    Mutation("settled though it never ran", "settled without", ("done",), _without_runs),
    Mutation("settled though it raised", "settled without", ("done",), lambda h, j: _runs(h, j, outcome="raised")),
    Mutation("failed while it ran", "fail, and yet", ("fail", "done"), lambda h, j: _runs(h, j, end=None)),
    Mutation("ran again after its success", "ran again", ("done",), _run_past_the_end),
    Mutation("ran again after it was canceled", "ran again", ("cancel",), _run_past_the_end),
    Mutation("two runs at once", "overlap", ("fail", "done"), _overlap),
)
