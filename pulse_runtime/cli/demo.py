"""`pulse-runtime demo`."""

import click


@click.command()
@click.option("--for", "duration", metavar="DURATION", help="End after this long, e.g. 10s. Without it: until Ctrl-C.")
def demo(duration: str | None) -> int:
    """Start an embedded Postgres and show that it keeps what is committed.

    Every tick commits one row durably and tells how long that took. The data stays: the next demo finds it. Job
    handlers and schedules join the demo with the runtime.

    \b
    Examples:
      pulse-runtime demo --for 10s
      PULSE_HOME=/tmp/pulse pulse-runtime demo
    """
    from pulse_runtime.demo import run
    from pulse_runtime.durations import parse_s

    return run(for_s=None if duration is None else parse_s(duration))
