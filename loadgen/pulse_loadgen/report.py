"""The figures of a run, as JSON and for people."""

import json
import math
import os
import platform
from collections.abc import Sequence
from importlib import metadata
from typing import Any

import click

QUANTILES = (50, 90, 99)


def percentiles(values: Sequence[float]) -> dict[str, float | None]:
    """p50, p90, p99 by nearest rank, and max; None of nothing."""
    ordered = sorted(values)
    if not ordered:
        return {**{f"p{each}": None for each in QUANTILES}, "max": None}
    at = {f"p{each}": ordered[max(0, math.ceil(each / 100 * len(ordered)) - 1)] for each in QUANTILES}
    return {name: round(value, 3) for name, value in {**at, "max": ordered[-1]}.items()}


def environment(server: str, *, durable: bool) -> dict[str, Any]:
    """Enough to judge the figures; nothing that names a machine, a person or a path."""
    packages = {}
    for name in ("pulse-runtime", "psycopg", "msgspec", "uvloop", "trio"):
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "postgres": server,
        "durable": durable,
        "packages": packages,
    }


def write(result: dict[str, Any], file: str) -> None:
    """Into a file, or to stdout for "-"."""
    with click.open_file(file, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(result, indent=2) + "\n")


def summary(result: dict[str, Any]) -> str:
    """A few lines for a person."""
    rate, balance = f"{result['jobs_per_s']:,.0f} jobs/s", f"{result['lost']} lost, {result['duplicated']} duplicated"
    lines = [
        f"{result['scenario']}: {result['jobs']:,} jobs, {rate}, {balance}",
        _told("enqueue commit to start", result["start_ms"]),
        _told("enqueue commit to outcome", result["total_ms"]),
        _told(f"{result['claims']:,} claims" if result["claims"] else "claims", result["claim_ms"]),
        _told(f"{result['reports']:,} commits of reports" if result["reports"] else "reports", result["report_ms"]),
        _tenths(result.get("jobs_per_s_by_tenth")),
        f"WAL {result['wal_bytes_per_job']:,.0f} bytes per job",
        "CPU s per 10,000 jobs: " + _each(result["cpu_s_per_10k_jobs"], ".3f"),
        "memory MB: " + _each(result["rss_mb"], ".0f"),
    ]
    if not result["environment"]["durable"]:
        lines.append("not durable: fsync or synchronous_commit is off")
    return "\n".join(line for line in lines if line)


def _told(what: str, found: dict[str, float | None]) -> str:
    if found.get("p50") is None:
        return ""
    return f"{what}: " + ", ".join(f"{name} {value:,.1f} ms" for name, value in found.items())


def _tenths(rates: list[float] | None) -> str:
    return "jobs/s by tenth of the jobs: " + ", ".join(f"{rate:,.0f}" for rate in rates) if rates else ""


def _each(values: dict[str, float], form: str) -> str:
    told = {name: f"{value:{form}}" for name, value in values.items()}
    return ", ".join(f"{name} {value}" for name, value in told.items() if float(value))
