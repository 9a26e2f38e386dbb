"""`pulse-loadgen`: what commands there are."""

import sys

import click

from pulse_runtime._version import __version__
from pulse_runtime.cli.lazy import LazyGroup
from pulse_runtime.cli.program import run

_COMMANDS = {
    "drain": ("pulse_loadgen.commands:drain", "How fast a runtime works off a backlog."),
    "steady": ("pulse_loadgen.commands:steady", "How long jobs wait that come at a rate."),
    "depth": ("pulse_loadgen.commands:depth", "Whether it matters how many jobs wait."),
    "commits": ("pulse_loadgen.commits:commits", "Durable commits per second: the floor under everything."),
}

_EXAMPLES = """
\b
Examples:
  pulse-loadgen drain --jobs 300000
  pulse-loadgen steady --rate 50 --for 30s --json steady.json
  pulse-loadgen commits --for 5s

\b
The server is, in this order: --dsn, PULSE_DSN, DATABASE_URL, pulse.toml or [tool.pulse], or an
embedded Postgres in PULSE_HOME. Runs happen in a database of their own on it, which is dropped.

\b
Exit codes: 0 ok, 1 failed, 2 usage, 4 refused, 5 no database, 6 a job was lost or done twice,
78 configuration, 130 interrupted.
"""


@click.group(
    cls=LazyGroup,
    commands_of=_COMMANDS,
    epilog=_EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="pulse-loadgen")
def cli() -> None:
    """Put load on a runtime, see every job through, and tell what it took.

    A run starts a runtime as a program of its own, and counts a job as done when its outcome is committed.
    """


def main() -> None:
    """Run the command that was asked for, and exit with its code."""
    sys.exit(run(cli))
