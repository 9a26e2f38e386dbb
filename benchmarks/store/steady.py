"""Claims at a depth that stays: what was claimed is settled, and as much is added at the other end."""

from collections.abc import Mapping, Sequence

from benchmarks.store import meters, pulse
from benchmarks.store.cluster import Connection
from benchmarks.store.pulse import Batch, Claimer


class Steady:
    """One case of a comparison: a database with pending jobs in `queue`, claimed from all of `queues`."""

    def __init__(self, connection: Connection, *, queue: str = "default", queues: Sequence[str] = ()) -> None:
        self.connection = connection
        self._queue = queue
        self._claimer = Claimer(connection, queues or [queue])

    def claim_ms(self) -> float:
        """The milliseconds of one claim of a full batch, its commit included."""
        took_ms, batches = self._claimer.timed_claim()
        self._refill(batches)
        return took_ms

    def rows_read(self) -> int:
        """What one claim of a full batch read: rows, or the index entries that led to them.

        The fewest of five: an entry whose row has died is counted as long as no vacuum and no reader has marked it.
        """
        return min(self._rows_of_a_claim() for _ in range(5))

    def _rows_of_a_claim(self) -> int:
        before = meters.rows_read(self.connection)
        _, batches = self._claimer.timed_claim()
        read = meters.rows_read(self.connection) - before
        self._refill(batches)
        return read

    def _refill(self, batches: Sequence[Batch]) -> None:
        self._claimer.settle(batches)
        pulse.enqueue(self.connection, queue=self._queue)


def in_turn(cases: Mapping[str, Steady], claims: int) -> dict[str, list[float]]:
    """So many claims of each case in milliseconds, one of each in turn: what disturbs one disturbs all."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(claims):
        for name, case in cases.items():
            times[name].append(case.claim_ms())
    return times
