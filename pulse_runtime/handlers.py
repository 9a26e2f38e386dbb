"""Handlers: functions that run jobs. `@job` gives a function a kind, options and a typed `.call(…)`."""

import functools
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, Unpack, overload

import msgspec

from pulse_runtime.context import Context
from pulse_runtime.errors import PulseError
from pulse_runtime.job_spec import Job
from pulse_runtime.job_values import BadJob, plain
from pulse_runtime.retry_policy import Duration, Retry

P = ParamSpec("P")
R = TypeVar("R")
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class BadHandler(PulseError, TypeError):  # noqa: N818
    """A function that cannot be a handler, or a kind that is taken. The message says what to change."""

    exit_code = 78


class HandlerOptions(typing.TypedDict, total=False):
    """What a handler says of its jobs; `enqueue` can say otherwise for one job."""

    queue: str
    priority: int
    max_attempts: int
    retry: Retry
    timeout: Duration
    keep_result: bool
    max_args_bytes: int


class Handler(Generic[P, R]):
    """A function that runs jobs of one kind. Calling it calls the function; `.call(…)` describes a job for it."""

    def __init__(self, function: Callable[..., R], kind: str, options: HandlerOptions) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.kind = kind
        self.options = options
        self.takes_context, self._signature = _signature_of(function)

    def __call__(self, *args: Any, **kwargs: Any) -> R:
        return self.function(*args, **kwargs)

    def call(self, *args: P.args, **kwargs: P.kwargs) -> Job:
        """The job that calls the function with these arguments. Raises BadJob when they do not fit its signature."""
        try:
            given = self._signature.bind(*args, **kwargs).arguments
            sent = plain(given)
            self.decode(sent)
        except RecursionError:
            raise BadJob("args", "it is nested too deep") from None
        except (TypeError, ValueError, OverflowError) as error:
            raise BadJob("args", f"{self.kind} does not take them: {error}") from error
        return Job(self.kind, sent, **self.options)

    def describes(self) -> str:
        """The kind with the parameters of its jobs, for messages."""
        return f"{self.kind}{self._signature.replace(return_annotation=inspect.Signature.empty)}"

    def decode(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The keyword arguments of the function. Raises msgspec.ValidationError when they do not fit."""
        return msgspec.structs.asdict(msgspec.convert(args, self.arguments))

    @functools.cached_property
    def arguments(self) -> type[msgspec.Struct]:
        """The parameters as a Struct. Made when first needed: annotations may name what is defined later."""
        hints = typing.get_type_hints(self.function, include_extras=True)
        fields: list[Any] = []
        for name, parameter in self._signature.parameters.items():
            annotation = hints.get(name, Any)
            has_default = parameter.default is not inspect.Parameter.empty
            fields.append((name, annotation, _default(parameter.default)) if has_default else (name, annotation))
        return msgspec.defstruct(f"{self.kind}_arguments", fields, kw_only=True, forbid_unknown_fields=True)


class Registry:
    """Handlers by kind."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler[..., Any]] = {}

    def add(self, handler: Handler[..., Any]) -> None:
        """Refuses a kind that another function has; the same function again (a reloaded module) replaces itself."""
        other = self._handlers.get(handler.kind)
        if other is not None and _place(other.function) != _place(handler.function):
            raise BadHandler(
                f"the kind {handler.kind!r} is that of {_place(other.function)} already, so {_place(handler.function)} "
                "needs another: @job(kind=…)"
            )
        self._handlers[handler.kind] = handler

    def get(self, kind: str) -> Handler[..., Any] | None:
        """The handler of a kind, if its module was imported."""
        return self._handlers.get(kind)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._handlers))


registry = Registry()
"""The handlers of this process: those of the modules that it imported."""


class _Decorator:
    def __init__(self, kind: str | None, options: HandlerOptions) -> None:
        self._kind = kind
        self._options = options

    @overload
    def __call__(self, function: Callable[Concatenate[Context, P], R]) -> Handler[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R]) -> Handler[P, R]: ...
    def __call__(self, function: Callable[..., R]) -> Handler[..., R]:
        handler: Handler[..., R] = Handler(function, self._kind or function.__name__, self._options)
        registry.add(handler)
        return handler


@overload
def job(function: Callable[Concatenate[Context, P], R], /) -> Handler[P, R]: ...
@overload
def job(function: Callable[P, R], /) -> Handler[P, R]: ...
@overload
def job(*, kind: str | None = None, **options: Unpack[HandlerOptions]) -> _Decorator: ...
def job(function: Any = None, /, *, kind: str | None = None, **options: Unpack[HandlerOptions]) -> Any:
    """Make a function the handler of a kind: its own name, unless `kind` says another. Plain or with options."""
    unknown = options.keys() - HandlerOptions.__annotations__.keys()
    if unknown:
        raise BadHandler(f"@job has no option {min(unknown)!r}; it has {', '.join(HandlerOptions.__annotations__)}")
    decorator = _Decorator(kind, options)
    return decorator if function is None else decorator(function)


def _signature_of(function: Callable[..., Any]) -> tuple[bool, inspect.Signature]:
    """Whether it wants a Context, and the parameters that are the job's."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise BadHandler(f"{_place(function)} is a generator: nobody would run it. Return instead of yielding")
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    takes_context = bool(parameters) and _is_context(parameters[0].annotation)
    mine = parameters[1:] if takes_context else parameters
    for parameter in mine:
        if parameter.kind not in _NAMED:
            raise BadHandler(
                f"{_place(function)}: the parameter {parameter} has no name to send. Use named parameters only"
            )
    return takes_context, signature.replace(parameters=mine)


def _is_context(annotation: Any) -> bool:
    """Also as text, which annotations are under `from __future__ import annotations`."""
    return annotation is Context or (isinstance(annotation, str) and annotation.rpartition(".")[2] == "Context")


def _default(value: Any) -> Any:
    """Defaults that can change are made anew: msgspec refuses to share them."""
    return msgspec.field(default_factory=lambda: value) if isinstance(value, list | dict | set | bytearray) else value


def _place(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
