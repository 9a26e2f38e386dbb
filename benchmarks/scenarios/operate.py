"""Rows of `make bench ARGS=operate`: what a person at the command line feels."""

import subprocess
import sys
import time
from pathlib import Path

from benchmarks import AtMost, Bench, Sample, scenario

PULSE = Path(sys.executable).with_name("pulse-runtime")


@scenario(
    "pulse-runtime --help, warm",
    rounds=21,
    quick_rounds=11,
    warmups=2,
    targets=(
        # The promise is 150 ms; ten is our own bound, `python -c pass` took 11 to 15 ms on two cores.
        AtMost("help_ms", 10, of="python_ms"),
        AtMost("help_ms", 150, unit="ms", label="absolute"),
    ),
)
def help_warm(bench: Bench[None]) -> Sample:
    """Process start to exit, output thrown away, beside an interpreter that does nothing."""
    return bench.interleaved(
        help_ms=lambda: _run_ms(str(PULSE), "--help"),
        python_ms=lambda: _run_ms(sys.executable, "-c", "pass"),
    )


def _run_ms(*command: str) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.perf_counter() - started) * 1000


ROWS = (help_warm,)
