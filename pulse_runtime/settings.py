"""What a runtime was told, checked before anything starts."""

from dataclasses import dataclass

from pulse_runtime.errors import ConfigError


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
    keep_s: float = 7 * 86400.0
    keep_failures_s: float = 30 * 86400.0
    pooled: bool = False
    """The DSN leads to a pooler: nothing is left in a session, so polling replaces LISTEN."""
    pretty: bool | None = None

    @property
    def silence_s(self) -> float:
        """After so long without a beat an executor is killed here, before anyone else may reap it."""
        return max(self.lease_s - 5.0, self.lease_s * 0.6)

    @property
    def stuck_s(self) -> float:
        """After so long without a turn of its loop an actor is replaced: before the leases that it looks after lapse.

        Not less than 3 s, because libpq asks for a host's address without letting go.
        """
        return max(self.silence_s, 3.0)


def check(settings: RuntimeSettings) -> None:
    """Raises ConfigError for what cannot work."""
    if settings.beat_s * 3 >= settings.lease_s:
        raise ConfigError(
            f"a beat every {settings.beat_s:g} s is too slow for a lease of {settings.lease_s:g} s: three must fit. "
            "Lower --beat or raise --lease",
            source="--beat",
        )
    for flag, value in (("--executors", settings.executors), ("--concurrency", settings.concurrency)):
        if value < 1:
            raise ConfigError(f"it must be at least 1, and is {value}", source=flag)
    names = [name for name, _ in settings.queues]
    if len(set(names)) < len(names) or not names:
        raise ConfigError(f"each queue once, please: {', '.join(names)}", source="--queues")
    if any(share < 1 for _, share in settings.queues):
        raise ConfigError("a share is 1 or more", source="--queues")


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
