"""What cannot work is refused before anything starts, with the option that is to be changed."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulse_runtime.errors import ConfigError
from pulse_runtime.settings import RuntimeSettings, check, parse_queues

GOOD = RuntimeSettings(dsn="", name="test")


@pytest.mark.parametrize(
    ("change", "option"),
    [
        ({"beat_s": 10.0}, "--beat"),
        ({"beat_s": 0.0}, "--beat"),
        ({"lease_s": 15.0}, "--beat"),
        ({"executors": 0}, "--executors"),
        ({"concurrency": 0}, "--concurrency"),
        ({"concurrency": 10_001}, "--concurrency"),
        ({"max_jobs": 0}, "--max-jobs"),
        ({"max_memory": 512}, "--max-memory"),
        ({"hard_memory": 512}, "--hard-memory"),
        ({"max_memory": 512 << 20, "hard_memory": 512 << 20}, "--hard-memory"),
        ({"handlers": ("",)}, "--handlers"),
        ({"handlers": ("./myapp/jobs.py",)}, "perhaps myapp.jobs"),
        ({"queues": ()}, "--queues"),
        ({"queues": (("a", 1), ("a", 2))}, "--queues"),
        ({"queues": (("a", 0),)}, "--queues"),
        ({"shards": 4}, "--shards"),
        ({"shard": 0}, "--shards"),
        ({"shards": 4, "shard": 4}, "--shard"),
    ],
)
def test_a_setting_that_cannot_work_is_refused(change: dict[str, Any], option: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check(replace(GOOD, **change))
    assert refused.value.exit_code == 78
    assert option in str(refused.value)


@given(st.floats(4.0, 3600.0), st.floats(0.01, 0.33))
def test_whoever_is_silent_is_found_before_the_lease_lapses(lease_s: float, share: float) -> None:
    settings = replace(GOOD, lease_s=lease_s, beat_s=lease_s * share)
    check(settings)
    assert settings.beat_s < settings.silence_s < lease_s
    assert settings.stuck_s < lease_s


def test_a_stopped_reporter_is_replaced_before_what_it_extended_lapses() -> None:
    """A beat before it stopped, and a second for each of the steps until another one has extended."""
    for lease_s, beat_s in ((30.0, 5.0), (60.0, 10.0), (12.0, 1.0), (10.0, 0.5)):
        settings = replace(GOOD, lease_s=lease_s, beat_s=beat_s)
        assert beat_s + settings.stuck_s + 2.0 < lease_s


def test_queues_are_read_with_their_shares() -> None:
    assert parse_queues("mail:20, default") == (("mail", 20), ("default", 1))
    for wrong in ("mail:many", "", ":3", "a,,b"):
        with pytest.raises(ConfigError):
            parse_queues(wrong)
