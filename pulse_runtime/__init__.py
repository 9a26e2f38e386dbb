"""Pulse: a Postgres-backed job and schedule runtime for Python."""

from pulse_runtime._version import __version__

__all__ = ["__version__"]
