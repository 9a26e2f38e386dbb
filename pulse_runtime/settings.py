"""What a runtime was told, checked before anything starts."""

import importlib.util
from dataclasses import dataclass
from typing import Literal

from pulse_runtime.errors import ConfigError

LOOPS = ("uvloop", "trio")
LEAST_BEAT_S = 0.01
"""Each is a transaction."""
LEAST_MEMORY = 64 << 20
"""Executors with less would be replaced before they had run anything."""
MOST_CONCURRENCY = 10_000
"""A black box has a kibibyte for each, and travels whole when its executor has died."""


@dataclass(frozen=True, kw_only=True)
class RuntimeSettings:
    """Known to every actor; never changed."""

    dsn: str
    name: str
    handlers: tuple[str, ...] = ()
    queues: tuple[tuple[str, int], ...] = (("default", 1),)
    """Names and shares: of ten claims, so many start at that queue."""
    executors: int = 2
    concurrency: int = 100
    lease_s: float = 30.0
    beat_s: float = 5.0
    grace_s: float = 25.0
    cleanup_s: float = 3.0
    """After its time was up, a handler that was cancelled may go on for so long; then its executor is killed."""
    max_jobs: int | None = None
    """An executor that has run so many is replaced, when it has finished those that it runs."""
    max_memory: int | None = None
    """One that has grown to so many bytes, too."""
    hard_memory: int | None = None
    """And one that has grown to so many is killed."""
    keep_s: float = 7 * 86400.0
    keep_failures_s: float = 30 * 86400.0
    schedules: Literal["sync", "strict"] = "sync"
    """What becomes of a difference between the schedules that the code declares and those stored."""
    shards: int | None = None
    """Schedules are split into so many parts, and this runtime fires part `shard`. None: by the runtimes that live."""
    shard: int | None = None
    loop: str = "uvloop"
    """Which one runs async handlers: asyncio on uvloop, or trio."""
    pooled: bool = False
    """The DSN leads to a pooler: nothing is left in a session, so polling replaces LISTEN."""
    reload: bool = False
    """Executors are replaced when a file of the handlers changes: for development."""
    pretty: bool | None = None

    @property
    def silence_s(self) -> float:
        """After so long without a beat an executor is killed here, before anyone else may reap it."""
        return max(self.lease_s - 5.0, self.lease_s * 0.6)

    @property
    def stuck_s(self) -> float:
        """After so long without a turn of its loop an actor is replaced: before the leases that it looks after lapse.

        A reporter may have extended them a beat before it was stopped; to find that out, to start another one and to
        have that one connect takes two seconds on a busy machine. Not less than 3 s, because libpq asks for a host's
        address without letting go: with leases under 8 s a stopped reporter may cost some.
        """
        return max(self.lease_s - 2 * self.beat_s - 3.0, 3.0)


def check(settings: RuntimeSettings) -> None:
    """Raises ConfigError for what cannot work."""
    _check_beats(settings)
    if settings.loop not in LOOPS:
        raise ConfigError(f"there is no loop {settings.loop!r}; it is one of {', '.join(LOOPS)}", source="--loop")
    if settings.loop == "trio" and importlib.util.find_spec("trio") is None:
        raise ConfigError("trio is not installed. Install pulse-runtime[trio]", source="--loop")
    _check_handlers(settings.handlers)
    _check_executors(settings)
    if (settings.shards is None) != (settings.shard is None):
        raise ConfigError("--shards and --shard go together: --shards 4 --shard 0", source="--shards")
    if settings.shards is not None and not 0 <= (settings.shard or 0) < settings.shards:
        raise ConfigError(f"with {settings.shards} shards it is from 0 to {settings.shards - 1}", source="--shard")
    names = [name for name, _ in settings.queues]
    if len(set(names)) < len(names) or not names:
        raise ConfigError(f"each queue once, please: {', '.join(names)}", source="--queues")
    if any(share < 1 for _, share in settings.queues):
        raise ConfigError("a share is 1 or more", source="--queues")


def _check_beats(settings: RuntimeSettings) -> None:
    if settings.beat_s < LEAST_BEAT_S:
        raise ConfigError(f"it must be at least {LEAST_BEAT_S:g} s, and is {settings.beat_s:g} s", source="--beat")
    if settings.beat_s * 3 >= settings.lease_s:
        raise ConfigError(
            f"a beat every {settings.beat_s:g} s is too slow for a lease of {settings.lease_s:g} s: three must fit. "
            "Lower --beat or raise --lease",
            source="--beat",
        )


def _check_handlers(names: tuple[str, ...]) -> None:
    for name in names:
        if not name.strip():
            raise ConfigError("it is empty; name a module, for example myapp.jobs", source="--handlers")
        if "/" in name or name.endswith(".py"):
            module = name.removesuffix(".py").strip("./").replace("/", ".")
            raise ConfigError(f"{name} is a file; name a module, perhaps {module}", source="--handlers")


def _check_executors(settings: RuntimeSettings) -> None:
    if settings.max_jobs is not None and settings.max_jobs < 1:
        raise ConfigError(f"it must be at least 1, and is {settings.max_jobs}", source="--max-jobs")
    soft, hard = settings.max_memory, settings.hard_memory
    for flag, size in (("--max-memory", soft), ("--hard-memory", hard)):
        if size is not None and size < LEAST_MEMORY:
            problem = f"it must be at least {LEAST_MEMORY >> 20}MiB, and is {size} bytes: an executor has 40MiB at rest"
            raise ConfigError(problem, source=flag)
    if soft is not None and hard is not None and hard <= soft:
        problem = f"{hard >> 20}MiB is not more than --max-memory, {soft >> 20}MiB, which lets jobs finish first"
        raise ConfigError(problem, source="--hard-memory")
    for flag, value in (("--executors", settings.executors), ("--concurrency", settings.concurrency)):
        if value < 1:
            raise ConfigError(f"it must be at least 1, and is {value}", source=flag)
    if settings.concurrency > MOST_CONCURRENCY:
        problem = f"it is at most {MOST_CONCURRENCY}, and is {settings.concurrency}: raise --executors instead"
        raise ConfigError(problem, source="--concurrency")


def parse_queues(text: str) -> tuple[tuple[str, int], ...]:
    """`mail:20,default` as names and shares. Raises ConfigError."""
    found = []
    for part in text.split(","):
        name, colon, share = part.strip().rpartition(":")
        if not colon:
            name, share = part.strip(), "1"
        if not name or not share.isdecimal():
            raise ConfigError(f"cannot read {part!r}; write for example mail:20,default", source="--queues")
        found.append((name, int(share)))
    return tuple(found)
