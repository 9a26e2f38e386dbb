"""What a run cost: CPU and memory by process, WAL, transactions."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pulse_runtime.store.connect import Connection

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_RESIDENT = re.compile(r"^Rss(?:Anon|File):\s+(\d+) kB", re.MULTILINE)
_METERS = """select pg_current_wal_insert_lsn() - '0/0', xact_commit + xact_rollback
  from pg_stat_database where datname = current_database()"""


@dataclass(frozen=True)
class Reading:
    """At one moment; take the difference of two. A process that was replaced in between counts from its start."""

    wal_bytes: int
    transactions: int
    cpu_s: dict[str, float]
    rss_mb: dict[str, float]

    def cpu_since(self, before: "Reading") -> dict[str, float]:
        """Seconds by process."""
        return {name: max(0.0, used - before.cpu_s.get(name, 0.0)) for name, used in self.cpu_s.items()}


def read(connection: Connection, processes: dict[str, int]) -> Reading:
    """`processes` are those of a tree; the server's are added when it runs on this machine."""
    connection.execute("select pg_stat_force_next_flush()")
    wal, transactions = connection.execute(_METERS).fetchall()[0]
    cpu = {name: cpu_s(pid) for name, pid in processes.items()}
    postmaster = postmaster_of(connection)
    if postmaster is not None:
        cpu["postgres"] = server_cpu_s(postmaster)
    return Reading(int(wal), int(transactions), cpu, {name: rss_mb(pid) for name, pid in processes.items()})


def cpu_s(pid: int) -> float:
    """What the process has used so far, without its children; 0 if it is gone."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S if fields else 0.0


def rss_mb(pid: int) -> float:
    """Resident memory with what it has from its parent, without shared memory, which is our stamps; 0 if it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return sum(int(kb) for kb in _RESIDENT.findall(status)) * 1024 / 1e6


def postmaster_of(connection: Connection) -> int | None:
    """The server's first process, if the server is on this machine as far as we can tell: on a unix socket."""
    row = connection.execute("select pg_backend_pid() where inet_server_addr() is null").fetchone()
    fields = _stat(row[0]) if row else []
    return int(fields[1]) if fields else None


def server_cpu_s(postmaster: int) -> float:
    """Of the postmaster and all its processes, those that ended included."""
    root = _stat(postmaster)
    if not root:
        return 0.0
    living = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := _stat(int(folder.name))) and int(fields[1]) == postmaster:
            living += int(fields[11]) + int(fields[12])
    return (sum(map(int, root[11:15])) + living) / _TICKS_PER_S


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may hold anything."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
