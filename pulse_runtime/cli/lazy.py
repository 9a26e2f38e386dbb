"""A group of commands that imports one only when it is called."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """`commands_of` gives for each command its place, `module:name`, and its line in the list of commands."""

    def __init__(self, *args: Any, commands_of: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._places = commands_of

    def list_commands(self, _: click.Context) -> list[str]:
        """In the order of the table."""
        return list(self._places)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Import it."""
        if name not in self._places:
            return None
        module, attribute = self._places[name][0].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """The list, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._places.items()])
