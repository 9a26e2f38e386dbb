"""What a row must reach. A target is data and part of the result, so that a verdict can be recomputed from the file."""

from typing import Literal

import msgspec

Op = Literal["<=", ">="]
Kind = Literal["absolute", "ratio", "alike"]
Stat = Literal["median", "p50", "p95", "p99", "max", "min"]

TIMES = "×"
SIGNS: dict[Op, str] = {"<=": "≤", ">=": "≥"}


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """One bound on one measured quantity; build it with `AtLeast`, `AtMost` or `Alike`.

    absolute   `stat` of all numbers measured under `key`
    ratio      median over the rounds of `key` / `of`; a list measured in one round is reduced by `stat` first
    alike      median over the rounds of largest / smallest case of the mapping under `key`

    `otherwise` is a second bound on the same key; the row holds when either does.
    """

    key: str
    op: Op
    limit: float
    kind: Kind
    stat: Stat
    unit: str
    of: str | None = None
    label: str = ""
    otherwise: "Target | None" = None

    def __post_init__(self) -> None:
        if (self.kind == "ratio") != (self.of is not None):
            raise ValueError(f"target on {self.key!r}: a ratio, and only a ratio, names what it is a ratio `of`")
        if self.otherwise and (self.otherwise.key != self.key or "alike" in (self.kind, self.otherwise.kind)):
            raise ValueError(f"target on {self.key!r}: `otherwise` must be a plain bound on the same key")
        if self.otherwise and self.otherwise.otherwise:
            raise ValueError(f"target on {self.key!r}: one `otherwise` is enough")

    @property
    def text(self) -> str:
        """As people write it: `p99 ≤ 10 ms`, `≥ 2.5 ×`, `≥ 80,000 jobs/s or ≥ 0.3 ×`."""
        stat = "" if self.stat == "median" else f"{self.stat} "
        text = f"{stat}{SIGNS[self.op]} {plain(self.limit)} {self.unit}".rstrip()
        return f"{text} or {self.otherwise.text}" if self.otherwise else text

    @property
    def baseline(self) -> str | None:
        """The key of the baseline that this target's rounds record, if either bound needs one."""
        return self.of or (self.otherwise.of if self.otherwise else None)


def AtLeast(  # noqa: N802 - reads as the table it came from
    key: str,
    limit: float,
    *,
    of: str | None = None,
    unit: str = "",
    stat: Stat = "median",
    label: str = "",
    otherwise: Target | None = None,
) -> Target:
    """`key` ≥ `limit`, or with `of` ≥ `limit` × that baseline."""
    return _bound(">=", key, limit, of=of, unit=unit, stat=stat, label=label, otherwise=otherwise)


def AtMost(  # noqa: N802
    key: str,
    limit: float,
    *,
    of: str | None = None,
    unit: str = "",
    stat: Stat = "median",
    label: str = "",
    otherwise: Target | None = None,
) -> Target:
    """`key` ≤ `limit`, or with `of` ≤ `limit` × that baseline."""
    return _bound("<=", key, limit, of=of, unit=unit, stat=stat, label=label, otherwise=otherwise)


def Alike(key: str, within: float, *, stat: Stat = "median", label: str = "") -> Target:  # noqa: N802
    """The cases of a round, a mapping under `key`, lie within a factor of each other. `within=1` means identical."""
    if within < 1:
        raise ValueError(f"target on {key!r}: largest / smallest is never below 1, so `within` cannot be {within}")
    return Target(key=key, op="<=", limit=within, kind="alike", stat=stat, unit=TIMES, label=label)


def plain(number: float) -> str:
    """A number for people: three or four digits that matter, thousands separated."""
    if number == 0 or abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.3g}" if abs(number) < 100 else f"{number:.4g}"


def _bound(
    op: Op, key: str, limit: float, *, of: str | None, unit: str, stat: Stat, label: str, otherwise: Target | None
) -> Target:
    kind: Kind = "ratio" if of is not None else "absolute"
    unit = TIMES if of is not None else unit
    return Target(key=key, op=op, limit=limit, kind=kind, stat=stat, unit=unit, of=of, label=label, otherwise=otherwise)
