"""The exit status of the tests in parts."""

import pytest
from parts import worst


@pytest.mark.parametrize(
    ("statuses", "status"),
    [([0, 0, 0], 0), ([0, 1, 0], 1), ([2, 1, 0], 2), ([5, 0, 5], 0), ([1, 5, 0], 1), ([5, 5, 5], 5), ([0, 0, -9], 1)],
)
def test_a_part_that_failed_fails_all_and_one_without_tests_does_not(statuses: list[int], status: int) -> None:
    assert worst(statuses) == status == worst(reversed(statuses))
