"""The demo's live line, and what happened meanwhile."""

import sys

import click

from pulse_runtime.demo.shop import State


class View:
    """One line that changes on a terminal, a line a second elsewhere. On stderr: the summary is the data."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._done, self._at = 0, 0.0

    def show(self, seconds: float, state: State) -> None:
        rate = (state.done - self._done) / max(seconds - self._at, 0.001)
        self._done, self._at = state.done, seconds
        line = (
            f"{seconds:5.0f} s  {state.done} jobs done, {rate:.0f} a second; {state.running} run, "
            f"{state.waiting} wait, {state.retrying} retry; {state.fires} fires"
        )
        click.echo(f"\r\x1b[K{line}" if self._live else line, err=True, nl=not self._live)

    def tell(self, news: str) -> None:
        """Something that stays to be read."""
        click.echo(f"\r\x1b[K    {news}" if self._live else f"    {news}", err=True)

    def end(self) -> None:
        if self._live:
            click.echo("", err=True)
