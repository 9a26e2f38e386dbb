"""`pulse-runtime`: what commands there are, and how they end."""

import sys

import click

from pulse_runtime._version import __version__
from pulse_runtime.cli.lazy import LazyGroup
from pulse_runtime.errors import PulseError

_COMMANDS = {
    "demo": ("pulse_runtime.cli.demo:demo", "Show an embedded Postgres that keeps what is committed."),
    "db": ("pulse_runtime.cli.db:db", "Migrate a database, or say where it stands."),
    "config": ("pulse_runtime.cli.config:config", "Show the settings and where each comes from."),
    "completion": ("pulse_runtime.cli.completion:completion", "Print what makes your shell complete these commands."),
}

_EXAMPLES = """
\b
Examples:
  pulse-runtime demo --for 10s
  pulse-runtime --dsn postgresql://app@db/app db migrate
  pulse-runtime config show

\b
The database is, in this order: --dsn, PULSE_DSN, DATABASE_URL, pulse.toml or [tool.pulse],
or an embedded Postgres in PULSE_HOME.

\b
Exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 refused, 5 no database,
6 problems found, 78 configuration, 130 interrupted.
"""


@click.group(
    cls=LazyGroup, commands_of=_COMMANDS, epilog=_EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="pulse-runtime")
@click.option("--dsn", metavar="DSN", help="Where Postgres is: a URL or a libpq keyword string.")
@click.pass_context
def cli(context: click.Context, dsn: str | None) -> None:
    """Pulse: a Postgres-backed job and schedule runtime for Python."""
    context.obj = dsn


def main() -> None:
    """Run the command that was asked for, and exit with its code."""
    sys.exit(run(cli))


def run(command: click.Command) -> int:
    """The exit code of `command`; errors are told on stderr, without a traceback when they are ours."""
    try:
        code = command.main(standalone_mode=False)
    except click.exceptions.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except PulseError as error:
        click.echo(f"error: {error}", err=True)
        return error.exit_code
    return code if isinstance(code, int) else 0
