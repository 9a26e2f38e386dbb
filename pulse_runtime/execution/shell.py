"""What an executor needs of a loop. There is a shell for asyncio and one for trio; jobs are native tasks of either."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

Ended = Callable[[Any, BaseException | None], None]
"""Told in the loop, once, how a handler ended: its result, or what it raised (Interrupted if it was cancelled)."""


class Cancellable(Protocol):
    """A task that runs a handler."""

    def cancel(self) -> None:
        """Asks it to end, also before it has begun; asking twice is asking once."""
        ...


class Shell(Protocol):
    """A loop, as an executor sees it. Everything but `call_from_thread` is for the loop's own thread."""

    def spawn(self, coroutine: Coroutine[Any, Any, Any], ended: Ended) -> Cancellable:
        """Run it as a task with context variables of its own."""
        ...

    def soon(self, callback: Callable[[], None]) -> None:
        """Call back when everything has had its turn that can run now."""
        ...

    def call_from_thread(self, callback: Callable[[], None]) -> None:
        """From any thread: call back in the loop."""
        ...

    def wake_at(self, moment: float) -> None:
        """`wake` is called then, by the monotonic clock; it may be called earlier too."""
        ...

    def broken(self, error: Exception) -> None:
        """What is ours went wrong, not a handler: the executor ends with it. A loop would tell of it and go on, with an
        event half dealt with and jobs that nobody runs and everybody believes to be held."""
        ...


class Driven(Protocol):
    """What a shell drives: an executor."""

    done: bool

    def receive(self, event: Any, now: float) -> None: ...

    def wake(self, now: float) -> None: ...


Begin = Callable[[Shell], Driven]
Leave = Callable[[Exception | None], None]
"""Ends the process: it is done, or this is what is broken."""
