"""How far jobs say they are, as whoever follows them sees it."""

from collections.abc import Iterator

import pytest
from fix_cluster import Connection
from store_kit import Store

from pulse_runtime import get
from pulse_runtime.store import own

NOTE = "select pulse.note_progress(%s, %s::smallint[], %s, %s, %s)"


@pytest.fixture
def store(connection: Connection, dsn: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("PULSE_DSN", dsn)
    yield Store(connection)
    own.close()


def test_the_newest_word_of_the_newest_attempt_is_shown(store: Store) -> None:
    one, other = store.enqueue(), store.enqueue()
    assert get(one).progress is None
    store.ask(NOTE, [one, other], [1, 1], [1.0, 7.0], [10.0, None], ["begun", None])
    store.ask(NOTE, [one], [2], [3.0], [10.0], ["again"])
    store.ask(NOTE, [one], [1], [9.0], [10.0], ["of an executor that was given up"])
    first, second = get(one).progress, get(other).progress
    assert first is not None
    assert second is not None
    assert (first.attempt, first.done, first.total, first.note) == (2, 3.0, 10.0, "again")
    assert (second.done, second.total, second.note) == (7.0, None, None)


def test_retention_drops_it(store: Store) -> None:
    job = store.enqueue()
    store.ask(NOTE, [job], [1], [1.0], [None], [None])
    store.ask("select pulse.prune(interval '1 day', interval '1 day')")
    assert store.ask("select count(*) from pulse.progress") == 1
    store.ask("select pulse.prune(interval '-1 s', interval '1 day')")
    assert store.ask("select count(*) from pulse.progress") == 0
