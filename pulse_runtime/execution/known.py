"""The handlers of this process, as running them needs them: looked up, compiled and measured once."""

import inspect
from collections.abc import Callable
from typing import Any

import msgspec

from pulse_runtime.handlers import Handler, Registry
from pulse_runtime.retry_policy import Retry, seconds_of


class Known:
    """A handler, its decoder and what it says of its jobs."""

    __slots__ = (
        "blocks",
        "decode",
        "function",
        "handler",
        "keep_result",
        "plain",
        "retry",
        "takes_context",
        "timeout_s",
    )

    def __init__(self, handler: Handler[..., Any]) -> None:
        self.handler = handler
        self.function: Callable[..., Any] = handler.function
        self.decode = msgspec.json.Decoder(handler.arguments).decode
        self.takes_context = handler.takes_context
        self.blocks = not _is_async(handler.function)
        said = handler.options
        self.timeout_s = None if (timeout := said.get("timeout")) is None else seconds_of(timeout)
        self.keep_result = bool(said.get("keep_result"))
        self.retry: Retry | None = said.get("retry")
        self.plain = not self.takes_context and not self.keep_result and self.timeout_s is None
        """Nothing is to be watched while it runs, or kept when it has succeeded."""


class Directory(dict[str, "Known | None"]):
    """Known handlers by kind: `directory[kind]` is None if there is no such handler here.

    Raises what is wrong with its signature.
    """

    def __init__(self, registry: Registry) -> None:
        super().__init__()
        self._registry = registry

    def __missing__(self, kind: str) -> Known | None:
        handler = self._registry.get(kind)
        if handler is None:  # not remembered: kinds are what anyone enqueues
            return None
        known = self[kind] = Known(handler)
        return known


def _is_async(function: Any) -> bool:
    """Also an object whose call is a coroutine function, and a partial of one."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004
