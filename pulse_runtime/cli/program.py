"""`pulse-runtime`: what commands there are, and how they end."""

import sys
from typing import Any

import click
from click.core import ParameterSource

from pulse_runtime._version import __version__
from pulse_runtime.cli.lazy import LazyGroup
from pulse_runtime.cli.options import DURATION, SIZE
from pulse_runtime.errors import PulseError

_COMMANDS = {
    "run": ("pulse_runtime.cli.run_job:run_job", "Run one handler here and now, without a database."),
    "demo": ("pulse_runtime.cli.demo:demo", "Show a runtime at work on an embedded Postgres."),
    "db": ("pulse_runtime.cli.db:db", "Migrate a database, or say where it stands."),
    "schedules": ("pulse_runtime.cli.schedules:schedules", "Make, change and look up schedules; say when they fire."),
    "config": ("pulse_runtime.cli.config:config", "Show the settings and where each comes from."),
    "completion": ("pulse_runtime.cli.completion:completion", "Print what makes your shell complete these commands."),
}

_EXAMPLES = """
\b
Examples:
  pulse-runtime --handlers myapp.jobs --queues mail:20,default
  pulse-runtime --handlers myapp.jobs --reload
  pulse-runtime run --handlers myapp.jobs send_email to=a@b.c subject=hi
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
    cls=LazyGroup,
    commands_of=_COMMANDS,
    epilog=_EXAMPLES,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(__version__, prog_name="pulse-runtime")
@click.option("--dsn", metavar="DSN", help="Where Postgres is: a URL or a libpq keyword string.")
@click.option(
    "--handlers", multiple=True, metavar="MODULE", help="Run jobs by a module's handlers, or MODULE:ONE. Repeatable."
)
@click.option("--queues", default="default", metavar="NAMES", help="Queues to serve, with shares: mail:20,default.")
@click.option("--executors", default=2, metavar="N", help="Processes that run handlers.")
@click.option("--concurrency", default=100, metavar="N", help="Jobs at once in each of them.")
@click.option("--loop", default="uvloop", type=click.Choice(["uvloop", "trio"]), help="What runs async handlers.")
@click.option("--name", metavar="NAME", help="Name of this runtime, one at a time. [default: the host's name and /1]")
@click.option("--lease", default="30s", type=DURATION, metavar="DURATION", help="How long a lost host keeps its jobs.")
@click.option(
    "--beat", default="5s", type=DURATION, metavar="DURATION", help="How often executors prove that they live."
)
@click.option(
    "--grace", default="25s", type=DURATION, metavar="DURATION", help="How long running jobs may take after SIGTERM."
)
@click.option(
    "--cleanup",
    default="3s",
    type=DURATION,
    metavar="DURATION",
    help="How long a handler may take to end after its timeout.",
)
@click.option("--max-jobs", type=int, metavar="N", help="Replace an executor that has run so many, when they are done.")
@click.option(
    "--max-memory", type=SIZE, metavar="SIZE", help="Replace one that has grown to 512MiB, say, when its jobs are done."
)
@click.option("--hard-memory", type=SIZE, metavar="SIZE", help="Kill one that has grown to so much.")
@click.option(
    "--schedules",
    type=click.Choice(["sync", "strict"]),
    default="sync",
    help="Declared schedules: make the stored ones equal, or refuse to start unless they are.",
)
@click.option(
    "--shards",
    type=click.IntRange(1, 1024),
    metavar="K",
    help="Fire one of K parts of the schedules. [default: shared out]",
)
@click.option("--shard", type=click.IntRange(0, 1023), metavar="I", help="Which part, from 0.")
@click.option("--migrate", is_flag=True, help="Apply the migrations that the database lacks, then start.")
@click.option("--pooled", is_flag=True, help="The DSN leads to a pooler in transaction mode: poll, do not LISTEN.")
@click.option("--reload", is_flag=True, help="Replace the executors when a file of the handlers changes.")
@click.option("--log", default="auto", type=click.Choice(["auto", "json", "text"]), help="auto: text on a terminal.")
@click.pass_context
def cli(context: click.Context, /, dsn: str | None, handlers: tuple[str, ...], **flags: Any) -> int:
    """Pulse: a Postgres-backed job and schedule runtime for Python.

    With --handlers it runs jobs until it is told to stop; otherwise give it a command.
    """
    context.obj = dsn
    if context.invoked_subcommand is not None:
        context.meta["handlers"] = handlers
        if handlers and context.invoked_subcommand != "run":
            raise click.UsageError(f"--handlers starts the runtime; {context.invoked_subcommand} is another command.")
        _refuse_flags(context, flags)
        return 0
    if not handlers:
        _refuse_flags(context, flags)
        click.echo(context.get_help())
        return 0
    from pulse_runtime.cli.run import Flags, start

    return start(Flags(dsn=dsn, handlers=handlers, **flags))


def _refuse_flags(context: click.Context, flags: dict[str, Any]) -> None:
    """Those that nobody would heed."""
    for name in flags:
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            flag = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{flag} is for running jobs: that takes --handlers MODULE and no other command.")


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
