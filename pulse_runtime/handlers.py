"""Handlers: functions that run jobs. `@job` gives a function a kind, options and a typed `.call(…)`."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, TypedDict, TypeVar, Unpack, overload

import msgspec

from pulse_runtime.context import Context
from pulse_runtime.job_spec import Job, check
from pulse_runtime.job_values import BadJob, plain
from pulse_runtime.retry_policy import Duration, Retry
from pulse_runtime.signatures import BadHandler, place_of, signature_of, struct_of

P = ParamSpec("P")
R = TypeVar("R")


class HandlerOptions(TypedDict, total=False):
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
        self.takes_context, self._signature = signature_of(function)
        try:
            check(Job(kind, **options))  # here, and not by each of its jobs
        except BadJob as error:
            raise BadHandler(f"{place_of(function)}: @job({error.field}=…): {error.problem}") from None

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
        return struct_of(f"{self.kind}_arguments", self.function, self._signature)


class Registry:
    """Handlers by kind."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler[..., Any]] = {}

    def add(self, handler: Handler[..., Any]) -> None:
        """Refuses a kind that another function has; the same function again (a reloaded module) replaces itself."""
        other = self._handlers.get(handler.kind)
        if other is not None and place_of(other.function) != place_of(handler.function):
            raise BadHandler(
                f"the kind {handler.kind!r} is that of {place_of(other.function)} already, so "
                f"{place_of(handler.function)} needs another: @job(kind=…)"
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
        kind = self._kind or getattr(function, "__name__", None)
        if kind is None:
            raise BadHandler(f"{place_of(function)} has no name to be its kind: @job(kind=…)")
        handler: Handler[..., R] = Handler(function, kind, self._options)
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
