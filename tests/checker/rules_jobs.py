"""What must hold in the database, whatever happened, for the jobs that producers sent."""

from collections import Counter
from collections.abc import Iterator

from checker.history import Delivery
from checker.index import Index

CHARGING = frozenset({"fail", "crash", "dead"})
ENDED = frozenset({"COMPLETED", "DEAD_LETTERED", "CANCELED"})
STATUSES = ENDED | {"PENDING", "RETRYING", "RUNNING"}


def nothing_acknowledged_is_lost(index: Index) -> Iterator[str]:
    for job in index.history.enqueued:
        if job not in index.jobs:
            yield f"lost: {job} was acknowledged, and the database has no such job"


def nothing_comes_from_nowhere(index: Index) -> Iterator[str]:
    known = {*index.history.enqueued, *index.history.unsure}
    for job in index.jobs:
        if job not in known:
            yield f"from nowhere: {job} was sent by nobody"


def a_job_is_in_one_state(index: Index) -> Iterator[str]:
    for job, times in Counter(job.id for job in index.history.database.jobs).items():
        if times > 1:
            yield f"in {times} states: {job}"
    for each in index.jobs.values():
        if each.status not in STATUSES:
            yield f"in no known state: {each.id} is {each.status}"


def a_job_succeeds_once_and_then_it_is_completed(index: Index) -> Iterator[str]:
    for job in index.jobs.values():
        successes = index.successes(job.id)
        if len(successes) > 1:
            yield f"settled {len(successes)} times: {job.id} in attempts {[number for _, number in successes]}"
        elif successes and job.status != "COMPLETED":
            yield f"settled, and yet {job.status}: {job.id}"
        elif job.status == "COMPLETED" and not successes:
            # pulse.jobs calls completed whatever was claimed and is held by nobody: this is how a lost job looks.
            yield f"lost: {job.id} counts as COMPLETED, and nobody settled it"


def a_job_is_held_once_and_then_it_runs(index: Index) -> Iterator[str]:
    for job in index.jobs.values():
        held = index.held(job.id)
        if held > 1:
            yield f"held {held} times: {job.id}"
        elif (held == 1) != (job.status == "RUNNING"):
            yield f"held by {held} leases, and yet {job.status}: {job.id}"


def a_delivery_has_one_fate(index: Index) -> Iterator[str]:
    """It is open, settled or failed; one that has left no trace was released, and then the attempt comes again."""
    failed = Counter((each.claim, each.id) for each in index.history.database.failures)
    for job, deliveries in index.deliveries.items():
        for number, each in enumerate(deliveries):
            fates = index.open[each.slot] + index.done[each.slot] + failed[each.claim, job]
            if fates > 1:
                yield f"{fates} fates of one delivery: {job} attempt {each.attempt} in claim {each.claim}"
            elif fates == 0 and not _comes_again(index, each, deliveries[number + 1 :]):
                yield f"vanished: {job} attempt {each.attempt} was claimed in {each.claim}, and has no fate"


def _comes_again(index: Index, released: Delivery, later: list[Delivery]) -> bool:
    if later:
        return later[0].attempt == released.attempt
    job = index.jobs.get(released.id)
    return job is not None and job.attempt == released.attempt and job.status in {"PENDING", "RETRYING", "CANCELED"}


def attempts_have_no_gaps(index: Index) -> Iterator[str]:
    """One failure for each attempt but the latest; the latest has one only if it ended the job."""
    for job in index.jobs.values():
        failed = [each.attempt for each in index.failures[job.id]]
        upto = len(failed)
        ended_by_it = job.status in {"DEAD_LETTERED", "CANCELED"} and job.attempt == upto
        if failed != list(range(1, upto + 1)):
            yield f"attempts with gaps or repeats: {job.id} failed in {failed}"
        elif job.attempt != upto + 1 and not ended_by_it:
            yield f"attempts with gaps or repeats: {job.id} is in attempt {job.attempt} after {upto} failures"


def only_failures_are_charged(index: Index) -> Iterator[str]:
    """What was released, lost, suspected or snoozed costs nothing; a retried dead letter starts at nothing again."""
    for job in index.jobs.values():
        charged, lives = 0, index.history.retried[job.id]
        for each in [*index.failures[job.id], None]:
            now = each.charged if each else job.charged
            cost = 1 if each and each.ending in CHARGING else 0
            if now != charged + cost and now == cost and lives > 0:
                charged, lives = 0, lives - 1
            charged += cost
            if now != charged:
                where = f"attempt {each.attempt} ({each.ending})" if each else "pulse.jobs"
                yield f"charged {now} in place of {charged}: {job.id} at {where}"
                break


RULES = (
    nothing_acknowledged_is_lost,
    nothing_comes_from_nowhere,
    a_job_is_in_one_state,
    a_job_succeeds_once_and_then_it_is_completed,
    a_job_is_held_once_and_then_it_runs,
    a_delivery_has_one_fate,
    attempts_have_no_gaps,
    only_failures_are_charged,
)
