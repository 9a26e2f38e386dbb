"""The housekeeping that goes on beside the work."""

import random

import psycopg
from stress.line import Line
from stress.record import Seen

WIDTH = 300
# A partition lasts for a fraction of a second and is dropped as soon as it may be.
ROUNDS = (
    f"select cardinality(added) from pulse.keep_ahead(interval '200 ms', {WIDTH})",
    "select pulse.cut(1000)",
    "select cardinality(dropped) from pulse.drop_partitions(interval '100 ms')",
    "select claims from pulse.prune(interval '100 ms', interval '1 day')",
    "select pulse.prune_lanes(interval '300 ms')",
)


def narrow(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Begin with small partitions instead of those of a million numbers that the schema comes with."""
    for (name,) in connection.execute("select name from pulse.partition").fetchall():
        connection.execute(f"drop table pulse.{name}".encode())
    connection.execute("truncate pulse.partition")
    connection.execute(ROUNDS[0].encode())


class Keeper:
    """Finds lanes and promotes what is due."""

    def __init__(self, line: Line, dice: random.Random, seen: Seen, _: int) -> None:
        self._line, self._dice, self._seen = line, dice, seen

    def step(self) -> None:
        self._line.read("select pulse.discover()")
        self._line.read("select pulse.promote(%s)", self._dice.choice([1, 1000]))
        self._seen.stop.wait(0.01)


class Sweeper:
    """Makes partitions, burns numbers, drops what is decided and forgets what belonged to it."""

    def __init__(self, line: Line, dice: random.Random, seen: Seen, _: int) -> None:
        self._line, self._dice, self._seen = line, dice, seen

    def step(self) -> None:
        self._seen.stop.wait(0.02)
        kind = self._dice.choices(ROUNDS, weights=[4, 1, 4, 1, 1])[0]
        self._seen.count(kind.split("pulse.")[1].split("(")[0], self._line.ask(kind))


def kept_of(line: Line, seqs: dict[str, int]) -> set[str]:
    """Of jobs and their numbers, those whose partition was not dropped."""
    ranges = line.read("select lower_seq, upper_seq from pulse.partition")
    top = max(upper for _, upper in ranges)  # numbers beyond are in log_default
    return {job for job, seq in seqs.items() if seq >= top or any(lower <= seq < upper for lower, upper in ranges)}
