"""Homes with a cluster in them, made once and copied (0.1 s), because making one takes 0.5 s or more."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from embedded_kit import end, public_folder

from pulse_runtime.embedded import Server


@pytest.fixture(scope="session")
def made_home() -> Iterator[Path]:
    """A home that was started once. Copy it; do not use it."""
    with public_folder() as folder:
        with Server(folder / "made", durable=False):
            pass
        yield folder / "made"


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder that any account can reach."""
    with public_folder() as folder:
        yield folder


@pytest.fixture
def home(made_home: Path, folder: Path) -> Iterator[Path]:
    """A home of this test's own; when the test ends, its server must end too."""
    home = folder / "home"
    shutil.copytree(made_home, home)
    yield home
    end(Server(home))
