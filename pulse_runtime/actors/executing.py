"""The executor's process: imports the handlers, and drives the executor with the loop that was asked for."""

import gc
import io
import os
import sys
import traceback

from pulse_runtime.actors.executor import Executor
from pulse_runtime.errors import PulseError
from pulse_runtime.events import Log
from pulse_runtime.execution.black_box import BlackBox
from pulse_runtime.execution.running import Runner
from pulse_runtime.execution.shell import Shell
from pulse_runtime.handlers import registry
from pulse_runtime.identity import start_of
from pulse_runtime.loading import load
from pulse_runtime.messages import Hello
from pulse_runtime.settings import RuntimeSettings
from pulse_runtime.topology import incoming
from pulse_supervisor import Hub, Seat
from pulse_supervisor.process import SOFTWARE

COLLECT = (10_000, 20, 20)
"""A job is a dozen objects that are gone when it has ended. Looking through them at every 700th, as is the default,
was 14 % of a no-op job."""


def main(seat: Seat) -> int:
    settings: RuntimeSettings = seat.facts["settings"]
    log = Log(str(seat.peer), pretty=settings.pretty)
    _print_by_lines()
    try:
        load(settings.handlers)
    except PulseError as error:
        log("refused to start", why=str(error))
        return error.exit_code
    assert seat.box is not None  # noqa: S101
    hub, box = Hub(seat, incoming("executor")), BlackBox(seat.box)
    box.begin(os.getpid())
    hello = Hello(0, os.getpid(), start_of(os.getpid()), list(registry))

    def kill_me(why: str) -> None:
        hub.kill(hub.peer, hub.incarnation, why)

    def begin(shell: Shell) -> Executor:
        return Executor(hub, shell, box, Runner(registry), hello, settings, log, kill_me=kill_me)

    def leave(error: Exception | None) -> None:
        """Running handlers, threads among them, end with us: the black box tells who they were."""
        if error is not None:
            traceback.print_exception(error)
            os._exit(SOFTWARE)
        hub.flush(0.5)
        box.leave()
        os._exit(0)

    gc.freeze()
    gc.set_threshold(*COLLECT)
    if settings.loop == "trio":
        from pulse_runtime.execution import trio_shell

        trio_shell.drive(hub, begin, leave)
    else:
        from pulse_runtime.execution import asyncio_shell

        asyncio_shell.drive(hub, begin, leave)
    return 0


def _print_by_lines() -> None:
    """What handlers print is there when it is printed, not in a buffer that dies with a process that is killed."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
