"""The reloader's process: tries imports in processes of their own, and never imports handlers itself."""

import contextlib
import os
import selectors
import signal
import sys
from collections.abc import Callable

import msgspec

from pulse_runtime.actors.loop import run
from pulse_runtime.actors.reloader import Reloader, Tried
from pulse_runtime.errors import PulseError
from pulse_runtime.events import Log
from pulse_runtime.loading import load
from pulse_runtime.settings import RuntimeSettings
from pulse_runtime.sources import blamed_by, imported
from pulse_supervisor import Hub, Seat
from pulse_supervisor.process import fork


def main(seat: Seat) -> int:
    settings: RuntimeSettings = seat.facts["settings"]
    hub = Hub(seat, {})
    trial = Trial(hub, settings.handlers)
    log = Log(str(seat.peer), pretty=settings.pretty)
    hub.ready()
    try:
        return run(Reloader(trial.begin, hub.roll, log), hub, log)
    finally:
        trial.end()


class Trial:
    """An import in a child, which tells what it read through a pipe."""

    def __init__(self, hub: Hub, handlers: tuple[str, ...]) -> None:
        self._hub = hub
        self._handlers = handlers
        self._pid = 0

    def begin(self, then: Callable[[Tried], None]) -> None:
        """One at a time. `then` is called from the hub's poll."""
        reading, writing = os.pipe()
        self._pid = fork(
            lambda: _import(self._handlers, writing),
            title="pulse: trying handlers",
            keep=(writing,),
            killed_with_us=True,
            leads_group=True,
        )
        os.close(writing)
        said = bytearray()

        def read(_: int) -> None:
            data = os.read(reading, 65_536)
            said.extend(data)
            if not data:
                self._hub.watch(reading, 0, read)
                os.close(reading)
                then(self._ended(bytes(said)))

        self._hub.watch(reading, selectors.EVENT_READ, read)

    def end(self) -> None:
        """Of an import that is under way."""
        if self._pid:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)

    def _ended(self, said: bytes) -> Tried:
        status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        self._pid = 0
        if not said:
            return Tried([], f"importing the handlers ended the process with status {status}")
        return msgspec.json.decode(said, type=Tried)


def _import(handlers: tuple[str, ...], writing: int) -> int:
    before, blamed, error = list(sys.modules), [], None
    try:
        load(handlers)
    except PulseError as wrong:
        error, blamed = str(wrong), blamed_by(wrong)
    with open(writing, "wb") as pipe:
        pipe.write(msgspec.json.encode(Tried([*imported(before), *blamed], error)))
    return 0
