"""What a measurement cost Postgres: WAL, CPU, rows read, rows left dead."""

import os
from dataclasses import dataclass
from pathlib import Path

from benchmarks.store.cluster import Connection

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# Index entries and not the rows they led to: entries of dead rows count, and an index-only scan counts whether or not
# vacuum has been there.
ROWS_READ = """select
  (select coalesce(sum(idx_tup_read), 0) from pg_stat_all_indexes where schemaname = 'pulse')::bigint
+ (select coalesce(sum(seq_tup_read), 0) from pg_stat_all_tables where schemaname = 'pulse')::bigint"""
DEAD = "select coalesce(sum(n_dead_tup), 0)::bigint from pg_stat_all_tables where schemaname = %s"


@dataclass(frozen=True, kw_only=True)
class Process:
    """What /proc says of a process, in clock ticks. `reaped` is the time of its children that have ended."""

    parent: int
    own: int
    reaped: int


def process_of(stat: str) -> Process:
    """Read the text of /proc/PID/stat. The name, in parentheses, may hold anything, parentheses included."""
    fields = stat.rpartition(")")[2].split()
    utime, stime, cutime, cstime = map(int, fields[11:15])
    return Process(parent=int(fields[1]), own=utime + stime, reaped=cutime + cstime)


def cpu_s(pid: int) -> float:
    """CPU that one process has used, without its children."""
    return process_of(Path(f"/proc/{pid}/stat").read_text()).own / TICKS_PER_S


def server_cpu_s(postmaster: int) -> float:
    """CPU that the postmaster and all its processes have used, those that ended included. Never falls."""
    path = Path(f"/proc/{postmaster}/stat")
    root = process_of(path.read_text())
    while True:
        living = sum(each.own for each in _processes() if each.parent == postmaster)
        before, root = root, process_of(path.read_text())
        if root.reaped == before.reaped:  # else one ended while we looked, and was counted twice or not at all
            return (root.own + root.reaped + living) / TICKS_PER_S


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The server's meters at one moment."""

    cpu_s: float
    wal_bytes: int
    checkpoint: str

    def since(self, before: "Reading") -> "Reading":
        """What was used in between. Raises if a checkpoint fell in: full page images would be counted as the jobs'."""
        if self.checkpoint != before.checkpoint:
            raise RuntimeError("a checkpoint fell into the measurement; raise max_wal_size")
        return Reading(
            cpu_s=self.cpu_s - before.cpu_s, wal_bytes=self.wal_bytes - before.wal_bytes, checkpoint=self.checkpoint
        )


def read(connection: Connection, postmaster: int) -> Reading:
    """Flushed or not, all WAL counts."""
    query = "select pg_current_wal_insert_lsn() - '0/0', checkpoint_lsn::text from pg_control_checkpoint()"
    wal, checkpoint = connection.execute(query).fetchall()[0]
    return Reading(cpu_s=server_cpu_s(postmaster), wal_bytes=int(wal), checkpoint=checkpoint)


def rows_read(connection: Connection) -> int:
    """What all sessions have read so far of Pulse's tables and indexes: take the difference of two."""
    connection.execute("select pg_stat_force_next_flush()")
    return int(connection.execute(ROWS_READ).fetchall()[0][0])


def dead_rows(connection: Connection, schema: str) -> int:
    """The dead rows of a schema that a vacuum, run here, could not remove."""
    for (table,) in connection.execute(
        "select format('%%I.%%I', schemaname, relname) from pg_stat_all_tables where schemaname = %s", (schema,)
    ).fetchall():
        connection.execute(f"vacuum {table}".encode(), prepare=False)
    return int(connection.execute(DEAD, (schema,)).fetchall()[0][0])


def _processes() -> list[Process]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                found.append(process_of((folder / "stat").read_text()))
            except (FileNotFoundError, ProcessLookupError):
                continue  # it ended just now; its parent has its time, or will
    return found
