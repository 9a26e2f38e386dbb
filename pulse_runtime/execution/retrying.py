"""What follows from a failure, where the database cannot decide it alone: it knows no code and no exceptions."""

import random
from collections.abc import Mapping
from typing import Any

from pulse_runtime.retry_policy import Retry, name_of

Verdict = tuple[str, int | None]
"""An ending in the words of `pulse.close`, and a delay in ms; None is by the policy that travels with the job."""


def after_failure(
    error: BaseException, *, failures: int, told: Mapping[str, Any] | None, of_handler: Retry | None
) -> Verdict:
    """`told` is the policy that came with the job; without one (it was enqueued by name), that of its handler holds.

    `failures` counts this one.
    """
    if told is None:
        if of_handler is None:
            return "fail", None
        if _is_any(error, of_handler.names_of_never):
            return "dead", None
        return "fail", _delay_ms(of_handler, failures, error)
    if _is_any(error, told.get("never") or ()):
        return "dead", None
    if told.get("kind") == "computed" and of_handler is not None and of_handler.compute is not None:
        return "fail", _delay_ms(of_handler, failures, error)
    return "fail", None


def _is_any(error: BaseException, names: Any) -> bool:
    return any(name_of(each) in names for each in type(error).__mro__ if issubclass(each, BaseException))


def _delay_ms(policy: Retry, failures: int, error: BaseException) -> int | None:
    try:
        delay_s = policy.delay_s(failures, error)
    except BaseException:  # a policy that fails must not become the job's end, let alone its executor's
        return None
    if policy.compute is None:
        delay_s *= random.uniform(0.9, 1.1)  # noqa: S311 (so that not all come at once)
    return round(delay_s * 1000)
