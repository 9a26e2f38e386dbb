"""`scene`: where a system test of the runtime happens."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from scene_kit import Scene


@pytest.fixture
def scene(dsn: str, tmp_path: Path) -> Iterator[Scene]:
    """A database of this test's own, a producer and a history."""
    with closing(Scene(dsn, tmp_path)) as scene:
        yield scene
