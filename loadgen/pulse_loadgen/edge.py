"""From the command line to a run, and from its figures to the person."""

import os
import signal
from pathlib import Path
from typing import Any

import click

from pulse_loadgen import report
from pulse_loadgen.place import place
from pulse_loadgen.plan import Plan
from pulse_loadgen.run import run
from pulse_runtime.cli.database import talk

PROBLEMS_FOUND = 6


def measured(plan: Plan, dsn: str | None, *, here: bool, file: str | None) -> int:
    """Measure, write, print; the exit code."""
    refuse_unwritable(file)
    signal.signal(signal.SIGTERM, _interrupt)
    with place(dsn, here=here) as found:
        result = run(plan, found)
    if file is not None:
        report.write(result, file)
    click.echo(report.summary(result), err=file == "-")
    return _code(result)


def _code(result: dict[str, Any]) -> int:
    if not result["lost"] and not result["duplicated"]:
        return 0
    talk("error: not every job was done exactly once. Without a fault in between that is a bug: please report it")
    return PROBLEMS_FOUND


def refuse_unwritable(file: str | None) -> None:
    """Now, not after minutes of measuring."""
    if file not in (None, "-") and not os.access(folder := Path(str(file)).absolute().parent, os.W_OK | os.X_OK):
        raise click.UsageError(f"--json: cannot write into {folder}; does it exist?")


def _interrupt(*_: object) -> None:
    """As Ctrl-C does: the runtime is ended and the database dropped before we go."""
    raise KeyboardInterrupt
