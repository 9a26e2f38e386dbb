"""The command line. `pulse-runtime --help` loads this package, `lazy` and click: nothing else, so that it is quick."""

from pulse_runtime.cli.program import main

__all__ = ["main"]
