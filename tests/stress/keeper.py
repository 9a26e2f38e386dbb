"""The housekeeping that goes on beside the work."""

import random

import psycopg
from stress.line import Line
from stress.record import Seen

WIDTH = 300
# A partition lasts for a fraction of a second and is dropped as soon as it may be.
KEEP_AHEAD = f"select cardinality(added) from pulse.keep_ahead(interval '100 ms', {WIDTH})"
ROUNDS = (
    *[("partitions made", KEEP_AHEAD)] * 4,
    ("numbers burnt", "select pulse.cut(1000)"),
    ("claims pruned", "select claims from pulse.prune(interval '50 ms', interval '1 day')"),
    ("lanes forgotten", "select pulse.prune_lanes(interval '300 ms')"),
)
DROP = "(select array_to_string(dropped, ' ') from pulse.drop_partitions(interval '50 ms'))"


PAUSE, RESUME = "select pulse.pause('billing', 'crowd', 'for a while')", "select pulse.resume('billing')"


def narrow(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Begin with small partitions instead of those of a million numbers that the schema comes with."""
    for (name,) in connection.execute("select name from pulse.partition").fetchall():
        connection.execute(f"drop table pulse.{name}".encode())
    connection.execute("truncate pulse.partition")
    connection.execute(KEEP_AHEAD.encode())


class Keeper:
    """Finds lanes, promotes what is due and moves idle lanes on; pauses a queue at times, so that some jobs wait."""

    def __init__(self, line: Line, dice: random.Random, seen: Seen, _: int) -> None:
        self._line, self._dice, self._seen = line, dice, seen
        self._paused = False

    def step(self) -> None:
        self._line.read("select pulse.discover()")
        most = self._dice.choice([1, 1000])
        self._seen.count("promoted", self._line.ask("select moved from pulse.promote(%s)", most))
        self._seen.count("floors raised", self._line.ask("select pulse.raise_floors()"))
        if self._dice.random() < 0.02:
            self._line.read(RESUME if self._paused else PAUSE)
            self._paused = not self._paused
            self._seen.count("pauses", self._paused)
        self._seen.stop.wait(0.01)


class Sweeper:
    """Makes partitions, burns numbers, drops what is decided and forgets what belonged to it."""

    def __init__(self, line: Line, dice: random.Random, seen: Seen, _: int) -> None:
        self._line, self._dice, self._seen = line, dice, seen

    def step(self) -> None:
        self._seen.stop.wait(0.02)
        if self._dice.random() < 0.4:
            self._drop()
        else:
            what, statement = self._dice.choice(ROUNDS)
            self._seen.count(what, self._line.ask(statement))

    def _drop(self) -> None:
        ranges = self._line.read("select name, lower_seq, upper_seq from pulse.partition")
        names = (self._line.tell(DROP) or "").split()
        with self._seen.lock:
            self._seen.dropped += [range(lower, upper) for name, lower, upper in ranges if name in names]
