"""Running one handler here and now: no database, no lease, no retry."""

import asyncio
import difflib
import inspect
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

import msgspec

from pulse_runtime.context import Context
from pulse_runtime.errors import PulseError
from pulse_runtime.execution.known import Known
from pulse_runtime.handlers import Handler, registry
from pulse_runtime.ids import uuid7
from pulse_runtime.job_spec import Job

Say = Callable[[float, float | None, str | None], None]


class UnknownKind(PulseError):  # noqa: N818
    """No handler of this kind was imported."""

    exit_code = 3

    def __init__(self, kind: str, known: Sequence[str]) -> None:
        close = difflib.get_close_matches(kind, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(known) or 'none'}"
        super().__init__(f"no handler for {kind!r} in the modules of --handlers; {hint}")
        self.kind = kind


@dataclass(frozen=True)
class Ran:
    """How it ended: with a result, or with what it raised."""

    took_s: float
    result: Any = None
    error: BaseException | None = None
    enqueued: Sequence[Job] = ()
    """What it added with `ctx.enqueue`, which goes nowhere: there is no outcome for it to commit with."""


def handler_of(kind: str) -> Handler[..., Any]:
    """The handler that was imported for a kind. Raises UnknownKind."""
    handler = registry.get(kind)
    if handler is None:
        raise UnknownKind(kind, list(registry))
    return handler


def arguments(handler: Handler[..., Any], given: Mapping[str, Any], words: Mapping[str, str]) -> dict[str, Any]:
    """What the handler is called with, from values and from words of a command line, which are read by its signature.

    Raises msgspec.ValidationError, which names the argument.
    """
    types = {field.name: field.type for field in msgspec.structs.fields(handler.arguments)}
    read = {name: _value(word, types.get(name, Any)) for name, word in words.items()}
    return msgspec.structs.asdict(msgspec.convert({**given, **read}, handler.arguments, strict=False))


def run(handler: Handler[..., Any], given: Mapping[str, Any], *, loop: str = "uvloop", say: Say | None = None) -> Ran:
    """Call it. Whatever it raises is in the answer, except Ctrl-C. `say` hears of its progress."""
    known = Known(handler)
    context = _context(known, say)
    before = (context,) if handler.takes_context else ()
    result, error = None, None
    began = time.perf_counter()
    try:
        if known.blocks:
            result = handler.function(*before, **given)
            if inspect.isawaitable(result):  # a decorator hides that it is async
                result = _loop(loop)(partial(_wait_for, result))
        else:
            result = _loop(loop)(lambda: handler.function(*before, **given))
    except KeyboardInterrupt:
        raise
    except BaseException as raised:
        error = raised
    return Ran(time.perf_counter() - began, result, error, context.enqueued)


def _context(known: Known, say: Say | None) -> Context:
    """As an executor would make it for the first attempt of a job that brings no options."""
    said = known.handler.options
    attempts = said.get("max_attempts") or (known.retry.attempts if known.retry else 25)
    queue = said.get("queue") or "default"
    kind, timeout_s = known.handler.kind, known.timeout_s
    return Context(uuid7(), kind, queue=queue, max_attempts=attempts, timeout_s=timeout_s, say=say)


async def _wait_for(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def told(handler: Handler[..., Any], error: BaseException) -> str:
    """The traceback from the handler's own frame on."""
    own = inspect.unwrap(handler.function)
    trace = error.__traceback__
    while trace is not None and not (isinstance(own, FunctionType) and trace.tb_frame.f_code is own.__code__):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace or error.__traceback__))


def _value(word: str, kind: Any) -> Any:
    """`3` is text for a `str` and a number for an `int`; a list or a mapping is written as JSON."""
    decoded = _json(word)
    for value in (decoded, word) if kind is Any else (word, decoded):
        try:
            msgspec.convert(value, kind, strict=False)
        except msgspec.ValidationError:
            continue
        return value
    return word


def _json(word: str) -> Any:
    try:
        return msgspec.json.decode(word)
    except msgspec.DecodeError:
        return word


def _loop(name: str) -> Callable[[Callable[[], Any]], Any]:
    if name == "trio":
        import trio

        return trio.run
    from pulse_runtime.execution.asyncio_shell import loop_factory

    def run_in_asyncio(call: Callable[[], Any]) -> Any:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            return runner.run(call())

    return run_in_asyncio
