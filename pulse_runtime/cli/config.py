"""`pulse-runtime config`: the settings."""

import click

from pulse_runtime.cli.output import output_option, write_rows


@click.group()
def config() -> None:
    """Show the settings and where each comes from."""


@config.command("show")
@output_option
@click.pass_obj
def show(dsn: str | None, output: str) -> None:
    """Print every setting with its source. Passwords are never printed.

    Precedence: flag, PULSE_* variable, pulse.toml or [tool.pulse] in pyproject.toml, default.
    """
    from pulse_runtime.config import load

    rows = [{"name": name, "value": each.value, "source": each.source} for name, each in load(dsn=dsn).shown().items()]
    write_rows(rows, output)
