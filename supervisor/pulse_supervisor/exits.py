"""How a process ended, in words."""

import os
import signal
from dataclasses import dataclass

CONFIGURATION = 78
"""The exit status that says: do not try again, a person has to change something (EX_CONFIG)."""


@dataclass(frozen=True)
class Exit:
    """An end: by itself with a status, or by a signal."""

    status: int | None
    signal: int | None

    @classmethod
    def of(cls, wait_status: int) -> "Exit":
        """From what `waitpid` says."""
        code = os.waitstatus_to_exitcode(wait_status)
        return cls(None, -code) if code < 0 else cls(code, None)

    def __str__(self) -> str:
        if self.signal is None:
            return f"exited with status {self.status}"
        if self.signal == signal.SIGSEGV:
            return "segfault"
        return f"killed by {_name(self.signal)}"


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
