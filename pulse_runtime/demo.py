"""The demo: an embedded Postgres, migrated, and a row committed per tick. It will show jobs when there is a runtime."""

import signal
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import click

from pulse_runtime import config
from pulse_runtime.cli.database import embedded, talk, tell_migrate
from pulse_runtime.store.connect import Connection, connect
from pulse_runtime.store.deadlines import within
from pulse_runtime.store.history import require

TICK_S = 0.1
PATIENCE_S = 5.0
_MAKE = """
create schema if not exists pulse_demo;
create table if not exists pulse_demo.tick (id bigint generated always as identity primary key, at timestamptz not null)
"""


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
    with _database(settings, ours=dsn is None, migrate=migrate) as connection:
        connection.execute(_MAKE)
        found = _count(connection)
        talk(f"found {found} rows of earlier demos. One durable commit per tick; Ctrl-C ends it.")
        talk("Job handlers are not part of this yet: they come with the runtime.")
        took_ms = _tick(connection, ending, for_s=for_s)
        kept = _count(connection)
    click.echo(
        f"{len(took_ms)} durable commits, median {statistics.median(took_ms or [0.0]):.1f} ms; "
        f"{found} rows were there before, {kept} are now. The data is {place}."
    )
    return ending.code


@contextmanager
def _database(settings: config.Settings, *, ours: bool, migrate: bool) -> Iterator[Connection]:
    home, dsn = settings.home.value, settings.dsn.value
    with embedded(home, actor="demo") if ours or dsn is None else connect(dsn, actor="demo") as connection:
        if ours or migrate:
            tell_migrate(connection)
        require(connection)
        yield connection


def _tick(connection: Connection, ending: _Ending, *, for_s: float | None) -> list[float]:
    """Commit until the end; the milliseconds that each commit took."""
    began = time.monotonic()
    took_ms: list[float] = []
    live = sys.stderr.isatty()
    told = began
    while not ending.event.is_set() and (for_s is None or time.monotonic() - began < for_s):
        start = time.perf_counter()
        # Signals only set a flag, so a server that stopped would hold the demo for ever.
        with within(connection, PATIENCE_S, asked="commit a row"):
            connection.execute("insert into pulse_demo.tick (at) values (pulse.now())")
        took_ms.append((time.perf_counter() - start) * 1000)
        if live or time.monotonic() - told >= 1.0:
            told = time.monotonic()
            line = f"{told - began:5.0f} s  {len(took_ms)} commits, the last took {took_ms[-1]:.1f} ms"
            click.echo(f"\r{line}   " if live else line, err=True, nl=not live)
        ending.event.wait(TICK_S)
    if live:
        click.echo("", err=True)
    return took_ms


def _count(connection: Connection) -> int:
    row = connection.execute("select count(*) from pulse_demo.tick").fetchone()
    return int(row[0]) if row else 0
