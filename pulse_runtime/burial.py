"""What a death means for the jobs of the dead: decided from the black box alone."""

from pulse_runtime import black_box
from pulse_runtime.black_box import ENDED, RUNNING, SUCCEEDED, SUCCEEDED_WITH_MORE
from pulse_runtime.store.reports import Burial
from pulse_supervisor import Died

NOT_ITS_FAULT = (
    "it did not drain in time",
    "the tree was told twice to end",
    "silent for",
    "it may not claim",
    "it does not read",
    "its control wire broke",
    "it closed its control wire",
    "its supervisor fails",
)
"""Beginnings of reasons for which an executor is killed that no job of it caused, or that we cannot tell."""


def burial_of(death: Died) -> Burial | None:
    """None: it never had an id, so it never held a lease.

    Finished successes are settled. Successes whose result or follow-ups were in a lost report, and ends that were, run
    again, uncharged. Of those that ran: one alone is charged with the cause, several are suspects; none is, if the end
    was not theirs. What was merely delivered goes back as if it had never been claimed.
    """
    executor, found = black_box.read(death.box)
    if not executor:
        return None
    why = f"{death.how}: {death.why}" if death.why else death.how
    burial = Burial(executor, why)
    running = sum(each.states.count(RUNNING) for each in found)
    verdict = _verdict(death, running)
    for each in found:
        mask = "".join("1" if state == SUCCEEDED else "0" for state in each.states)
        if "1" in mask:
            burial.settled.append((each.claim, each.token, mask))
        for position, state in enumerate(each.states):
            if state == RUNNING:
                burial.ended.append((each.claim, each.token, position, verdict, _cause(death)))
            elif state in (SUCCEEDED_WITH_MORE, ENDED):
                burial.ended.append((each.claim, each.token, position, "lost", "its report was lost with its executor"))
    return burial


def _verdict(death: Died, running: int) -> str:
    if death.why is not None and death.why.startswith(NOT_ITS_FAULT):
        return "lost"
    return "crash" if running == 1 else "suspect"


def _cause(death: Died) -> str:
    return f"its executor was killed: {death.why}" if death.why else f"its executor {death.how} while it ran"
