"""The wheel: what is in it, and that it lives beside supervisord, whose import name our source folder has."""

import os
import shutil
import subprocess
import sys
import venv
from configparser import ConfigParser
from hashlib import sha256
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import pytest
from embedded_kit import REPOSITORY

PACKAGES = ("pulse_runtime", "pulse_supervisor", "pulse_sql", "pulse_loadgen")
SOURCE_ROOTS = (".", "supervisor", "sql", "loadgen")
GENERATED = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "dist", "build")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing is generated in the tree."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(REPOSITORY, folder / "tree", ignore=GENERATED)
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "dist", cwd=folder / "tree")
    (built,) = (folder / "dist").iterdir()
    return built


@pytest.fixture(scope="module")
def names(wheel: Path) -> frozenset[PurePosixPath]:
    with ZipFile(wheel) as archive:
        return frozenset(map(PurePosixPath, archive.namelist()))


def run(*command: str | Path, cwd: Path, **extra: str) -> str:
    """What the command printed; the tests' own Python settings do not reach it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env={**kept, **extra}, capture_output=True, text=True, timeout=60.0)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def source_files(*, suffix: str) -> set[PurePosixPath]:
    """The sources of the four packages, named as an installation names them."""
    roots = [(REPOSITORY / root, package) for root, package in zip(SOURCE_ROOTS, PACKAGES, strict=True)]
    return {
        PurePosixPath(file.relative_to(root))
        for root, package in roots
        for file in (root / package).rglob(f"*{suffix}")
    }


def test_the_wheel_has_our_four_packages_at_its_top_and_nothing_else(names: frozenset[PurePosixPath]) -> None:
    top = {name.parts[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == set(PACKAGES)
    assert len(top) == len(PACKAGES) + 1


def test_the_wheel_has_every_module_every_sql_file_and_the_type_markers(names: frozenset[PurePosixPath]) -> None:
    for suffix in (".py", ".sql"):
        assert source_files(suffix=suffix) <= names
    assert {PurePosixPath(package) / "py.typed" for package in PACKAGES} <= names
    assert PurePosixPath("pulse_sql/migrations/0001_ground.sql") in names


def test_the_wheel_has_the_licence(wheel: Path, names: frozenset[PurePosixPath]) -> None:
    (licence,) = (name for name in names if name.name == "LICENSE")
    with ZipFile(wheel) as archive:
        assert archive.read(str(licence)) == (REPOSITORY / "LICENSE").read_bytes()


def test_both_commands_are_in_the_wheel_and_so_are_their_modules(wheel: Path, names: frozenset[PurePosixPath]) -> None:
    (listed,) = (name for name in names if name.name == "entry_points.txt")
    points = ConfigParser()
    with ZipFile(wheel) as archive:
        points.read_string(archive.read(str(listed)).decode())
    scripts = dict(points["console_scripts"])
    assert set(scripts) == {"pulse-runtime", "pulse-loadgen"}
    for target in scripts.values():
        module = PurePosixPath(*target.split(":")[0].split("."))
        assert module.with_suffix(".py") in names or module / "__init__.py" in names


def test_the_wheel_and_supervisord_have_no_path_in_common(names: frozenset[PurePosixPath]) -> None:
    theirs = {PurePosixPath(file) for file in distribution("supervisor").files or ()}
    assert PurePosixPath("supervisor/__init__.py") in theirs
    assert not names & theirs
    assert not {name.parts[0] for name in names} & {name.parts[0] for name in theirs}


def test_installing_the_wheel_beside_supervisord_changes_none_of_its_files(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "clean", with_pip=False)
    python = tmp_path / "clean" / "bin" / "python"
    site = Path(run(python, "-c", "import site; print(site.getsitepackages()[0])", cwd=tmp_path).strip())
    copy_supervisord(site)
    before = hashes(tmp_path / "clean")
    options = ("--quiet", "--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "--python", python, "install", *options, wheel, cwd=tmp_path)
    after = hashes(tmp_path / "clean")
    assert {path: after.get(path) for path in before} == before
    assert site / "pulse_supervisor" / "__init__.py" in after
    # Ours is found and not imported: what it needs (msgspec) is not in this environment.
    found = "from importlib.util import find_spec; assert find_spec('pulse_supervisor').origin"
    where = f"import supervisor, pulse_sql; {found}; print(supervisor.__file__, len(pulse_sql.migrations()))"
    migrations = sum(file.parent.name == "migrations" for file in source_files(suffix=".sql"))
    assert run(python, "-Bc", where, cwd=tmp_path).split() == [
        str(site / "supervisor" / "__init__.py"),
        str(migrations),
    ]


def copy_supervisord(site: Path) -> None:
    """Put supervisord's files where its installer put them: into `site`, its commands into bin."""
    for file in distribution("supervisor").files or ():
        target = Path(os.path.normpath(site / file))
        if target.suffix != ".pyc":
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.locate(), target)


def hashes(folder: Path) -> dict[Path, str]:
    files = (file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc")
    return {file: sha256(file.read_bytes()).hexdigest() for file in files}
