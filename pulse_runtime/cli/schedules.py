"""`pulse-runtime schedules`: when they fire."""

from datetime import UTC, datetime

import click

from pulse_runtime.cli.output import output_option, write_rows


@click.group()
def schedules() -> None:
    """Say when a cron expression fires, and what it means. Needs no database."""


@schedules.command("preview")
@click.argument("expression")
@click.option("--tz", default="UTC", show_default=True, metavar="ZONE", help="Zone of the wall clock.")
@click.option("-n", "--count", default=10, show_default=True, type=click.IntRange(1, 1000), help="How many.")
@click.option("--after", metavar="TIME", help="From this moment on, e.g. 2026-03-28T12:00:00+01:00. [default: now]")
@output_option
def preview_command(expression: str, tz: str, count: int, after: str | None, output: str) -> None:
    """List the next fires of EXPRESSION by the wall clock and in UTC.

    What a change of the clocks moves or repeats is marked. It is the code of the scheduler that answers.

    \b
    Examples:
      pulse-runtime schedules preview "0 9 * * MON-FRI" --tz Europe/Berlin
      pulse-runtime schedules preview "30 2 * * *" --tz America/New_York --after 2026-03-07T00:00:00-05:00
    """
    from pulse_runtime.previewing import preview
    from pulse_runtime.timing import Cron, check

    moment = _moment(after, tz)
    timing = Cron(expression, tz)
    check(timing, moment=moment)
    fires = preview(timing, after=moment, count=count)
    write_rows([{"local": each.local, "utc": each.utc, "note": each.note} for each in fires], output)


@schedules.command("describe")
@click.argument("expression")
@click.option("--tz", metavar="ZONE", help="Zone of the wall clock.")
def describe_command(expression: str, tz: str | None) -> None:
    """Say in plain English what EXPRESSION means.

    \b
    Example:
      pulse-runtime schedules describe "0 9 * * MON-FRI"
    """
    from pulse_runtime.describing import describe
    from pulse_runtime.zones import zone

    if tz is not None:
        zone(tz)
    click.echo(describe(expression, tz))


def _moment(text: str | None, tz: str) -> datetime:
    """A time without an offset is one of the schedule's zone."""
    from pulse_runtime.zones import zone

    if text is None:
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is no time; write for example 2026-03-28T12:00", param_hint="--after"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone(tz))
