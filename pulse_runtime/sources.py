"""The files that handlers are made of, and whether they changed."""

import sys
import sysconfig
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path

Stamps = Mapping[Path, tuple[int, int]]
"""When each was written, and its size."""


def imported(before: Iterable[str]) -> list[str]:
    """The source files of modules that were imported since, but not of installed packages."""
    since = [module for name, module in list(sys.modules.items()) if name not in set(before)]
    files = {str(getattr(module, "__file__", None) or "") for module in since}
    return sorted(file for file in files if file.endswith(".py") and not file.startswith(_installed()))


def blamed_by(error: BaseException | None) -> list[str]:
    """The files that an import failed in: they are not among the imported ones, and are where it will be mended."""
    found = []
    while error is not None:
        found += [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        found += [error.filename] if isinstance(error, SyntaxError) and error.filename else []
        error = error.__cause__ or error.__context__
    return [file for file in found if file.endswith(".py") and not file.startswith(_installed())]


def look(files: Iterable[Path]) -> Stamps:
    """These files and their neighbours, which an import may need next. What cannot be read is not there."""
    folders = {file.parent for file in files}
    neighbours = {found for folder in folders for form in ("*.py", "*/__init__.py") for found in folder.glob(form)}
    return {file: stamp for file in neighbours | set(files) if (stamp := _stamp(file)) is not None}


def changed(before: Stamps, now: Stamps) -> list[str]:
    """Their names."""
    return sorted({str(file) for file, _ in set(before.items()) ^ set(now.items())})


def _installed() -> tuple[str, ...]:
    return tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
