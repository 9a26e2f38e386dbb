"""How a scenario is written: one function, called once per round, whose sample feeds one row per target."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from benchmarks.target import Target

Number = int | float
Measured = Number | Sequence[Number] | Mapping[str, Number | Sequence[Number]]
Sample = Mapping[str, Measured]
"""What one round measured, by key: a number, a list (latencies), or a mapping of cases for `Alike`."""

P = TypeVar("P")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a module's context manager `prepare(setup)` receives.

    `facts` go into the environment of every row: `setup.facts["postgres"] = "18.6"`.
    """

    quick: bool
    progress: Callable[[str], None]
    facts: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Bench(Generic[P]):
    """What a scenario receives each round. `prepared` is the value of the module's `prepare`, None without one."""

    quick: bool
    prepared: P
    progress: Callable[[str], None]
    held: ExitStack
    """Closed after the scenario's last round."""
    details: dict[str, str]
    """Kept in the result: the baseline's SQL, parameters."""
    round: int = 0
    """0, 1, 2 …; below 0 in warm-up rounds, whose samples are thrown away."""
    _kept: dict[str, object] = field(default_factory=dict, repr=False)

    def at(self, number: int, progress: Callable[[str], None]) -> "Bench[P]":
        """The same bench in another round."""
        return replace(self, round=number, progress=progress)

    @property
    def flip(self) -> bool:
        """Whether the baseline goes first in this round."""
        return self.round % 2 == 1

    def interleaved(self, **measures: Callable[[], T]) -> dict[str, T]:
        """Call each measure once, in the order given or, in every other round, in reverse."""
        names = list(measures)[:: -1 if self.flip else 1]
        return {name: measures[name]() for name in names}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """`make()`, called in the first round only: data to load once, or `lambda: bench.held.enter_context(...)`."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]  # type: ignore[return-value]  # made by the same call in an earlier round


@dataclass(frozen=True, kw_only=True)
class Scenario(Generic[P]):
    """A measurement and what it must reach. Row names are unique: give all but one of several targets a `label`."""

    name: str
    measure: Callable[[Bench[P]], Sample]
    targets: tuple[Target, ...]
    rounds: int
    quick_rounds: int
    warmups: int

    def __post_init__(self) -> None:
        names = [self.row_name(target) for target in self.targets]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"scenario {self.name!r} needs targets with different labels, has {names}")
        if min(self.rounds, self.quick_rounds) < 1 or self.warmups < 0:
            raise ValueError(f"scenario {self.name!r} needs at least one round")

    def row_name(self, target: Target) -> str:
        return f"{self.name}: {target.label}" if target.label else self.name


def scenario(
    name: str, *, targets: Sequence[Target], rounds: int = 5, quick_rounds: int | None = None, warmups: int = 0
) -> Callable[[Callable[[Bench[P]], Sample]], Scenario[P]]:
    """Make a function a scenario. Put the result into the module's `ROWS`, in the order of the table it proves."""

    def make(measure: Callable[[Bench[P]], Sample]) -> Scenario[P]:
        return Scenario(
            name=name,
            measure=measure,
            targets=tuple(targets),
            rounds=rounds,
            quick_rounds=min(rounds, 3) if quick_rounds is None else quick_rounds,
            warmups=warmups,
        )

    return make
