"""`pulse-runtime schedules preview|describe`: when they fire, and what that means."""

from datetime import UTC, datetime
from typing import Any

import click

from pulse_runtime.cli.output import output_option, write_rows
from pulse_runtime.cli.schedule_options import connected, moment_of, place_options


@click.command("preview")
@click.argument("schedule", metavar="SCHEDULE|EXPRESSION")
@click.option("--tz", default="UTC", show_default=True, metavar="ZONE", help="Zone of an expression's wall clock.")
@click.option("-n", "--count", default=10, show_default=True, type=click.IntRange(1, 1000), help="How many.")
@click.option("--after", metavar="TIME", help="From this moment on, e.g. 2026-03-28T12:00:00+01:00. [default: now]")
@place_options
@output_option
@click.pass_obj
def preview_command(
    dsn: str | None, /, schedule: str, tz: str, count: int, after: str | None, output: str, **place: Any
) -> None:
    """List the next fires of a stored schedule, or of a cron expression, by the wall clock and in UTC.

    What has several fields, or begins with @, is an expression, and needs no database.

    What a change of the clocks moves or repeats is marked. It is the code of the scheduler that answers.

    \b
    Examples:
      pulse-runtime schedules preview nightly
      pulse-runtime schedules preview "0 9 * * MON-FRI" --tz Europe/Berlin
      pulse-runtime schedules preview "30 2 * * *" --tz America/New_York --after 2026-03-07T00:00:00-05:00
    """
    moment = moment_of("--after", after, tz)
    if " " in schedule.strip() or schedule.startswith("@"):
        fires = _of_expression(schedule, tz, count, moment)
    else:
        from pulse_runtime import schedules

        with connected(dsn) as connection:
            fires = schedules.preview(schedule, count=count, after=moment, on=connection, **place)
    write_rows([{"local": each.local, "utc": each.utc, "note": each.note} for each in fires], output)


@click.command("describe")
@click.argument("expression")
@click.option("--tz", metavar="ZONE", help="Zone of the wall clock.")
def describe_command(expression: str, tz: str | None) -> None:
    """Say in plain English what EXPRESSION means.

    \b
    Example:
      pulse-runtime schedules describe "0 9 * * MON-FRI"
    """
    from pulse_runtime.timing.describing import describe
    from pulse_runtime.timing.zones import zone

    if tz is not None:
        zone(tz)
    click.echo(describe(expression, tz))


def _of_expression(expression: str, tz: str, count: int, after: datetime | None) -> Any:
    from pulse_runtime.timing.previewing import preview
    from pulse_runtime.timing.timings import Cron, check

    moment = after or datetime.now(UTC)
    timing = Cron(expression, tz)
    check(timing, moment=moment)
    return preview(timing, after=moment, count=count)
