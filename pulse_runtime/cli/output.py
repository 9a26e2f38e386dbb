"""Rows on stdout, as people or programs like to read them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click

output_option = click.option(
    "-o", "--output", type=click.Choice(["table", "json", "jsonl"]), default="table", show_default=True, help="Format."
)


def write_rows(rows: Sequence[Mapping[str, Any]], output: str) -> None:
    """Write `rows`, which have the same names in the same order."""
    if output == "json":
        click.echo(json.dumps(rows, default=str, indent=2))
    elif output == "jsonl":
        for row in rows:
            click.echo(json.dumps(row, default=str))
    elif rows:
        table = [[name.upper() for name in rows[0]], *([_cell(value) for value in row.values()] for row in rows)]
        widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
        for line in table:
            click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return value.isoformat(sep=" ", timespec="seconds") if hasattr(value, "isoformat") else str(value)
