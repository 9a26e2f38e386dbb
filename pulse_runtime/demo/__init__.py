"""The demo: an embedded Postgres, a runtime with sample handlers and schedules, and a shop whose orders become jobs."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import click

from pulse_runtime import config
from pulse_runtime.cli.database import started_server, talk, tell_migrate
from pulse_runtime.demo.program import Program
from pulse_runtime.demo.shop import Shop
from pulse_runtime.demo.view import View
from pulse_runtime.embedded import Server
from pulse_runtime.embedded.cluster import newest_data
from pulse_runtime.store.connect import connect
from pulse_runtime.store.history import require

TICK_S = 0.1
VIEW_S = 1.0


@dataclass
class _Ending:
    """Set by a signal; `code` is the exit code it means."""

    event: threading.Event = field(default_factory=threading.Event)
    code: int = 0

    def on_signal(self, number: int, _: object) -> None:
        self.code = 130 if number == signal.SIGINT else 0
        self.event.set()


def run(*, dsn: str | None, for_s: float | None, migrate: bool) -> int:
    """Run until the time is up or a signal comes. Returns the exit code: 130 after Ctrl-C, else 0."""
    ending = _Ending()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ending.on_signal)
    settings = config.load(dsn=dsn)
    place = f"in {settings.home.value}" if dsn is None else f"at {settings.shown()['dsn'].value}"
    with _database(settings, dsn) as address, connect(address, actor="demo") as connection:
        if dsn is None or migrate:
            tell_migrate(connection)
        require(connection)
        shop = Shop(connection)
        talk(f"found {shop.found} orders of earlier demos")
        talk("starting a runtime with two executors ...")
        with Program(address) as program:
            talk("it is up. Each order commits with its three jobs; Ctrl-C ends it.")
            talk("Kill what you like: pkill -9 -f 'pulse: executor-1' (or claimer, reporter, ...), and watch.")
            _sell(shop, program, ending, for_s)
        click.echo(f"{shop.summary()} The data is {place}.")
    return ending.code


@contextmanager
def _database(settings: config.Settings, dsn: str | None) -> Iterator[str]:
    """The embedded one whatever else is set, as the demo makes tables: only the command line sends it elsewhere."""
    if dsn is not None:
        yield dsn
        return
    home = settings.home.value
    if newest_data(home) is None:
        talk(f"making a Postgres in {home} (once) ...")
    server = Server(home)
    try:
        yield started_server(server)
    finally:
        server.stop(wait_s=10.0)


def _sell(shop: Shop, program: Program, ending: _Ending, for_s: float | None) -> None:
    """Orders come until the end."""
    began = time.monotonic()
    view, shown = View(), began
    while not ending.event.is_set() and (for_s is None or time.monotonic() - began < for_s):
        program.check()
        shop.order()
        while program.news:
            view.tell(program.news.popleft())
        if time.monotonic() - shown >= VIEW_S:
            shown = time.monotonic()
            view.show(shown - began, shop.state())
        ending.event.wait(TICK_S)
    view.end()
