"""The test bed: which fixtures there are, and how hard hypothesis tries."""

import pytest
from hypothesis import settings

pytest_plugins = ("fix_cluster", "fix_embedded", "fix_leaks", "fix_scene", "fix_skips")

# No deadline: two busy cores make any single example slow, and what must be fast has a benchmark.
settings.register_profile("default", deadline=None, derandomize=False, max_examples=50)
settings.register_profile("long", deadline=None, derandomize=False, max_examples=2_000)
# Loaded here, because hypothesis would pick a derandomized profile of its own when CI is set.
# `--hypothesis-profile long` comes later and wins.
settings.load_profile("default")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """What `pytest.mark.anyio` runs on; a test that is for trio too parametrizes it."""
    return "asyncio"
