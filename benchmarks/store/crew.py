"""Processes that work at the same time: started, made ready, and let go together."""

import contextlib
import fcntl
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection as Pipe
from multiprocessing.connection import wait as ready
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, NamedTuple

# Not fork: the parent holds connections, and a share in the server.
CONTEXT = multiprocessing.get_context("spawn")


class Member(NamedTuple):
    """A process: a generator function of a module, and its arguments. It is ready at its first `yield`."""

    work: Callable[..., Iterator[None]]
    values: tuple[Any, ...]


class Tally(NamedTuple):
    """A number that the processes of a crew share, in a file."""

    path: str

    def add(self, n: int) -> int:
        """The sum after `n` was added to it."""
        with Path(self.path).open("r+b", buffering=0) as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            total = int(file.read()) + n
            file.seek(0)
            file.write(b"%020d" % total)
        return total

    @property
    def sum(self) -> int:
        return self.add(0)


@contextlib.contextmanager
def tally() -> Iterator[Tally]:
    """A new one, at zero."""
    with tempfile.NamedTemporaryFile(prefix="pulse-bench-") as file:
        file.write(b"0" * 20)
        file.flush()
        yield Tally(file.name)


@contextlib.contextmanager
def crew(members: Sequence[Member]) -> Iterator[Callable[[], float]]:
    """A function that lets all members go and returns the seconds until the last one was done.

    Raises CrewError when one fails. None of them outlives the block.
    """
    with contextlib.ExitStack() as stack:
        pipes = [stack.enter_context(_member(each)) for each in members]
        _wait(pipes)

        def go() -> float:
            started = time.perf_counter()
            for pipe in pipes:
                pipe.send("go")
            _wait(pipes)
            return time.perf_counter() - started

        yield go


class CrewError(RuntimeError):
    """A member of the crew failed, so what was measured means nothing."""


@contextlib.contextmanager
def _member(member: Member) -> Iterator[Pipe]:
    ours, theirs = CONTEXT.Pipe()
    process: SpawnProcess = CONTEXT.Process(target=_main, args=(theirs, member), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours
        ours.close()
        process.join(timeout=5)  # its connection ends in order; after an error nobody waits for that
    finally:
        ours.close()
        process.kill()
        process.join()
        process.close()


def _main(pipe: Pipe, member: Member) -> None:
    """Ends when it is done, or when the parent has closed its end."""
    try:
        steps = member.work(*member.values)
        next(steps)
        pipe.send("")
        pipe.recv()
        for _ in steps:
            pass
        pipe.send("")
    except (EOFError, KeyboardInterrupt):
        return
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")


def _wait(pipes: Sequence[Pipe]) -> None:
    """Until each has said a word; the first bad one ends it, whoever is still at work."""
    silent = set(pipes)
    while silent:
        for pipe in silent.intersection(ready(list(silent))):
            try:
                trouble = pipe.recv()
            except EOFError:
                trouble = "it ended without a word"
            if trouble:
                raise CrewError(f"a process of the crew failed: {trouble}")
            silent.remove(pipe)
