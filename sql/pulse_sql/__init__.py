"""The SQL of Pulse as files: migrations in their order, and the snapshot of what they make. It knows no database."""

from pulse_sql.migrations import Migration, migrations
from pulse_sql.snapshot import snapshot

__all__ = ["Migration", "migrations", "snapshot"]
