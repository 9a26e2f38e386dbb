"""The tree of a runtime, from its settings."""

import os
import sys
from collections.abc import Callable

from pulse_runtime import topology
from pulse_runtime.events import Log
from pulse_runtime.execution import black_box
from pulse_runtime.execution.limits import Overdue
from pulse_runtime.settings import RuntimeSettings, check
from pulse_supervisor import Child, Restart, Seat, Supervisor
from pulse_supervisor.process import fork

_REFUSALS = (4, 5, 78)
PATIENCE_S = 30.0


def run(settings: RuntimeSettings) -> int:
    """Until it is told to stop. Returns the exit status."""
    check(settings)
    # Bytecode is told from its source by size and second: two edits within one second could be taken for the first.
    sys.dont_write_bytecode = sys.dont_write_bytecode or settings.reload
    log = Log("supervisor", pretty=settings.pretty)
    code = in_child(lambda: _try_handlers(settings, log))
    if code:
        return code
    tree = Supervisor(_children(settings), topology.links(), name=settings.name, log=log, facts={"settings": settings})
    return tree.run()


def _children(settings: RuntimeSettings) -> list[Child]:
    children = []
    for kind in topology.ACTORS:
        stage = next(number for number, kinds in enumerate(topology.STOPS) if kind in kinds)
        if kind == "executor":
            children.append(_executor(settings, stage))
        else:
            children.append(_actor(settings, kind, stage))
    if settings.reload:
        children.append(Child(kind="reloader", main=_main("reloader"), grace_s=3.0, ready_s=20.0))
    return children


def _actor(settings: RuntimeSettings, kind: str, stage: int) -> Child:
    """READY may take a lease time at the first boot: a namesake on another host is watched for so long."""
    return Child(
        kind=kind,
        main=_main(kind),
        stop_stage=stage,
        grace_s=min(max(settings.grace_s, 3.0), 10.0) if kind == "reporter" else 3.0,
        ready_s=20.0 + settings.lease_s,
        silent_s=settings.stuck_s,
        refusals=_REFUSALS,
    )


def _executor(settings: RuntimeSettings, stage: int) -> Child:
    return Child(
        kind="executor",
        main=_main("executor"),
        restart=Restart(forgiving=True, longest_s=2.0),  # jobs that crash it are found and put aside, one by one
        count=settings.executors,
        stop_stage=stage,
        grace_s=settings.grace_s,
        ready_s=60.0,
        rolling=True,
        killed_with_us=True,
        leads_group=True,
        oom_score_adj=500,
        box_bytes=black_box.size_for(settings.concurrency),
        overdue=Overdue(settings.cleanup_s, settings.hard_memory),
        mourners=topology.MOURNERS,
    )


def _main(kind: str) -> Callable[[Seat], int | None]:
    """Imported in the child: psycopg, uvloop and user code are not for the process that forks."""

    def main(seat: Seat) -> int | None:
        if kind == "executor":
            from pulse_runtime.actors import executing

            return executing.main(seat)
        if kind == "reloader":
            from pulse_runtime.actors import reloading

            return reloading.main(seat)
        from pulse_runtime.actors import processes

        body: Callable[[Seat], int | None] = getattr(processes, kind)
        return body(seat)

    return main


def _try_handlers(settings: RuntimeSettings, log: Log) -> int:
    """In a throw-away child: an import error, or a schedule that cannot be, is one clear message and an exit status."""
    from pulse_runtime.errors import PulseError
    from pulse_runtime.loading import load

    try:
        load(settings.handlers)
        _declare(settings, log)
    except PulseError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _declare(settings: RuntimeSettings, log: Log) -> None:
    """Schedules that the handlers' modules declare are as the database has them, from here on."""
    from pulse_runtime.scheduling.declaring import reconcile
    from pulse_runtime.store.connect import connect
    from pulse_runtime.store.deadlines import within

    with (
        connect(settings.dsn, actor=f"schedules {settings.name}") as connection,
        within(connection, PATIENCE_S, asked="compare the schedules that the code declares"),
    ):
        for change in reconcile(connection, settings.handlers, settings.schedules):
            log("schedule declared", change=str(change))


def in_child(body: Callable[[], int]) -> int:
    """The exit status of `body` in a process of its own."""
    pid = fork(body, title="pulse: trying handlers", killed_with_us=True)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
