"""Where embedded servers live when nobody says otherwise."""

import os
import sys
from pathlib import Path


def default_home() -> Path:
    """The folder for the embedded server: PULSE_HOME, or the user's data folder as the platform has it. Not created."""
    if chosen := os.environ.get("PULSE_HOME"):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "pulse"
    data = os.environ.get("XDG_DATA_HOME", "")
    # The XDG specification says that a relative path is to be ignored.
    return (Path(data) if Path(data).is_absolute() else Path.home() / ".local" / "share") / "pulse"
