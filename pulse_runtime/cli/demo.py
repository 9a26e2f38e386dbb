"""`pulse-runtime demo`."""

import click


@click.command()
@click.option("--for", "duration", metavar="DURATION", help="End after this long, e.g. 10s. Without it: until Ctrl-C.")
@click.option("--migrate", is_flag=True, help="With --dsn: apply the migrations that the database lacks.")
@click.pass_obj
def demo(dsn: str | None, duration: str | None, migrate: bool) -> int:
    """Start an embedded Postgres and show that it keeps what is committed.

    Every tick commits one row durably and tells how long that took. The data stays: the next demo finds it. Job
    handlers and schedules join the demo with the runtime.

    It uses the embedded Postgres whatever PULSE_DSN says; only --dsn sends it elsewhere, where it makes the schema
    pulse_demo.

    \b
    Examples:
      pulse-runtime demo --for 10s
      PULSE_HOME=/tmp/pulse pulse-runtime demo
    """
    from pulse_runtime.demo import run
    from pulse_runtime.durations import parse_s

    for_s = None if duration is None else parse_s(duration)
    return run(dsn=dsn, for_s=for_s, migrate=migrate)
