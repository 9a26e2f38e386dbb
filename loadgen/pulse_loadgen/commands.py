"""`pulse-loadgen drain`, `steady`, `depth`."""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

from pulse_runtime.cli.options import DURATION

F = TypeVar("F", bound=Callable[..., Any])

_SHARED = (
    click.option("--dsn", metavar="DSN", help="Where Postgres is. Default: as for pulse-runtime."),
    click.option("--here", is_flag=True, help="Use the DSN's database itself, not a new one beside it."),
    click.option(
        "--work", "work_s", default="0ms", type=DURATION, metavar="DURATION", help="How long each handler waits."
    ),
    click.option("--threads", is_flag=True, help="Plain functions, each in a thread, instead of coroutines."),
    click.option("--executors", default=2, metavar="N", type=click.IntRange(1), help="As for pulse-runtime."),
    click.option("--concurrency", default=100, metavar="N", type=click.IntRange(1), help="As for pulse-runtime."),
    click.option("--loop", default="uvloop", type=click.Choice(["uvloop", "trio"]), help="As for pulse-runtime."),
    click.option("--json", "file", type=click.Path(dir_okay=False), help="Write all figures to a file; - is stdout."),
)


def _shared(command: F) -> F:
    for option in reversed(_SHARED):
        command = option(command)
    return command


@click.command(context_settings={"show_default": True})
@click.option("--jobs", default=100_000, type=click.IntRange(1), metavar="N", help="How many.")
@_shared
def drain(jobs: int, **shared: Any) -> int:
    """Work off a backlog, as fast as it goes.

    The jobs are there before the runtime starts; the rate is from its first claim to the last durable outcome.

    \b
    Examples:
      pulse-loadgen drain
      pulse-loadgen drain --jobs 300000 --executors 4 --json drain.json
      pulse-loadgen drain --jobs 20000 --threads
    """
    return _run("drain", shared, backlog=jobs)


@click.command(context_settings={"show_default": True})
@click.option("--rate", default=50.0, type=click.FloatRange(0.1), metavar="R", help="Jobs per second.")
@click.option("--for", "for_s", default="10s", type=DURATION, metavar="DURATION", help="How long they come.")
@_shared
def steady(rate: float, for_s: float, **shared: Any) -> int:
    """Jobs come at a rate; how long does each wait?

    Measured from the moment its producer knew that it was committed, to its handler's start and to its outcome.

    \b
    Examples:
      pulse-loadgen steady --rate 50 --for 30s
      pulse-loadgen steady --rate 1000 --for 1m --work 10ms --json steady.json
    """
    return _run("steady", shared, rate=rate, for_s=for_s)


@click.command(context_settings={"show_default": True})
@click.option("--jobs", default=1_000_000, type=click.IntRange(10), metavar="N", help="How deep the backlog is.")
@click.option("--rate", default=0.0, type=click.FloatRange(0.0), metavar="R", help="Jobs per second that come besides.")
@click.option("--for", "for_s", default="10s", type=DURATION, metavar="DURATION", help="How long those come.")
@_shared
def depth(jobs: int, rate: float, for_s: float, **shared: Any) -> int:
    """Does it matter how many jobs wait? Works off a deep backlog and tells the rate of each tenth of it.

    \b
    Examples:
      pulse-loadgen depth
      pulse-loadgen depth --jobs 200000 --rate 1000 --for 5s
    """
    return _run("depth", shared, backlog=jobs, rate=rate, for_s=for_s)


def _run(scenario: str, shared: dict[str, Any], **plan: Any) -> int:
    """Exit code 0 when every job was done once, 6 when one was lost or done twice."""
    from pulse_loadgen.edge import measured
    from pulse_loadgen.plan import Plan

    dsn, here, file, work_s = (shared.pop(name) for name in ("dsn", "here", "file", "work_s"))
    made = Plan(scenario=scenario, work_ms=work_s * 1000, **plan, **shared)
    if not math.isfinite(made.rate):
        raise click.UsageError(f"--rate must be a number of jobs per second, not {made.rate}")
    if not made.jobs:
        raise click.UsageError("--rate and --for make less than one job. Raise either")
    return measured(made, dsn, here=here, file=file)
