"""The processes of all actors but the executor: each makes its hub, its lines and its actor, and runs it.

Each imports what it needs when it begins: psycopg takes 0.2 s of a core, and three of the five have no line.
"""

import time
from collections.abc import Callable

from pulse_runtime.actors.loop import run
from pulse_runtime.errors import PulseError
from pulse_runtime.events import Log
from pulse_runtime.settings import RuntimeSettings
from pulse_runtime.topology import incoming
from pulse_supervisor import Hub, Seat
from pulse_supervisor.child import killed_with_parent

_LISTEN = b"; set tcp_user_timeout = 10000; set tcp_keepalives_idle = 5; listen pulse"


def claimer(seat: Seat) -> int:
    from pulse_runtime.actors.boot import check_database
    from pulse_runtime.actors.claimer import Claimer
    from pulse_runtime.identity import here
    from pulse_runtime.store import claims
    from pulse_runtime.store.line import SESSION, Line
    from pulse_runtime.timing.zones import zone_version

    settings, log = _begin(seat)
    if seat.first and (code := _boot(lambda: check_database(settings), log)):
        return code
    hub = Hub(seat, incoming("claimer"))
    # Bound late: the line exists before the claimer that it wakes.
    line = Line(
        settings.dsn,
        actor=f"claimer {settings.name}",
        hub=hub,
        log=log,
        on_connect=b"" if settings.pooled else SESSION + _LISTEN,
        notified=lambda queue: actor.notified(queue),
    )
    line.ask(claims.rezone(zone_version(), lambda _: None), time.monotonic())
    actor = Claimer(hub, line, settings, here(), log)
    hub.ready()
    return run(actor, hub, log, [line])


def reporter(seat: Seat) -> int:
    from pulse_runtime.actors.boot import take_over
    from pulse_runtime.actors.reporter import Reporter
    from pulse_runtime.actors.upkeep import Upkeep
    from pulse_runtime.identity import here
    from pulse_runtime.store.line import SESSION, Line

    settings, log = _begin(seat)
    if seat.first and (code := _boot(lambda: take_over(settings, here(), log), log)):
        return code
    hub = Hub(seat, incoming("reporter"))
    on_connect = b"" if settings.pooled else SESSION
    settling, extending, keeping = (
        Line(settings.dsn, actor=f"reporter {part} {settings.name}", hub=hub, log=log, on_connect=on_connect)
        for part in ("settle", "extend", "keep")
    )
    actor = Reporter(hub, settling, extending, Upkeep(hub, keeping, settings, log), settings, log)
    hub.ready()
    return run(actor, hub, log, [settling, extending, keeping])


def heartbeat(seat: Seat) -> int:
    from pulse_runtime.actors.heartbeat import Heartbeat

    settings, log = _begin(seat)
    hub = Hub(seat, incoming("heartbeat"))
    hub.ready()
    return run(Heartbeat(hub, beat_s=settings.beat_s, silence_s=settings.silence_s, log=log), hub, log)


def scheduler(seat: Seat) -> int:
    from pulse_runtime.actors.scheduler import Scheduler
    from pulse_runtime.timing.zones import zone_version

    settings, log = _begin(seat)
    hub = Hub(seat, incoming("scheduler"))
    hub.ready()
    actor = Scheduler(hub, zone_version=zone_version(), horizon_s=settings.keep_failures_s, log=log)
    return run(actor, hub, log)


def watchdog(seat: Seat) -> int:
    from pulse_runtime.actors.watchdog import Watchdog

    settings, log = _begin(seat)
    hub = Hub(seat, incoming("watchdog"))
    hub.ready()
    return run(Watchdog(hub, lease_s=settings.lease_s, beat_s=settings.beat_s), hub, log)


def _begin(seat: Seat) -> tuple[RuntimeSettings, Log]:
    settings: RuntimeSettings = seat.facts["settings"]
    return settings, Log(str(seat.peer), pretty=settings.pretty)


def _boot(check: Callable[[], None], log: Log) -> int:
    """0, or the exit code that ends the tree: what is wrong at the first boot is a reason not to start."""
    try:
        with killed_with_parent():
            check()
    except PulseError as error:
        log("refused to start", why=str(error))
        return error.exit_code
    return 0
