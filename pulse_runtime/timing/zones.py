"""Time zones by name, and which edition of the zone database answers."""

import functools
import zoneinfo
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from zoneinfo import ZoneInfo

from pulse_runtime.timing.errors import UnknownZone


@functools.lru_cache(maxsize=1024)
def zone(name: str) -> ZoneInfo:
    """The zone of this name: from the host's database, or from the package tzdata where the host has none."""
    # `right/…` counts leap seconds, `posix/…` and `localtime` differ from host to host.
    if not name.startswith(("right/", "posix/")) and name not in ("localtime", "posixrules", ""):
        try:
            return ZoneInfo(name)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            pass
    raise UnknownZone(f"zone {name!r}", "the zone database has none of this name", _suggestion(name))


@functools.cache
def zone_version() -> str:
    """The edition of the zone database that this process uses. Another one may map a wall time to another instant.

    It is read once: Python keeps the zones that it has loaded, so an update on disk counts from the next start.
    """
    package = _package_version()
    for folder in zoneinfo.TZPATH:
        if (Path(folder) / "UTC").exists():
            return f"host {_host_version(Path(folder))}, package {package}"
    return f"package {package}"


def _package_version() -> str:
    try:
        return metadata.version("tzdata")
    except metadata.PackageNotFoundError:
        return "none"


def _host_version(folder: Path) -> str:
    """From the file that the distribution keeps, where it keeps one."""
    for name in ("tzdata.zi", "+VERSION"):
        try:
            with (folder / name).open(encoding="utf-8") as file:
                return file.readline().removeprefix("# version ").strip() or "unknown"
        except OSError:
            continue
    return "unknown"


def _suggestion(name: str) -> str:
    known = {each.casefold(): each for each in zoneinfo.available_timezones()}
    wanted = name.strip().replace(" ", "_").casefold()
    cities = {each.rpartition("/")[2]: each for each in sorted(known)}
    exact = known.get(wanted) or known.get(cities.get(wanted, ""))
    if exact is None:
        close = get_close_matches(wanted, known, n=1, cutoff=0.75) or get_close_matches(wanted, cities, n=1, cutoff=0.8)
        exact = known.get(cities.get(close[0], close[0])) if close else None
    return f"Did you mean {exact}?" if exact else "Write one such as Europe/Berlin, America/New_York or UTC"
