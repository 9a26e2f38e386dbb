"""`pulse-runtime demo`."""

import click

from pulse_runtime.cli.options import DURATION


@click.command()
@click.option(
    "--for", "for_s", type=DURATION, metavar="DURATION", help="End after this long, e.g. 10s. Without it: until Ctrl-C."
)
@click.option("--migrate", is_flag=True, help="With --dsn: apply the migrations that the database lacks.")
@click.pass_obj
def demo(dsn: str | None, for_s: float | None, migrate: bool) -> int:
    """Show a runtime at work: an embedded Postgres, sample handlers and schedules, a live view.

    A shop sells ten times a second; each order commits with three jobs, some of which fail once and are retried. Two
    schedules fire beside them. Kill any of the runtime's processes and see it come back with nothing lost. The data
    stays: the next demo finds it, and runs what was left.

    It uses the embedded Postgres whatever PULSE_DSN says; only --dsn sends it elsewhere, where it makes the schema
    pulse_demo.

    \b
    Examples:
      pulse-runtime demo --for 10s
      PULSE_HOME=/tmp/pulse pulse-runtime demo
    """
    from pulse_runtime.demo import run

    return run(dsn=dsn, for_s=for_s, migrate=migrate)
