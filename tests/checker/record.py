"""Writing the history: one JSON object per line, each with a single write, by any number of processes at once."""

import json
import os
import time
from pathlib import Path

VARIABLE = "PULSE_TEST_HISTORY"


class Recorder:
    """Appends to one file. Nothing is kept open, so that a fork or a kill between two lines changes nothing."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @classmethod
    def from_environment(cls) -> "Recorder":
        """The one for handlers, which know nothing but their environment."""
        file = os.environ.get(VARIABLE)
        if not file:
            raise RuntimeError(f"{VARIABLE} must name the file that handlers write their history to")
        return cls(Path(file))

    def write(self, event: str, **fields: object) -> None:
        """CLOCK_MONOTONIC is the same for all processes of a machine, so that their lines can be put in order."""
        line = {"event": event, **fields, "pid": os.getpid(), "at": time.monotonic_ns()}
        target = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.write(target, json.dumps(line, default=str).encode() + b"\n")
        finally:
            os.close(target)
