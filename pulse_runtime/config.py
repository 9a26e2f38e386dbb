"""The settings, each with the place that it came from. Precedence: flag, PULSE_NAME, file, default."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pulse_runtime.dsn import for_libpq, redacted
from pulse_runtime.embedded.home import default_home
from pulse_runtime.errors import ConfigError

T = TypeVar("T")

EMBEDDED = "embedded Postgres"


@dataclass(frozen=True)
class Value(Generic[T]):
    """A setting and who made it: `--dsn`, `PULSE_DSN`, a file and its line, or `default`."""

    value: T
    source: str


@dataclass(frozen=True)
class Settings:
    """What Pulse was told. Read them once, at the start; a later change of the environment means nothing."""

    dsn: Value[str | None]
    """Where Postgres is, as libpq writes it; None is the embedded one in `home`."""
    home: Value[Path]
    """Where the embedded Postgres keeps its data."""

    def shown(self) -> dict[str, Value[str]]:
        """Every setting as text that may be printed: without passwords."""
        dsn = EMBEDDED if self.dsn.value is None else redacted(self.dsn.value)
        return {"dsn": Value(dsn, self.dsn.source), "home": Value(str(self.home.value), self.home.source)}


def load(*, dsn: str | None = None, environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """The settings for a process with the flag `--dsn` and this environment that was started in `folder`.

    Raises ConfigError for a value or a file that cannot be used, even one that a stronger source overrides: a broken
    file is found when it is written, not on the day the variable is gone.
    """
    env = os.environ if environ is None else environ
    file = _file_values(folder)
    flags = {"--dsn": dsn}
    return Settings(
        dsn=_dsn(_first(flags, _from(env, "PULSE_DSN", "DATABASE_URL"), file.get("dsn"))),
        home=_home(_first({}, _from(env, "PULSE_HOME"), file.get("home"))),
    )


def _file_values(folder: Path | None) -> dict[str, Value[str]]:
    from pulse_runtime.config_file import find

    found = find(folder, known=("dsn", "home"))
    return {} if found is None else {name: Value(value, found.source(name)) for name, value in found.values.items()}


def _from(env: Mapping[str, str], *names: str) -> Value[str] | None:
    """The first of the variables that says something. An empty one says nothing, as in `PULSE_DSN= pulse-runtime …`."""
    return next((Value(env[name], name) for name in names if env.get(name)), None)


def _first(flags: Mapping[str, str | None], variable: Value[str] | None, file: Value[str] | None) -> Value[str] | None:
    flag = next((Value(value, name) for name, value in flags.items() if value is not None), None)
    return flag or variable or file


def _dsn(given: Value[str] | None) -> Value[str | None]:
    if given is None:
        return Value(None, "default")
    try:
        return Value(for_libpq(given.value), given.source)
    except ValueError as error:
        hint = ". Set PULSE_DSN, which goes before it" if given.source == "DATABASE_URL" else ""
        raise ConfigError(f"the DSN cannot be used: {error}{hint}", source=given.source) from None


def _home(given: Value[str] | None) -> Value[Path]:
    if given is None:
        return Value(default_home(), "default")
    return Value(Path(given.value).expanduser(), given.source)
