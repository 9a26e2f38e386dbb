"""The tests in two processes, so that both cores have work: those that ask one database or nobody, and those
with processes of their own.

What is given on the command line goes to both. The first half's output comes when it has ended; the other's as it runs.
"""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import IO

FIRST = ("tests/db", "tests/schedules", "tests/oracle", "tests/unit")
NO_TESTS = 5


def main(arguments: list[str]) -> int:
    """The worse of the two exit statuses."""
    pytest = [sys.executable, "-m", "pytest", *arguments]
    with tempfile.TemporaryFile() as output, _first([*pytest, *FIRST], output) as first:
        rest = subprocess.run([*pytest, *(f"--ignore={folder}" for folder in FIRST)], check=False).returncode
        print(f"waiting for {', '.join(FIRST)} ...", flush=True)
        status = first.wait()
        output.seek(0)
        sys.stdout.buffer.write(output.read())
        sys.stdout.flush()
    return worse(status, rest)


def worse(one: int, other: int) -> int:
    """One that was killed has failed; a half without tests counts only if the other has none either."""
    ran = [1 if status < 0 else status for status in (one, other) if status != NO_TESTS]
    return max(ran, default=NO_TESTS)


@contextlib.contextmanager
def _first(command: list[str], output: IO[bytes]) -> Iterator["subprocess.Popen[bytes]"]:
    """It does not outlive the block: Ctrl-C ends both."""
    process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
