"""Reports on their way: kept until they are durable, and sent no faster than they become so."""

from collections.abc import Iterator

from pulse_runtime.messages import Report

MOST_SENT_BYTES = 8 << 20
"""Sent and not durable yet. A wire that holds 32 MiB unread would be given up, and its reader with it."""


class Outbox:
    """Reports by number, in their order."""

    def __init__(self) -> None:
        self._reports: dict[int, tuple[Report, int]] = {}
        self._unsent: dict[int, None] = {}
        self._sent_bytes = 0
        self._bytes = 0
        self._number = 0

    def __len__(self) -> int:
        return len(self._reports)

    @property
    def size(self) -> int:
        """Bytes of what is not durable."""
        return self._bytes

    def next_number(self) -> int:
        self._number += 1
        return self._number

    def put(self, report: Report) -> None:
        size = _size(report)
        self._reports[report.number] = report, size
        self._unsent[report.number] = None
        self._bytes += size

    def take(self) -> Iterator[Report]:
        """What may be sent now."""
        while self._unsent and (not self._sent_bytes or self._sent_bytes < MOST_SENT_BYTES):
            number = next(iter(self._unsent))
            del self._unsent[number]
            report, size = self._reports[number]
            self._sent_bytes += size
            yield report

    def again(self) -> None:
        """The reporter is a new one: everything is to be sent to it."""
        self._unsent = dict.fromkeys(self._reports)
        self._sent_bytes = 0

    def settled(self, number: int) -> Report | None:
        """It is durable. None: it was so already."""
        found = self._reports.pop(number, None)
        if found is None:
            return None
        report, size = found
        self._bytes -= size
        if number in self._unsent:
            del self._unsent[number]
        else:
            self._sent_bytes -= size
        return report


def _size(report: Report) -> int:
    endings = sum(len(each.error or "") + len(each.follow_ups) for each in report.endings)
    return 200 + len(report.took_us) + len(report.results) + len(report.follow_ups) + endings
