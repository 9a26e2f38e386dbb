"""`scene`: where a system test of the runtime happens."""

from pathlib import Path

import pytest
from scene_kit import Scene


@pytest.fixture
def scene(dsn: str, tmp_path: Path) -> Scene:
    """A database of this test's own, a producer and a history."""
    return Scene(dsn, tmp_path)
