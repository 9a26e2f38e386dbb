"""Databases with a past: jobs that were settled and kept, in many partitions."""

from collections.abc import Callable

from benchmarks.store import pulse
from benchmarks.store.cluster import Connection
from benchmarks.store.pulse import Claimer

PARTITION = 10_000
CURRENT = 1_000_000
DATED = """update pulse.partition p
   set opened_at = now() - (%s - q.day) * interval '1 day' - interval '1 hour',
       closed_at = now() - (%s - q.day) * interval '1 day' + interval '22 hours'
  from (select lower_seq, row_number() over (order by lower_seq) - 1 as day from pulse.partition) q
 where q.lower_seq = p.lower_seq"""
"""Each partition is of its day, counted from the first."""
PER_PARTITION = 1_000
"""Jobs that were kept in each: a claim that opened one would find the pages of its indexes, not an empty file."""


def keep_days(connection: Connection, jobs: int, days: int, progress: Callable[[str], None]) -> None:
    """`jobs` that were settled, as many on each of the last `days`, and a partition for each day."""
    for _ in range(_made(connection), days + 1):
        _add(connection, max(CURRENT, jobs // days))
    claimer = Claimer(connection)
    for day in range(days):
        progress(f"day {day + 1} of {days}, {jobs // days:,} jobs each")
        pulse.insert(connection, jobs // days, days_ago=days - day)
        claimer.discover()
        for _ in pulse.drain(claimer, jobs // days):
            pass
        _cut(connection)
    connection.execute(DATED, (days, days))
    connection.execute("vacuum analyze")


def keep_partitions(connection: Connection, kept: int, progress: Callable[[str], None]) -> None:
    """All but the last of `kept` partitions hold settled jobs; the log goes on in the last, which is large."""
    for number in range(_made(connection), kept):
        _add(connection, CURRENT if number == kept - 1 else PARTITION)
    claimer = Claimer(connection)
    for number in range(kept - 1):
        if number % 20 == 0:
            progress(f"{number} of {kept} partitions filled")
        pulse.enqueue(connection, PER_PARTITION)
        claimer.discover()
        for _ in pulse.drain(claimer, PER_PARTITION):
            pass
        _cut(connection)


def go_on_in_one(connection: Connection, room: int) -> None:
    """A log without jobs goes on in a partition of its own that has room for so many."""
    _add(connection, room)
    for _ in range(_made(connection) - 1):
        connection.execute("select nextval('pulse.log_seq')")
        _cut(connection)


def _made(connection: Connection) -> int:
    return int(connection.execute("select count(*) from pulse.partition").fetchall()[0][0])


def _add(connection: Connection, width: int) -> None:
    """Its locks are tried for 50 ms only: a vacuum may be at the log."""
    for _ in range(100):
        if connection.execute("select pulse.add_partition(%s)", (width,)).fetchall()[0][0] is not None:
            return
    raise RuntimeError("no partition could be added: the locks were not to be had")


def _cut(connection: Connection) -> None:
    burnt = connection.execute("select pulse.cut(%s)", (CURRENT,)).fetchall()[0][0]
    if not burnt:
        raise RuntimeError("there is no next partition to go on in")
    connection.execute("select pulse.note_partitions()")
