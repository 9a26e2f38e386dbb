"""One question with one value for an answer, for whatever driver sends it.

Values travel as text or numbers and are cast by the server: every driver agrees on what that means, whatever codecs its
user has set. `cast(… as …)` and not `::`, which SQLAlchemy takes for a bind.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

Placeholder = Callable[[int, str], str]
"""How a driver writes the value with this number (from 1) and name."""


class Statement(msgspec.Struct, frozen=True):
    """SQL with {names} where the values go, and the values in the order of `names`."""

    sql: str
    names: tuple[str, ...]
    values: tuple[Any, ...]

    def text(self, placeholder: Placeholder) -> str:
        """The SQL as a driver wants it."""
        return _written(self.sql, self.names, placeholder)

    def named(self) -> dict[str, Any]:
        """The values for a driver that knows them by name."""
        return dict(zip(self.names, self.values, strict=True))


@lru_cache(maxsize=512)
def _written(sql: str, names: tuple[str, ...], placeholder: Placeholder) -> str:
    return sql.format_map({name: placeholder(number, name) for number, name in enumerate(names, start=1)})
