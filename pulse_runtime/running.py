"""Running one delivery: arguments, handler, and how it ended."""

import asyncio
import inspect
import time
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

from pulse_runtime.delivery import Delivery
from pulse_runtime.handlers import Context, Handler, Registry

MOST_ERROR = 8000
MOST_RESULT = 1 << 20


@dataclass(frozen=True)
class Outcome:
    """How it ended, in the words of `pulse.close`; None for success. `result` is JSON, if it is to be kept."""

    took_us: int
    ending: str | None = None
    delay_ms: int | None = None
    error: str | None = None
    result: str | None = None


class Runner:
    """Runs deliveries by the handlers of this process."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._known: dict[str, tuple[Handler[..., Any], Callable[[msgspec.Raw], Any]]] = {}
        self._put_off: dict[str, int] = {}

    async def run(self, delivery: Delivery) -> Outcome:
        """Never raises, except CancelledError."""
        began = time.perf_counter_ns()
        known = self._known.get(delivery.kind) or self._find(delivery.kind)
        if known is None:
            return self._unknown(delivery.kind)
        try:
            handler, decode = known
            result = await self._call(handler, decode, delivery)
            kept = self._kept(delivery, result)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            return Outcome(_since(began), "fail", None, _told(error))
        return Outcome(_since(began), result=kept)

    async def _call(self, handler: Handler[..., Any], decode: Callable[[msgspec.Raw], Any], delivery: Delivery) -> Any:
        given = msgspec.structs.asdict(decode(delivery.args))
        before = (Context(UUID(delivery.id), delivery.kind, delivery.attempt),) if handler.takes_context else ()
        timeout_ms = delivery.options.get("timeout_ms") if delivery.rare else None
        if timeout_ms is None:
            return await self._invoke(handler, before, given)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                return await self._invoke(handler, before, given)
        except TimeoutError as error:
            raise TimeoutError(f"it did not end within {timeout_ms / 1000:g} s") from error

    def _invoke(self, handler: Handler[..., Any], before: tuple[Any, ...], given: dict[str, Any]) -> Awaitable[Any]:
        if inspect.iscoroutinefunction(handler.function):
            found: Awaitable[Any] = handler.function(*before, **given)
            return found
        return asyncio.to_thread(handler.function, *before, **given)

    def _find(self, kind: str) -> tuple[Handler[..., Any], Callable[[msgspec.Raw], Any]] | None:
        handler = self._registry.get(kind)
        if handler is not None:
            self._known[kind] = (handler, msgspec.json.Decoder(handler.arguments).decode)
        return self._known.get(kind)

    def _unknown(self, kind: str) -> Outcome:
        """Put off, uncharged: another runtime may have the handler, or this one after its next deploy."""
        tries = self._put_off[kind] = self._put_off.get(kind, -1) + 1
        return Outcome(0, "put_off", min(60_000, 1000 * 2 ** min(tries, 6)), f"no handler for {kind!r} here")

    def _kept(self, delivery: Delivery, result: Any) -> str | None:
        if not delivery.rare or not delivery.options.get("keep_result"):
            return None
        text = msgspec.json.encode(result)
        if len(text) > MOST_RESULT:
            raise ValueError(f"its result has {len(text)} bytes as JSON and may have {MOST_RESULT}")
        return text.decode()


def _since(began: int) -> int:
    return (time.perf_counter_ns() - began) // 1000


def _told(error: BaseException) -> str:
    """Kind and words of the error first, then where it was raised."""
    first = f"{type(error).__name__}: {error}".rstrip(": ")
    trace = "".join(traceback.format_exception(error))
    return f"{first}\n\n{trace}"[:MOST_ERROR].replace("\0", "�")
