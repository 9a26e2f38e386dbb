"""`pulse-runtime schedules add|pause|resume|run|delete|backfill`."""

from typing import Any

import click

from pulse_runtime.cli.schedule_options import (
    args_of,
    by_option,
    connected,
    job_options,
    moment_of,
    place_options,
    policies_of,
    policy_options,
    required,
    timing_of,
    timing_options,
)


@click.command("add")
@click.argument("name")
@click.argument("kind")
@click.argument("words", nargs=-1, metavar="[NAME=VALUE]...")
@timing_options
@job_options
@click.option("--timeout", metavar="DURATION", help="Of its jobs.")
@policy_options
@place_options
@by_option
@click.pass_obj
def add_command(dsn: str | None, /, name: str, kind: str, words: tuple[str, ...], **said: Any) -> None:
    """Make a schedule NAME that fires jobs of KIND with these arguments.

    Unless said: --missed latest, --missed-most 100, --overlap allow, --delivery at_least_once, --pause-after 10,
    --lookahead 60s, no jitter and no end.

    \b
    Examples:
      pulse-runtime schedules add nightly report --cron "0 2 * * *" --tz Europe/Berlin day=1
      pulse-runtime schedules add poll poll_feed --every 90s --overlap skip
      pulse-runtime schedules add greet send_email --at 2026-12-24T18:00+01:00 to=a@b.c
    """
    from pulse_runtime import Job, schedules
    from pulse_runtime.cli.database import talk

    when = timing_of(said)
    if when is None:
        raise click.UsageError("Say when: --cron, --every or --at.")
    options = {option: said.pop(option) for option in ("queue", "priority", "max_attempts", "timeout")}
    job = Job(kind, args_of(words), **options)
    place = {each: said.pop(each) for each in ("tenant", "project", "by")}
    policies = policies_of(said)
    with connected(dsn) as connection:
        added = schedules.add(name, when, job, on=connection, **place, **policies)
    click.echo(added.id)
    talk(f"schedule {name} was made")


@click.command("pause")
@click.argument("schedule")
@click.option("--reason", metavar="TEXT", help="Why, for whoever wonders.")
@place_options
@by_option
@click.pass_obj
def pause_command(dsn: str | None, /, schedule: str, **said: Any) -> None:
    """Let SCHEDULE fire no more until it is resumed. What falls in between is skipped; jobs that were spawned go on."""
    from pulse_runtime import schedules
    from pulse_runtime.cli.database import talk

    with connected(dsn) as connection:
        went = schedules.pause(schedule, on=connection, **said)
    talk(f"schedule {schedule} is paused" if went else f"schedule {schedule} was paused already")


@click.command("resume")
@click.argument("schedule")
@place_options
@by_option
@click.pass_obj
def resume_command(dsn: str | None, /, schedule: str, **said: Any) -> None:
    """Let SCHEDULE go on with its next occurrence from now."""
    from pulse_runtime import schedules
    from pulse_runtime.cli.database import talk

    with connected(dsn) as connection:
        stood = schedules.resume(schedule, on=connection, **said)
    talk(f"schedule {schedule} goes on" if stood else f"schedule {schedule} was not paused")


@click.command("run")
@click.argument("schedule")
@place_options
@by_option
@click.pass_obj
def run_command(dsn: str | None, /, schedule: str, **said: Any) -> None:
    """Fire SCHEDULE once, now, beside its timing and even if it is paused. Prints the job's id."""
    from pulse_runtime import schedules

    with connected(dsn) as connection:
        click.echo(schedules.run_now(schedule, on=connection, **said))


@click.command("delete")
@click.argument("schedule", required=False)
@click.option("--all", "everything", is_flag=True, help="All of --tenant, or of its --project.")
@place_options
@by_option
@click.pass_obj
def delete_command(dsn: str | None, /, schedule: str | None, everything: bool, **said: Any) -> None:
    """Take SCHEDULE away with all that is not due yet; jobs that were spawned go on.

    \b
    Examples:
      pulse-runtime schedules delete nightly
      pulse-runtime schedules delete --all --tenant acme
    """
    from pulse_runtime import schedules
    from pulse_runtime.cli.database import talk

    if everything is (schedule is not None) or (everything and said["tenant"] is None):
        raise click.UsageError("Give a schedule, or --all with --tenant.")
    with connected(dsn) as connection:
        if schedule is None:
            count = schedules.delete_all(on=connection, **said)
            talk(f"{count} schedules were deleted")
        else:
            schedules.delete(schedule, on=connection, **said)
            talk(f"schedule {schedule} was deleted")


@click.command("backfill")
@click.argument("schedule")
@click.option("--from", "begin", required=True, metavar="TIME", help="From this moment on.")
@click.option("--to", "end", required=True, metavar="TIME", help="Up to this moment, which has passed.")
@click.option("--missed", is_flag=True, help="Also those that the ledger has as missed.")
@click.option("--dry-run", is_flag=True, help="Only print what would fire.")
@place_options
@by_option
@click.pass_obj
def backfill_command(dsn: str | None, /, schedule: str, begin: str, end: str, **said: Any) -> None:
    """Fire the occurrences of a past time that the ledger lacks, with their own times; again is fine.

    \b
    Example:
      pulse-runtime schedules backfill nightly --from 2026-11-01 --to 2026-11-08 --dry-run
    """
    from pulse_runtime import schedules
    from pulse_runtime.cli.database import talk

    first, last = required(moment_of("--from", begin)), required(moment_of("--to", end))
    with connected(dsn) as connection:
        done = schedules.backfill(schedule, first, last, on=connection, **said)
    for each in done:
        click.echo(each.isoformat())
    talk(f"{len(done)} would fire" if said["dry_run"] else f"{len(done)} fired")
