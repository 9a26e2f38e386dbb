"""What a death means for the jobs of the dead: decided from the black box alone."""

from pulse_runtime.execution import black_box
from pulse_runtime.execution.black_box import (
    ENDED,
    OVERDUE,
    PAST_DEADLINE,
    RUNNING,
    RUNNING_ALONE,
    SUCCEEDED,
    SUCCEEDED_WITH_MORE,
    Contents,
)
from pulse_runtime.store.reports import Burial
from pulse_supervisor import Died

SILENT = "silent for"
NOT_ITS_FAULT = (
    SILENT,
    "it did not drain in time",
    "it was not ready within",
    "the tree was told twice to end",
    "it may not claim",
    "it does not read",
    "its control wire broke",
    "it closed its control wire",
    "its supervisor fails",
)
"""Beginnings of reasons for which an executor is killed that no job of it caused, or that we cannot tell."""
MOST = 2**63 - 1


def burial_of(death: Died) -> Burial | None:
    """None: it never had an id, so it never held a lease.

    Finished successes are settled. Successes whose result or follow-ups were in a lost report, and ends that were, run
    again, uncharged. Of those that ran: one alone is charged with the cause, several are suspects; none is, if the end
    was not theirs; and if it is known whose it was, that one alone. What was merely delivered goes back as if it had
    never been claimed.
    """
    box = black_box.read(death.box)
    if not 0 < box.executor <= MOST:
        return None
    burial = Burial(box.executor, why_of(death))
    verdict, cause = _verdict(death, box), _cause(death, box)
    convicted = "crash" if _is_for_overdue(death, box) else verdict
    for each in box.claims:
        mask = "".join("1" if state == SUCCEEDED else "0" for state in each.states)
        if "1" in mask:
            burial.settled.append((each.claim, each.token, mask))
        for position, state in enumerate(each.states):
            if state in (RUNNING, RUNNING_ALONE):
                burial.ended.append((each.claim, each.token, position, verdict, cause))
            elif state == OVERDUE:
                burial.ended.append((each.claim, each.token, position, convicted, cause))
            elif state in (SUCCEEDED_WITH_MORE, ENDED):
                burial.ended.append((each.claim, each.token, position, "lost", "its report was lost with its executor"))
    return burial


def plain_burial_of(burial: Burial) -> Burial:
    """For a box that the database refuses, because the dead has scribbled into it: nobody knows what ran."""
    return Burial(burial.executor, f"{burial.why}; its black box cannot be used", rest="lost")


def why_of(death: Died) -> str:
    return f"{death.how}: {death.why}" if death.why else death.how


def _verdict(death: Died, box: Contents) -> str:
    """A silence is a job's fault only if a suspect ran alone: it has been there at three silences before."""
    alone = any(RUNNING_ALONE in each.states for each in box.claims)
    silent = death.why is not None and death.why.startswith(SILENT)
    if box.left or (death.why is not None and death.why.startswith(NOT_ITS_FAULT) and not (silent and alone)):
        return "lost"
    if _is_for_overdue(death, box):
        return "lost"
    running = sum(state in (RUNNING, RUNNING_ALONE, OVERDUE) for each in box.claims for state in each.states)
    return "crash" if running == 1 else "suspect"


def _is_for_overdue(death: Died, box: Contents) -> bool:
    """It was killed for jobs that were asked to end and did not. Had its loop stood still, nobody could tell which."""
    by_name = death.why is not None and death.why.startswith(PAST_DEADLINE)
    return by_name and not box.left and any(OVERDUE in each.states for each in box.claims)


def _cause(death: Died, box: Contents) -> str:
    if box.left:
        return "its executor had to end before it did"
    return f"its executor was killed: {death.why}" if death.why else f"its executor {death.how} while it ran"
