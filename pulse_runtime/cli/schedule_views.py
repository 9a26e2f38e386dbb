"""`pulse-runtime schedules list|show|history|coverage|diff`."""

from typing import Any

import click

from pulse_runtime.cli.output import output_option, write_rows
from pulse_runtime.cli.schedule_options import connected, moment_of, place_options, required


@click.command("list")
@place_options
@click.option("--status", type=click.Choice(["ACTIVE", "PAUSED", "ENDED"]), help="Only those.")
@click.option("-n", "--most", default=100, show_default=True, type=click.IntRange(1, 1000), help="How many.")
@click.option("--after", metavar="ID", type=click.UUID, help="Those made after this one: the next page.")
@output_option
@click.pass_obj
def list_command(dsn: str | None, /, output: str, **said: Any) -> None:
    """List schedules in the order in which they were made."""
    from pulse_runtime import schedules

    with connected(dsn) as connection:
        found = schedules.list_schedules(on=connection, **said)
    columns = ("id", "name", "tenant", "status")
    write_rows(
        [
            {
                **{column: getattr(each, column) for column in columns},
                "when": each.description,
                "job": each.job_kind,
                "next": each.next_run_at,
                "last_success": each.last_success_at,
                "failures": each.failures,
            }
            for each in found
        ],
        output,
    )


@click.command("show")
@click.argument("schedule")
@place_options
@click.option(
    "-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True, help="Format."
)
@click.pass_obj
def show_command(dsn: str | None, /, schedule: str, output: str, **place: Any) -> None:
    """Show everything about SCHEDULE: when, what, policies, who changed it, and how its jobs ended."""
    import msgspec

    from pulse_runtime import schedules

    with connected(dsn) as connection:
        record = schedules.get(schedule, on=connection, **place)
    shown = {"when": record.description, **msgspec.to_builtins(record)}
    if output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(shown)).decode())
        return
    width = max(map(len, shown))
    for name, value in shown.items():
        if value is not None:
            click.echo(f"{name.ljust(width)}  {value}")


@click.command("history")
@click.argument("schedule")
@click.option("-n", "--most", default=50, show_default=True, type=click.IntRange(1, 1000), help="How many.")
@click.option("--before", metavar="TIME", help="Those before this occurrence: the next page.")
@place_options
@output_option
@click.pass_obj
def history_command(dsn: str | None, /, schedule: str, output: str, before: str | None, **said: Any) -> None:
    """List what became of the occurrences of SCHEDULE, the latest first.

    \b
    Verdicts: fired, late, skipped (why), missed (why), lost, withdrawn, queued (until its last run has ended).
    """
    import msgspec

    from pulse_runtime import schedules

    with connected(dsn) as connection:
        found = schedules.history(schedule, on=connection, before=moment_of("--before", before), **said)
    write_rows([msgspec.structs.asdict(each) for each in found], output)


@click.command("coverage")
@click.argument("schedule")
@click.option("--from", "begin", required=True, metavar="TIME", help="From this moment on.")
@click.option("--to", "end", required=True, metavar="TIME", help="Up to this moment.")
@place_options
@output_option
@click.pass_obj
def coverage_command(dsn: str | None, /, schedule: str, begin: str, end: str, output: str, **place: Any) -> None:
    """Say how many occurrences SCHEDULE should have had, by its timing as it is now, and how many fired."""
    from pulse_runtime import schedules

    first, last = required(moment_of("--from", begin)), required(moment_of("--to", end))
    with connected(dsn) as connection:
        seen = schedules.coverage(schedule, first, last, on=connection, **place)
    row = {"expected": seen.expected, "fired": seen.fired, "ratio": round(seen.ratio, 4), **seen.verdicts}
    write_rows([{**row, "fired": seen.fired}], output)


@click.command("diff")
@click.option("--handlers", multiple=True, required=True, metavar="MODULE", help="What declares them. Repeatable.")
@click.pass_obj
def diff_command(dsn: str | None, /, handlers: tuple[str, ...]) -> int:
    """Print how the schedules that the code declares differ from what is stored, entry by entry; change nothing.

    Exit code 0 if they are equal, else 6. What --schedules=strict refuses is marked.

    \b
    Example:
      pulse-runtime schedules diff --handlers myapp.jobs
    """
    from pulse_runtime.cli.database import talk
    from pulse_runtime.loading import load
    from pulse_runtime.scheduling.declaring import differences

    load(handlers)
    with connected(dsn) as connection:
        changes = differences(connection, handlers)
    for change in changes:
        click.echo(f"{change}{'  (strict refuses)' if change.strict else ''}")
    count = "1 difference" if len(changes) == 1 else f"{len(changes)} differences"
    talk(count if changes else "the stored schedules are those that are declared")
    return 6 if changes else 0
