"""Pulse: a Postgres-backed job and schedule runtime for Python."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pulse_runtime._version import __version__

if TYPE_CHECKING:
    from pulse_runtime.client import aenqueue, aenqueue_many, enqueue, enqueue_many
    from pulse_runtime.context import Context
    from pulse_runtime.errors import ConfigError, DatabaseSilent, NoDatabase, PulseError
    from pulse_runtime.handlers import Handler, job
    from pulse_runtime.job_errors import (
        ChangeUnsure,
        EnqueueUnsure,
        InvalidTransition,
        NoSuchJob,
        NotCompleted,
        NotFinished,
        ResultNotKept,
        WrongConnection,
    )
    from pulse_runtime.job_spec import Job
    from pulse_runtime.job_values import BadJob
    from pulse_runtime.jobs import (
        Handle,
        acancel,
        aget,
        ahistory,
        amove,
        aresult,
        aretry,
        await_for,
        cancel,
        get,
        history,
        move,
        result,
        retry,
        wait,
    )
    from pulse_runtime.records import Delivery, JobRecord, Progress, Status
    from pulse_runtime.retry_policy import BadRetry, Retry
    from pulse_runtime.signatures import BadHandler
    from pulse_runtime.verdicts import Cancel, Fail, Snooze

__all__ = [
    "BadHandler",
    "BadJob",
    "BadRetry",
    "Cancel",
    "ChangeUnsure",
    "ConfigError",
    "Context",
    "DatabaseSilent",
    "Delivery",
    "EnqueueUnsure",
    "Fail",
    "Handle",
    "Handler",
    "InvalidTransition",
    "Job",
    "JobRecord",
    "NoDatabase",
    "NoSuchJob",
    "NotCompleted",
    "NotFinished",
    "Progress",
    "PulseError",
    "ResultNotKept",
    "Retry",
    "Snooze",
    "Status",
    "WrongConnection",
    "__version__",
    "acancel",
    "aenqueue",
    "aenqueue_many",
    "aget",
    "ahistory",
    "amove",
    "aresult",
    "aretry",
    "await_for",
    "cancel",
    "enqueue",
    "enqueue_many",
    "get",
    "history",
    "job",
    "move",
    "result",
    "retry",
    "wait",
]

_HOMES = {
    "client": ("aenqueue", "aenqueue_many", "enqueue", "enqueue_many"),
    "context": ("Context",),
    "errors": ("ConfigError", "DatabaseSilent", "NoDatabase", "PulseError"),
    "handlers": ("Handler", "job"),
    "job_errors": (
        "ChangeUnsure",
        "EnqueueUnsure",
        "InvalidTransition",
        "NoSuchJob",
        "NotCompleted",
        "NotFinished",
        "ResultNotKept",
        "WrongConnection",
    ),
    "job_spec": ("Job",),
    "job_values": ("BadJob",),
    "jobs": (
        "Handle",
        "acancel",
        "aget",
        "ahistory",
        "amove",
        "aresult",
        "aretry",
        "await_for",
        "cancel",
        "get",
        "history",
        "move",
        "result",
        "retry",
        "wait",
    ),
    "records": ("Delivery", "JobRecord", "Progress", "Status"),
    "retry_policy": ("BadRetry", "Retry"),
    "signatures": ("BadHandler",),
    "verdicts": ("Cancel", "Fail", "Snooze"),
}


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, so that the command line starts without psycopg and msgspec."""
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"pulse_runtime.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'pulse_runtime' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
