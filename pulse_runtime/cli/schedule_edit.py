"""`pulse-runtime schedules edit`: what is not said stays as it is."""

from typing import Any

import click

from pulse_runtime.cli.schedule_options import (
    args_of,
    by_option,
    connected,
    job_options,
    place_options,
    policies_of,
    policy_options,
    timing_of,
    timing_options,
)

_CLEAR = {"until": "until", "max-fires": "max_fires", "within": "within_s", "owner": "owner"}


@click.command("edit")
@click.argument("schedule")
@click.argument("words", nargs=-1, metavar="[NAME=VALUE]...")
@timing_options
@job_options
@click.option("--rename", metavar="NAME", help="Another name.")
@policy_options
@click.option("--clear", multiple=True, type=click.Choice(list(_CLEAR)), help="Without it from now on. Repeatable.")
@place_options
@by_option
@click.pass_obj
def edit_command(
    dsn: str | None, /, schedule: str, words: tuple[str, ...], clear: tuple[str, ...], **said: Any
) -> None:
    """Change what is said of SCHEDULE; the arguments, if any are given, replace those that it has.

    Another timing counts from now: nothing fires in the past. An expression without --tz keeps its zone, and --tz
    alone its expression. Other arguments, queue and so on go for all that is not due yet.

    \b
    Examples:
      pulse-runtime schedules edit nightly --cron "0 3 * * *"
      pulse-runtime schedules edit nightly --tz Europe/Paris --clear until
      pulse-runtime schedules edit nightly day=2 --queue slow
    """
    from pulse_runtime import schedules
    from pulse_runtime.cli.database import talk

    by, place = said.pop("by"), schedules.Place(tenant=said.pop("tenant"), project=said.pop("project"))
    routing = {name: value for name in ("queue", "priority", "max_attempts") if (value := said.pop(name)) is not None}
    half = said["every"] is said["at"] is None and (said["cron"] is None) is not (said["tz"] is None)
    with connected(dsn) as connection:
        changes: dict[str, Any] = _completed(said, schedules.get(schedule, on=connection, **place)) if half else {}
        when = timing_of(said)
        changes |= {**policies_of(said), **routing, **{_CLEAR[name]: None for name in clear}}
        changes |= {} if when is None else {"when": when}
        changes |= {"args": args_of(words)} if words else {}
        revision = schedules.edit(schedule, on=connection, place=place, by=by, **changes)
    talk(f"schedule {schedule} has revision {revision} now")


def _completed(said: dict[str, Any], record: Any) -> dict[str, Any]:
    """Puts the expression or the zone that the schedule has into `said`; refused if it has another by then."""
    if record.kind != "cron":
        if said["cron"] is None:
            raise click.UsageError(f"--tz goes with --cron: {record.name} has no expression.")
        return {}
    said["cron"], said["tz"] = said["cron"] or record.spec, said["tz"] or record.tz
    return {"revision": record.revision}
