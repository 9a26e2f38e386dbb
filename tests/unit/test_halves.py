"""The exit status of the tests in two halves."""

import pytest
from halves import worse


@pytest.mark.parametrize(
    ("one", "other", "status"), [(0, 0, 0), (0, 1, 1), (2, 1, 2), (5, 0, 0), (1, 5, 1), (5, 5, 5), (0, -9, 1)]
)
def test_a_half_that_failed_fails_both_and_one_without_tests_does_not(one: int, other: int, status: int) -> None:
    assert worse(one, other) == status == worse(other, one)
