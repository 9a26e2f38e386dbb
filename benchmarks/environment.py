"""Where a row was measured: enough to judge the numbers, nothing that names a machine, a person or a path."""

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import msgspec

PACKAGES = ("pulse-runtime", "psycopg", "psycopg-binary", "msgspec", "anyio", "uvloop", "trio", "asyncpg")
HERE = Path(__file__).parent


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """Taken before the first round. `facts` come from the module's `prepare`, e.g. the version of Postgres."""

    date: str
    python: str
    platform: str
    cores: int
    cpu: str
    memory_mb: int
    load_average: tuple[float, float, float]
    commit: str
    dirty: bool
    packages: dict[str, str]
    facts: dict[str, str]


def collect(facts: dict[str, str]) -> Environment:
    return Environment(
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        platform=f"{platform.system()} {platform.release()} {platform.machine()}",
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0,
        cpu=_cpu_model(),
        memory_mb=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20,
        load_average=tuple(round(load, 2) for load in os.getloadavg()),  # type: ignore[arg-type]  # it has three
        commit=_git("rev-parse", "--short=12", "HEAD"),
        dirty=bool(_git("status", "--porcelain")),
        packages={name: version for name in PACKAGES if (version := _version(name))},
        facts=facts,
    )


def without_paths(text: str) -> str:
    """`text` with the folders of absolute paths cut: errors quote paths, and results are kept in the repository."""
    return re.sub(r"(?<![\w.:/])/(?:[^\s/'\"]+/)+", "…/", text)


def _cpu_model() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or "unknown"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _git(*arguments: str) -> str:
    """What git says, or nothing: a benchmark also runs from an unpacked archive."""
    try:
        done = subprocess.run(["git", *arguments], cwd=HERE, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
