"""Durable commits per second."""

import json
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import click

from pulse_runtime.cli.options import DURATION

if TYPE_CHECKING:
    from pulse_runtime.store.connect import Connection


@click.command()
@click.option("--dsn", metavar="DSN", help="Where Postgres is. Default: as for pulse-runtime.")
@click.option("--for", "for_s", default="5s", type=DURATION, metavar="DURATION", show_default=True, help="How long.")
@click.option("--json", "file", type=click.Path(dir_okay=False, writable=True), help="Write the result to this file.")
def commits(dsn: str | None, for_s: float, file: str | None) -> None:
    """Measure durable commits per second by one client: the floor that any queue on this database stands on.

    Nothing is left behind: the rows go into a table that is dropped at the end.

    \b
    Example:
      pulse-loadgen commits --for 5s
    """
    from pulse_loadgen.edge import refuse_unwritable

    refuse_unwritable(file)
    measure(dsn, for_s=for_s, file=file)


def measure(dsn: str | None, *, for_s: float, file: str | None) -> None:
    """Commit one row at a time for `for_s` and print what came of it."""
    from pulse_runtime.cli.database import database

    # A name of this run's own, because it is dropped at the end with all that is in it.
    schema = f"pulse_loadgen_{uuid4().hex}"
    with database(dsn, prepare=False) as connection:
        connection.execute(f"create schema {schema}".encode())
        try:
            connection.execute(f"create table {schema}.commit (at timestamptz not null)".encode())
            durable = _is_durable(connection)
            took_ms = _commit(connection, f"insert into {schema}.commit values (clock_timestamp())".encode(), for_s)  # noqa: S608
        finally:
            connection.execute(f"drop schema {schema} cascade".encode())
    quantiles = statistics.quantiles(took_ms, n=100) if len(took_ms) > 1 else took_ms * 99
    result = {
        "scenario": "commits",
        "parameters": {"for_s": for_s},
        "durable": durable,
        "commits": len(took_ms),
        "commits_per_s": round(len(took_ms) / (sum(took_ms) / 1000), 1),
        "p50_ms": round(quantiles[49], 3),
        "p99_ms": round(quantiles[98], 3),
    }
    warning = "" if durable else " (not durable: fsync or synchronous_commit is off)"
    click.echo(f"{result['commits_per_s']} commits/s, p50 {result['p50_ms']} ms, p99 {result['p99_ms']} ms{warning}")
    if file:
        Path(file).write_text(json.dumps(result, indent=2) + "\n", "utf-8")


def _is_durable(connection: "Connection") -> bool:
    """Would a commit survive the machine? Otherwise the numbers are of something else."""
    question = "select current_setting('fsync') = 'on' and current_setting('synchronous_commit') <> 'off'"
    return connection.execute(question).fetchone() == (True,)


def _commit(connection: "Connection", insert: bytes, for_s: float) -> list[float]:
    took_ms: list[float] = []
    began = told = time.monotonic()
    while not took_ms or time.monotonic() - began < for_s:
        start = time.perf_counter()
        connection.execute(insert)
        took_ms.append((time.perf_counter() - start) * 1000)
        if sys.stderr.isatty() and time.monotonic() - told > 0.2:
            told = time.monotonic()
            click.echo(f"\r{told - began:.0f} of {for_s:.0f} s, {len(took_ms)} commits", nl=False, err=True)
    return took_ms
