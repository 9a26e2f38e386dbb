"""The result as a table for people."""

from collections.abc import Iterable, Sequence

from benchmarks.catalog import Suite
from benchmarks.record import Row
from benchmarks.target import plain
from benchmarks.verdict import WITHIN_SPREAD

HEADINGS = ("scenario", "value", "target", "holds", "spread")


def table(rows: Sequence[Row]) -> str:
    """Aligned columns, then one line for every note that the table has no room for."""
    lines = _aligned([HEADINGS, *(_cells(row) for row in rows)])
    notes = [f"  {row.scenario}: {row.note}" for row in rows if row.note and row.note != WITHIN_SPREAD]
    held = sum(row.holds for row in rows)
    return "\n".join([*lines, "", f"{held} of {len(rows)} rows hold", *notes])


def listing(suites: Iterable[Suite]) -> str:
    """Every name with its rows and their targets."""
    blocks = []
    for suite in suites:
        rows = [("  " + each.row_name(t), t.text) for each in suite.scenarios for t in each.targets]
        blocks.append("\n".join([suite.name, *(_aligned(rows) or ["  no rows yet"])]))
    return "\n\n".join(blocks)


def _cells(row: Row) -> tuple[str, ...]:
    holds = "NO" if not row.holds else "yes (within spread)" if row.note == WITHIN_SPREAD else "yes"
    spread = "-" if row.spread is None else f"± {plain(row.spread)}"
    return row.scenario, _value(row), row.target.text, holds, spread


def _value(row: Row) -> str:
    return "-" if row.value is None else f"{plain(row.value)} {row.unit}".rstrip()


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
