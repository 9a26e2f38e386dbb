"""Which benchmarks there are: NAME is a module of `benchmarks.scenarios` with `ROWS` and perhaps `prepare`."""

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from benchmarks.scenario import Scenario, Setup

NAMES = ("store", "runtime", "schedules", "operate", "peers")


def unprepared(_: Setup) -> AbstractContextManager[None]:
    """For modules whose scenarios share nothing."""
    return nullcontext()


@dataclass(frozen=True, kw_only=True)
class Suite:
    """The scenarios of one NAME and the context they all run in."""

    name: str
    scenarios: tuple[Scenario[Any], ...]
    prepare: Callable[[Setup], AbstractContextManager[Any]] = unprepared

    def only(self, text: str) -> tuple[Scenario[Any], ...]:
        """The scenarios with `text` in their name or in that of one of their rows; all of them for an empty text."""
        wanted = text.casefold()
        return tuple(
            each for each in self.scenarios if any(wanted in each.row_name(t).casefold() for t in each.targets)
        )


def load(name: str) -> Suite:
    """The suite of `name`; without scenarios when its module is not written yet."""
    path = f"{__package__}.scenarios.{name}"
    if find_spec(path) is None:
        return Suite(name=name, scenarios=())
    module = importlib.import_module(path)
    return Suite(name=name, scenarios=tuple(module.ROWS), prepare=getattr(module, "prepare", unprepared))
