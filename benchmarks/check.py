"""Does a recorded file say what its samples say?"""

import math
from collections.abc import Iterator, Sequence

from benchmarks.record import Row


def disagreements(rows: Sequence[Row]) -> Iterator[str]:
    """One sentence for every recorded figure that the row's own samples contradict."""
    for row in rows:
        again = row.judged_again()
        if again.holds != row.holds:
            yield f"{row.scenario}: recorded holds={_word(row.holds)}, the samples say {_word(again.holds)}"
        if not _same(again.value, row.value):
            yield f"{row.scenario}: recorded value {row.value}, the samples say {again.value}"
        if not _same(again.spread, row.spread):
            yield f"{row.scenario}: recorded spread {row.spread}, the samples say {again.spread}"
        if row.target.kind != "absolute" and len(row.samples) != row.rounds_done:
            yield f"{row.scenario}: recorded {row.rounds_done} rounds, there are samples of {len(row.samples)}"
        if again.note != row.note:
            yield f"{row.scenario}: recorded note {row.note!r}, the samples say {again.note!r}"


def _word(holds: bool) -> str:
    return "yes" if holds else "NO"


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    # Another Python may add in another order; a verdict does not turn on the ninth digit.
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
