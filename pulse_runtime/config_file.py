"""Finding and reading pulse.toml, or [tool.pulse] in pyproject.toml."""

import difflib
import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pulse_runtime.errors import ConfigError


@dataclass(frozen=True)
class ConfigFile:
    """One file's settings. Relative paths in it are meant from the folder of the file."""

    path: Path
    table: str
    text: str
    values: dict[str, str]

    def source(self, name: str) -> str:
        """Where the setting stands, for people: file, line."""
        return _place(self.path, line_of(self.text, name, table=self.table))


def find(folder: Path | None, *, known: Sequence[str]) -> ConfigFile | None:
    """The file that counts for a process in `folder` (default: here): the nearest one, looking upwards.

    In one folder pulse.toml goes before pyproject.toml; a pyproject.toml without [tool.pulse] is not one of ours.
    """
    try:
        start = Path.cwd() if folder is None else folder.absolute()
    except FileNotFoundError:  # the folder we stand in was removed
        return None
    for place in (start, *start.parents):
        for name, table in (("pulse.toml", ""), ("pyproject.toml", "tool.pulse")):
            if (text := _read(place / name)) is not None:
                found = _parsed(place / name, text, table)
                if found is not None:
                    return ConfigFile(place / name, table, text, _checked(found, place / name, text, table, known))
    return None


def line_of(text: str, key: str, *, table: str) -> int | None:
    """The line on which `key` is set. Only for messages: TOML has more ways to write a key than are looked for."""
    inside = not table
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[\s*([^\]]*?)\s*\]", line):
            inside = header[1] == table
        elif inside and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", line):
            return number
    return None


def _place(path: Path, line: int | None) -> str:
    return f"{path}, line {line}" if line else str(path)


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise ConfigError(f"it is not UTF-8: {error.reason} at byte {error.start}", source=str(path)) from None
    except OSError as error:
        if not os.access(path.parent, os.X_OK):
            return None  # somebody else's folder above ours; a file in it is not meant for us
        raise ConfigError(f"it cannot be read: {error.strerror}", source=str(path)) from error


def _parsed(path: Path, text: str, table: str) -> dict[str, Any] | None:
    try:
        found: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        if table and "pulse" not in text:
            return None  # broken, but not ours to complain about
        where = re.search(r"at line ([0-9]+)", str(error))
        line = int(where[1]) if where else len(text.splitlines())
        raise ConfigError(f"it is not TOML: {error}", source=_place(path, line)) from None
    for part in table.split(".") if table else ():
        found = found.get(part) if isinstance(found, dict) else None
    if found is not None and not isinstance(found, dict):
        raise ConfigError(f"{table} should be a table", source=str(path))
    return found


def _checked(found: dict[str, Any], path: Path, text: str, table: str, known: Sequence[str]) -> dict[str, str]:
    for name, value in found.items():
        source = _place(path, line_of(text, name, table=table))
        if name not in known:
            nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            meant = f"; did you mean {nearest[0]!r}?" if nearest else ""
            raise ConfigError(f"there is no setting {name!r}{meant} Known: {', '.join(known)}", source=source)
        if not isinstance(value, str) or not value:
            raise ConfigError(f"{name} should be text in quotes", source=source)
    # A relative folder is relative to the file: it must not depend on where below the project one stands.
    home = {"home": str(path.parent / Path(found["home"]).expanduser())} if "home" in found else {}
    return {**found, **home}
