"""The SQL of Pulse as files: migrations in their order, and the snapshot of what they make. It knows no database."""

from pulse_sql.files import Migration, grants, migrations, snapshot

__all__ = ["Migration", "grants", "migrations", "snapshot"]
