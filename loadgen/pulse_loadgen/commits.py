"""Durable commits per second."""

import json
import statistics
import sys
import time
from pathlib import Path

import click

from pulse_runtime.cli.database import database
from pulse_runtime.store.connect import Connection


def measure(dsn: str | None, *, for_s: float, file: str | None) -> None:
    """Commit one row at a time for `for_s` and print what came of it."""
    with database(dsn, prepare=False) as connection:
        connection.execute("create schema if not exists pulse_loadgen")
        connection.execute("create table if not exists pulse_loadgen.commit (at timestamptz not null)")
        try:
            took_ms = _commit(connection, for_s)
        finally:
            connection.execute("drop schema pulse_loadgen cascade")
    quantiles = statistics.quantiles(took_ms, n=100) if len(took_ms) > 1 else took_ms * 99
    result = {
        "scenario": "commits",
        "parameters": {"for_s": for_s},
        "commits": len(took_ms),
        "commits_per_s": round(len(took_ms) / (sum(took_ms) / 1000), 1),
        "p50_ms": round(quantiles[49], 3),
        "p99_ms": round(quantiles[98], 3),
    }
    click.echo(f"{result['commits_per_s']} commits/s, p50 {result['p50_ms']} ms, p99 {result['p99_ms']} ms")
    if file:
        Path(file).write_text(json.dumps(result, indent=2) + "\n", "utf-8")


def _commit(connection: Connection, for_s: float) -> list[float]:
    took_ms: list[float] = []
    began = told = time.monotonic()
    while not took_ms or time.monotonic() - began < for_s:
        start = time.perf_counter()
        connection.execute("insert into pulse_loadgen.commit values (clock_timestamp())")
        took_ms.append((time.perf_counter() - start) * 1000)
        if sys.stderr.isatty() and time.monotonic() - told > 0.2:
            told = time.monotonic()
            click.echo(f"\r{told - began:.0f} of {for_s:.0f} s, {len(took_ms)} commits", nl=False, err=True)
    return took_ms
