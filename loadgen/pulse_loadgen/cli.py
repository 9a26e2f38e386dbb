"""`pulse-loadgen`: what commands there are."""

import sys

import click

from pulse_runtime._version import __version__
from pulse_runtime.cli.program import run


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="pulse-loadgen")
def cli() -> None:
    """Put load on a database and measure what comes of it.

    \b
    Example:
      pulse-loadgen commits --for 5s
    """


@cli.command()
@click.option("--dsn", metavar="DSN", help="Where Postgres is. Default: as for pulse-runtime.")
@click.option("--for", "duration", default="5s", show_default=True, help="How long.")
@click.option("--json", "file", type=click.Path(dir_okay=False, writable=True), help="Write the result to this file.")
def commits(dsn: str | None, duration: str, file: str | None) -> None:
    """Measure durable commits per second by one client: the floor that any queue on this database stands on.

    Nothing is left behind: the rows go into a table that is dropped at the end.
    """
    from pulse_loadgen.commits import measure
    from pulse_runtime.durations import parse_s

    measure(dsn, for_s=parse_s(duration), file=file)


def main() -> None:
    """Run the command that was asked for, and exit with its code."""
    sys.exit(run(cli))
