"""What must hold between the handlers that ran and what the database knows of it."""

import itertools
from collections.abc import Iterator

from checker.history import Run
from checker.index import Index

AGAIN = frozenset({"fail", "crash", "lost", "suspect", "snooze"})
SEEN_TO_END = frozenset({"fail", "snooze"})  # of the others, the process may be gone


def an_attempt_starts_once(index: Index) -> Iterator[str]:
    for (job, attempt), runs in index.runs.items():
        if len(runs) > 1:
            yield f"started {len(runs)} times: {job} attempt {attempt} in processes {[each.pid for each in runs]}"


def what_ends_has_started(index: Index) -> Iterator[str]:
    for each in index.history.strays:
        yield f"ended without a start: {each}"


def what_starts_was_claimed(index: Index) -> Iterator[str]:
    claimed = {(each.id, each.attempt) for each in index.history.database.deliveries}
    for job, attempt in index.runs:
        if (job, attempt) not in claimed:
            yield f"started without a claim: {job} attempt {attempt}"


def what_is_settled_has_ended_well(index: Index) -> Iterator[str]:
    for job in index.jobs:
        for success in index.successes(job):
            if all(run.outcome != "ok" for run in index.runs.get(success, [])):
                yield f"settled without a good end: {job} attempt {success[1]}"


def what_is_said_to_have_failed_has_ended(index: Index) -> Iterator[str]:
    for attempt, runs in index.runs.items():
        if index.ending(attempt) in SEEN_TO_END and any(run.end is None for run in runs):
            yield f"{index.ending(attempt)}, and yet no handler ended: {attempt[0]} attempt {attempt[1]}"


def a_job_runs_again_only_for_a_reason(index: Index) -> Iterator[str]:
    """The attempt before failed, was lost, suspected or snoozed; or it was a dead letter that someone retried."""
    for job, attempt in index.runs:
        before = index.ending((job, attempt - 1))
        if attempt > 1 and before not in AGAIN and not (before == "dead" and index.history.retried[job]):
            yield f"ran again without a reason: {job} attempt {attempt}, the one before {before or 'has no failure'}"


def runs_of_a_job_do_not_overlap(index: Index) -> Iterator[str]:
    """Unless the first one's executor was reaped: it may have been frozen, and go on when it thaws."""
    by_job: dict[str, list[Run]] = {}
    for run in sorted(index.history.runs, key=lambda each: each.start):
        by_job.setdefault(run.id, []).append(run)
    for job, runs in by_job.items():
        for first, second in itertools.combinations(runs, 2):
            reaped = index.ending((job, first.attempt)) == "lost"
            if first.end is not None and second.start < first.end and not reaped:
                yield f"overlap: {job} attempt {second.attempt} started before attempt {first.attempt} ended"


RULES = (
    an_attempt_starts_once,
    what_ends_has_started,
    what_starts_was_claimed,
    what_is_settled_has_ended_well,
    what_is_said_to_have_failed_has_ended,
    a_job_runs_again_only_for_a_reason,
    runs_of_a_job_do_not_overlap,
)
