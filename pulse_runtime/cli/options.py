"""Lengths of time and amounts of memory on the command line: what cannot be read is told with its option."""

from typing import Any

import click

from pulse_runtime.durations import BadDuration, parse_s
from pulse_runtime.sizes import BadSize, parse_bytes


class Duration(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has none
    """Seconds, from `250ms` or `1h30m`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """What click asks of a type."""
        try:
            return value if isinstance(value, float) else parse_s(value)
        except BadDuration as error:
            self.fail(str(error), param, ctx)


class Size(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has none
    """Bytes, from `512MiB`."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """What click asks of a type."""
        try:
            return value if isinstance(value, int) else parse_bytes(value)
        except BadSize as error:
            self.fail(str(error), param, ctx)


DURATION = Duration()
SIZE = Size()
