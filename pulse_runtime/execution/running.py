"""From a delivery to an attempt, and from how a handler ended to an outcome. Runs nothing, and knows no loop."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from pulse_runtime.execution.attempt import Attempt, Interrupted
from pulse_runtime.execution.delivery import Delivery
from pulse_runtime.execution.known import Directory, Known
from pulse_runtime.execution.retrying import after_failure
from pulse_runtime.execution.telling import clean, told
from pulse_runtime.handlers import Registry
from pulse_runtime.job_values import encode_any
from pulse_runtime.messages import Progress
from pulse_runtime.verdicts import Cancel, Snooze, Verdict

MOST_RESULT = 1 << 20
MOST_REASON = 2000


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """How it ended, in the words of `pulse.close`; None for success. `result` is JSON, if it is to be kept."""

    took_us: int
    ending: str | None = None
    delay_ms: int | None = None
    error: str | None = None
    result: str | None = None
    follow_ups: Sequence[str] = ()


class Runner:
    """Judges by the handlers of this process."""

    def __init__(self, registry: Registry) -> None:
        self._directory = Directory(registry)
        self.tell: Callable[[Progress], None] = lambda _: None
        """Hears of progress, in whichever thread it is made."""

    def begin(self, delivery: Delivery, queue: str) -> Attempt | Outcome:
        """An attempt, or the outcome of one that cannot begin. Never raises."""
        try:
            known = self._directory[delivery.kind]
            if known is None:  # put off, uncharged: another runtime may have it, or this one after its next deploy
                return Outcome(0, "put_off", None, f"no handler for {delivery.kind!r} here")
            try:
                given = msgspec.structs.asdict(known.decode(delivery.args))
            except msgspec.ValidationError as error:
                why = f"BadArguments: its arguments do not fit {known.handler.describes()}: {error}"
                return _failed(delivery, known, error, 0, clean(why))
            return Attempt(delivery, known, given, queue, self.tell)
        except BaseException as error:
            return Outcome(0, "fail", None, told(error))

    def judge(self, attempt: Attempt, result: Any, error: BaseException | None) -> Outcome:
        """What a handler's return value, or what it raised, means. Never raises."""
        took_us = attempt.took_us
        follow_ups = attempt.follow_ups.end() if attempt.follow_ups is not None else ()
        if error is None:
            try:
                kept = encode_any("result", result, most=MOST_RESULT) if attempt.keeps_result else None
            except BaseException as wrong:
                error = wrong
            else:
                return Outcome(took_us, result=kept, follow_ups=follow_ups)
        try:
            return _judge_error(attempt, _only(error), took_us, follow_ups)
        except BaseException as wrong:  # verdicts, policies and the words of errors are people's code too
            return Outcome(took_us, "fail", None, told(wrong))


def _judge_error(attempt: Attempt, error: BaseException, took_us: int, follow_ups: Sequence[str]) -> Outcome:
    if isinstance(error, Verdict):
        return _judge_verdict(error, took_us, follow_ups)
    if attempt.wish == "cancel":  # by whatever it ended: nobody wants it to be tried again
        return Outcome(took_us, "cancel", None, _reason(attempt.reason) or "canceled")
    if attempt.wish == "stop":  # neither is it to blame for what it makes of being stopped
        return Outcome(took_us, "lost", None, attempt.reason)
    besides = ""
    if attempt.wish == "timeout":
        if isinstance(error, Interrupted):
            error = TimeoutError(attempt.reason).with_traceback(error.__traceback__)
        else:  # what it made of that, or what came of it anyway
            besides = f" ({attempt.reason})"
    return _failed(attempt.delivery, attempt.known, error, took_us, told(error, besides))


def _judge_verdict(verdict: Verdict, took_us: int, follow_ups: Sequence[str]) -> Outcome:
    reason = _reason(verdict.reason) or None
    if isinstance(verdict, Snooze):
        return Outcome(took_us, "snooze", round(verdict.delay_s * 1000), reason, follow_ups=follow_ups)
    if isinstance(verdict, Cancel):
        return Outcome(took_us, "cancel", None, reason or "canceled by its handler", follow_ups=follow_ups)
    return Outcome(took_us, "dead", None, reason or "failed for good by its handler", follow_ups=follow_ups)


def _failed(delivery: Delivery, known: Known, error: BaseException, took_us: int, words: str) -> Outcome:
    policy = delivery.options.get("retry") if delivery.rare else None
    ending, delay_ms = after_failure(
        error,
        failures=delivery.charged + 1,
        told=policy if isinstance(policy, dict) else None,
        of_handler=known.retry,
    )
    return Outcome(took_us, ending, delay_ms, words)


def _only(error: BaseException) -> BaseException:
    """Out of groups of one, which is what a task group makes of an error in it."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _reason(reason: object) -> str:
    return clean(str(reason))[:MOST_REASON]
