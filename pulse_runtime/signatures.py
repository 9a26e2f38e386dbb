"""What a function's signature says of its jobs: their arguments, and whether it wants a Context."""

import copy
import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any

import msgspec

from pulse_runtime.context import Context
from pulse_runtime.errors import PulseError

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_CHANGE = (list, dict, set, bytearray)


class BadHandler(PulseError, TypeError):  # noqa: N818
    """A function that cannot be a handler, or a kind that is taken. The message says what to change."""

    exit_code = 78


def signature_of(function: Callable[..., Any]) -> tuple[bool, inspect.Signature]:
    """Whether it wants a Context, and the parameters that are the job's. Raises BadHandler."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise BadHandler(f"{place_of(function)} is a generator: nobody would run it. Return instead of yielding")
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    takes_context = bool(parameters) and _is_context(parameters[0].annotation, function)
    mine = parameters[1:] if takes_context else parameters
    for parameter in mine:
        if parameter.kind not in _NAMED:
            raise BadHandler(
                f"{place_of(function)}: the parameter {parameter} has no name to send. Use named parameters only"
            )
        if _has_context(parameter.annotation, function):  # no job has one to send
            raise BadHandler(
                f"{place_of(function)}: the parameter {parameter.name} cannot be a Context there. Make it the first "
                "one, annotated with Context alone"
            )
    return takes_context, signature.replace(parameters=mine)


def struct_of(name: str, function: Callable[..., Any], signature: inspect.Signature) -> type[msgspec.Struct]:
    """The parameters as a Struct. Raises what is wrong with their annotations."""
    hints = typing.get_type_hints(_annotated(function), include_extras=True)
    fields: list[Any] = []
    for each, parameter in signature.parameters.items():
        annotation = hints.get(each, Any)
        has_default = parameter.default is not inspect.Parameter.empty
        fields.append((each, annotation, _default(parameter.default)) if has_default else (each, annotation))
    return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)


def place_of(function: Callable[..., Any]) -> str:
    """Where it is, for messages."""
    name = getattr(function, "__qualname__", None)
    return repr(function) if name is None else f"{function.__module__}.{name}"


def _is_context(annotation: Any, function: Callable[..., Any]) -> bool:
    """Also as text, which annotations are under `from __future__ import annotations`."""
    if not isinstance(annotation, str):
        return annotation is Context
    first, *rest = annotation.split(".")
    found = getattr(inspect.unwrap(_annotated(function)), "__globals__", {}).get(first)
    for name in rest:
        found = getattr(found, name, None)
    # What is imported for type checkers alone has its name and nothing else.
    return annotation.rpartition(".")[2] == "Context" if found is None else found is Context


def _has_context(annotation: Any, function: Callable[..., Any]) -> bool:
    parts = annotation.split("|") if isinstance(annotation, str) else [annotation, *typing.get_args(annotation)]
    return any(_is_context(part.strip() if isinstance(part, str) else part, function) for part in parts)


def _annotated(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function whose annotations are meant: not those of a partial, or of an object that can be called."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) or inspect.isclass(function) else type(function).__call__


def _default(value: Any) -> Any:
    """Defaults that can change are made anew for each job, which would see what others have made of them."""
    return msgspec.field(default_factory=lambda: copy.deepcopy(value)) if isinstance(value, _CHANGE) else value
