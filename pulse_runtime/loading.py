"""Importing the modules with handlers. Never done by the supervisor."""

import importlib
import os
import sys
import traceback
from collections.abc import Sequence

import msgspec

from pulse_runtime.errors import ConfigError
from pulse_runtime.handlers import Handler, registry


def load(names: Sequence[str]) -> None:
    """Import `module` or `module:object`, from the current folder too. Raises ConfigError with a short traceback."""
    here = os.getcwd()  # noqa: PTH109 (text, as sys.path wants it)
    if here not in sys.path:
        sys.path.insert(0, here)
    for name in names:
        module, _, attribute = name.partition(":")
        try:
            found = importlib.import_module(module)
        except BaseException as error:
            raise ConfigError(f"cannot import {name}:\n{_short(error)}", source="--handlers") from error
        if attribute:
            _take(name, getattr(found, attribute, None))
    for kind in registry:
        _compile(kind)


def _take(name: str, found: object) -> None:
    if found is None:
        raise ConfigError(f"there is no such thing as {name}", source="--handlers")
    if not isinstance(found, Handler):
        problem = f"{name} is no handler but a {type(found).__name__}: name what @job made, or the module alone"
        raise ConfigError(problem, source="--handlers")
    if registry.get(found.kind) is not found:
        registry.add(found)


def _compile(kind: str) -> None:
    """Now, or each of its jobs would fail for it."""
    handler = registry.get(kind)
    assert handler is not None  # noqa: S101
    try:
        msgspec.json.Decoder(handler.arguments)
    except Exception as error:
        hint = ". Import it at run time, not for type checkers alone" if isinstance(error, NameError) else ""
        problem = f"the arguments of {handler.describes()} in {handler.function.__module__} cannot be read: "
        raise ConfigError(f"{problem}{type(error).__name__}: {error}{hint}", source="--handlers") from error


def _short(error: BaseException) -> str:
    """The traceback without the machinery of imports."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__)
        if "importlib" not in frame.filename and not frame.filename.endswith("pulse_runtime/loading.py")
    ]  # fmt: skip
    lines = traceback.format_list(frames[-5:]) + traceback.format_exception_only(error)
    return "".join(lines).rstrip()
