"""Values as the text that Postgres reads: every driver agrees on what that means."""

from collections.abc import Iterable


def array(items: Iterable[str]) -> str:
    """An array of elements that are written already."""
    return "{" + ",".join(items) + "}"


def quoted(text: str | None) -> str:
    """An element, always in quotes, so that no text is taken for NULL, a space or the end of the array."""
    return "NULL" if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def texts(items: Iterable[str | None]) -> str:
    """An array of texts."""
    return array(map(quoted, items))


def numbers(items: Iterable[float | None]) -> str:
    """An array of numbers."""
    return array("NULL" if item is None else repr(item) for item in items)
