"""Pulse: a Postgres-backed job and schedule runtime for Python."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pulse_runtime._version import __version__

if TYPE_CHECKING:
    from pulse_runtime.client import Handle, aenqueue, aenqueue_many, enqueue, enqueue_many
    from pulse_runtime.errors import ConfigError, NoDatabase, PulseError
    from pulse_runtime.handlers import BadHandler, Context, Handler, job
    from pulse_runtime.job_spec import Job
    from pulse_runtime.job_values import BadJob
    from pulse_runtime.producers.errors import EnqueueUnsure, WrongConnection
    from pulse_runtime.retry import BadRetry, Retry

__all__ = [
    "BadHandler",
    "BadJob",
    "BadRetry",
    "ConfigError",
    "Context",
    "EnqueueUnsure",
    "Handle",
    "Handler",
    "Job",
    "NoDatabase",
    "PulseError",
    "Retry",
    "WrongConnection",
    "__version__",
    "aenqueue",
    "aenqueue_many",
    "enqueue",
    "enqueue_many",
    "job",
]

_HOMES = {
    "client": ("Handle", "aenqueue", "aenqueue_many", "enqueue", "enqueue_many"),
    "errors": ("ConfigError", "NoDatabase", "PulseError"),
    "handlers": ("BadHandler", "Context", "Handler", "job"),
    "job_spec": ("Job",),
    "job_values": ("BadJob",),
    "producers.errors": ("EnqueueUnsure", "WrongConnection"),
    "retry": ("BadRetry", "Retry"),
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
