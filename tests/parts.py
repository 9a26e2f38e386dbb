"""The tests in three processes, so that two cores have work while one of them waits: those that ask one database,
those that start runtimes and hurt them, which mostly wait (with the oracle they are a third of all), and the others.

What is given on the command line goes to all. The others' output comes as they run, the rest when it has ended. Each
has a cluster of its own, looks for what it leaves behind, and judges its skips.
"""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

TESTS = Path("tests")
RUNTIMES = ("recovery_*", "runtime*", "executors", "reload")
NO_TESTS = 5


class Part(NamedTuple):
    """Tests in a process of their own, with what they say."""

    name: str
    process: "subprocess.Popen[bytes]"
    output: IO[bytes]


def main(arguments: Sequence[str]) -> int:
    """The worst of the exit statuses."""
    pytest = [sys.executable, "-m", "pytest", *arguments]
    runtimes = [str(path) for name in RUNTIMES for path in sorted(TESTS.glob(f"system/test_{name}.py"))]
    apart = {"runtimes and oracle": [*runtimes, str(TESTS / "oracle")], "tests/db": [str(TESTS / "db")]}
    with contextlib.ExitStack() as stack:
        parts = [stack.enter_context(_part(name, [*pytest, *paths])) for name, paths in apart.items()]
        ignored = [f"--ignore={path}" for paths in apart.values() for path in paths]
        statuses = [subprocess.run([*pytest, *ignored], check=False).returncode]
        statuses += [_ended(part) for part in parts]
    return worst(statuses)


def worst(statuses: Iterable[int]) -> int:
    """One that was killed has failed; a part without tests counts only if no other has any either."""
    ran = [1 if status < 0 else status for status in statuses if status != NO_TESTS]
    return max(ran, default=NO_TESTS)


@contextlib.contextmanager
def _part(name: str, command: Sequence[str]) -> Iterator[Part]:
    """It does not outlive the block: Ctrl-C ends all."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield Part(name, process, output)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()


def _ended(part: Part) -> int:
    """Its exit status, after its output."""
    print(f"waiting for {part.name} ...", flush=True)
    status = part.process.wait()
    part.output.seek(0)
    sys.stdout.buffer.write(part.output.read())
    sys.stdout.flush()
    return status


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
