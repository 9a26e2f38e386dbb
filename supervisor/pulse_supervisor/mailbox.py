"""Events that wait to be taken, and a descriptor that is readable while some do that no wire would tell of."""

import os

from pulse_supervisor.events import Event


class Mailbox:
    """`quiet` while whoever takes the events is at work anyway."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._reading, self._writing = os.pipe()
        self._nudged = False
        self.quiet = False

    def __bool__(self) -> bool:
        return bool(self._events)

    def fileno(self) -> int:
        return self._reading

    def put(self, event: Event) -> None:
        self._events.append(event)
        if not self.quiet and not self._nudged:
            self._nudged = True
            os.write(self._writing, b"!")

    def take(self) -> list[Event]:
        if self._nudged:
            self._nudged = False
            os.read(self._reading, 1)
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        os.close(self._reading)
        os.close(self._writing)
