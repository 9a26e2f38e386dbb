"""What several commands about schedules take, and how they reach the database."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def _all(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


place_options = _all(
    click.option("--tenant", metavar="NAME", help="Tenant of the schedule."),
    click.option("--project", metavar="NAME", help="Project of the schedule."),
)
by_option = click.option("--by", metavar="WHO", help="Who does it, for the record. [default: the database user]")
timing_options = _all(
    click.option("--cron", metavar="EXPR", help='Five or six fields, or @daily: "0 9 * * MON-FRI".'),
    click.option("--tz", metavar="ZONE", help="Zone of the wall clock, for --cron. [default: UTC]"),
    click.option("--every", metavar="DURATION", help="A period: 90s, 1h30m."),
    click.option("--anchor", metavar="TIME", help="Where --every begins. [default: now]"),
    click.option("--at", metavar="TIME", help="Once, at this moment."),
)
job_options = _all(
    click.option("--queue", metavar="NAME", help="Of its jobs."),
    click.option("--priority", type=int, metavar="N", help="Of its jobs, from -10 to 10."),
    click.option("--max-attempts", type=int, metavar="N", help="Of its jobs."),
)
policy_options = _all(
    click.option(
        "--missed", type=click.Choice(["latest", "all", "none"]), help="Of missed fires, which are made up for."
    ),
    click.option("--missed-most", type=int, metavar="N", help="With --missed all: so many at most."),
    click.option("--missed-pace", metavar="DURATION", help="With --missed all: one every so often."),
    click.option("--within", metavar="DURATION", help="None later than this."),
    click.option(
        "--overlap", type=click.Choice(["allow", "skip", "queue_one"]), help="While its last run is unfinished."
    ),
    click.option(
        "--jitter", type=float, metavar="SHARE", help="Earlier or later by a share of the interval, 0 to 0.5."
    ),
    click.option("--delivery", type=click.Choice(["at_least_once", "at_most_once"]), help="What a crash may cost."),
    click.option("--pause-after", type=int, metavar="N", help="Final failures in a row that pause it; 0 is never."),
    click.option("--until", metavar="TIME", help="No occurrence later than this."),
    click.option("--max-fires", type=int, metavar="N", help="So many fires, then it ends."),
    click.option("--lookahead", metavar="DURATION", help="Jobs are made so long before they are due; 0s is off."),
    click.option("--retry-delay", metavar="DURATION", help="After each failure, instead of the job's own policy."),
    click.option("--owner", metavar="NAME", help="Whose schedule it is."),
)


def timing_of(said: dict[str, Any]) -> Any:
    """Takes the options of a timing out of `said`; None if there are none."""
    from pulse_runtime import schedules

    cron, tz, every, anchor, at = (said.pop(name) for name in ("cron", "tz", "every", "anchor", "at"))
    if sum(each is not None for each in (cron, every, at)) > 1:
        raise click.UsageError("Give one of --cron, --every and --at.")
    if (tz is not None and cron is None) or (anchor is not None and every is None):
        raise click.UsageError("--tz goes with --cron, and --anchor with --every.")
    if cron is not None:
        return schedules.cron(cron, tz or "UTC")
    if every is not None:
        return schedules.every(every, anchor=moment_of("--anchor", anchor))
    return None if at is None else schedules.once(required(moment_of("--at", at)))


def policies_of(said: dict[str, Any]) -> dict[str, Any]:
    """Takes the other options out of `said`, as `schedules.add` and `schedules.edit` take them."""
    from pulse_runtime.durations import BadDuration, parse_s

    found = {name: said.pop(name) for name in list(said) if name not in ("tenant", "project", "by")}
    for option, column in (("missed_pace", "missed_pace_s"), ("within", "within_s"), ("lookahead", "lookahead_s")):
        if (text := found.pop(option)) is not None:
            try:
                found[column] = parse_s(text)
            except BadDuration as error:
                raise click.BadParameter(str(error), param_hint=f"--{option.replace('_', '-')}") from None
    found["until"] = moment_of("--until", found["until"])
    return {name: value for name, value in found.items() if value is not None}


def args_of(words: tuple[str, ...]) -> dict[str, Any]:
    """`day=1 to=a@b.c`: what is JSON is read as JSON, anything else is text."""
    import json

    found: dict[str, Any] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name:
            raise click.UsageError(f"{word!r} is no argument. Write for example to=a@b.c")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def moment_of(option: str, text: str | None, tz: str = "UTC") -> datetime | None:
    """A time without an offset is one of `tz`."""
    from pulse_runtime.timing.zones import zone

    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is no time; write for example 2026-03-28T12:00", param_hint=option
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC if tz == "UTC" else zone(tz))


def required(moment: datetime | None) -> datetime:
    assert moment is not None  # noqa: S101 (the option that it came from is required)
    return moment


@contextmanager
def connected(dsn: str | None, /) -> Iterator[Any]:
    """A connection for `on=`; refusals of the database are told as errors of ours."""
    from pulse_runtime.cli.database import database
    from pulse_runtime.store.refusals import explained

    with database(dsn, prepare=True) as connection, explained():
        yield connection
