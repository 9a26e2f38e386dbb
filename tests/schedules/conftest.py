"""A database whose clock the test moves, and what fires its schedules."""

from datetime import UTC, datetime

import pytest
from fix_cluster import Connection
from schedule_kit import Clock, Firing, Schedules

START = datetime(2026, 11, 18, 12, 0, 30, tzinfo=UTC)


@pytest.fixture
def clock(connection: Connection) -> Clock:
    return Clock(connection, START)


@pytest.fixture
def schedules(connection: Connection, clock: Clock) -> Schedules:
    return Schedules(connection)


@pytest.fixture
def firing(connection: Connection, clock: Clock) -> Firing:
    return Firing(connection)
