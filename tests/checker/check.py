"""The history checker: what of a recorded history breaks the contract."""

from checker import rules_jobs, rules_runs
from checker.history import History
from checker.index import Index


def check(history: History) -> list[str]:
    """Problems, each with the job it is about; nothing is what we want.

    Every kind of job must record its runs (apps.history_jobs does). Jobs that are not finished may still wait or run:
    ask when nothing runs any more, or a run that goes on meanwhile looks like one that the database knows nothing of.
    """
    index = Index(history)
    return [problem for rule in (*rules_jobs.RULES, *rules_runs.RULES) for problem in rule(index)]
