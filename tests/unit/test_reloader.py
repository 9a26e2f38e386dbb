"""When the reloader tries an import, and when it asks for new executors."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pulse_runtime.actors.reloader import LOOK_S, Reloader, Tried
from pulse_runtime.events import Log


class Bed:
    """A reloader that watches one file."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "jobs.py"
        self.file.write_text("1")
        self.attempts: list[Callable[[Tried], None]] = []
        self.rolls = 0
        self.now = 100.0
        self.actor = Reloader(self.attempts.append, self.roll, Log("test", quiet=True), wall=lambda: 4e9)
        self.actor.wake(self.now)
        self.end()

    def roll(self) -> None:
        self.rolls += 1

    def end(self, error: str | None = None) -> None:
        """Of the import that is under way."""
        self.attempts.pop(0)(Tried([str(self.file)], error))

    def turns(self, count: int = 3) -> None:
        for _ in range(count):
            self.now += LOOK_S
            self.actor.wake(self.now)


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    return Bed(tmp_path)


def test_nothing_changes_and_nothing_happens(bed: Bed) -> None:
    bed.turns()
    assert (bed.attempts, bed.rolls) == ([], 0)


def test_a_change_is_tried_first_and_then_rolled_out_once(bed: Bed) -> None:
    bed.file.write_text("22")
    bed.turns()
    assert (len(bed.attempts), bed.rolls) == (1, 0)
    bed.end()
    bed.turns()
    assert (bed.attempts, bed.rolls) == ([], 1)


def test_what_cannot_be_imported_replaces_nobody_until_it_is_mended(bed: Bed) -> None:
    bed.file.write_text("broken")
    bed.turns()
    bed.end("it cannot")
    bed.turns()
    assert (bed.attempts, bed.rolls) == ([], 0)
    bed.file.write_text("mended!")
    bed.turns()
    bed.end()
    assert bed.rolls == 1


def test_a_file_that_moves_from_look_to_look_is_waited_for(bed: Bed) -> None:
    for number in range(3):
        bed.file.write_text("x" * (number + 2))
        bed.turns(1)
    assert bed.attempts == []
    bed.turns(1)
    assert len(bed.attempts) == 1


def test_a_change_during_an_import_is_tried_after_it(bed: Bed) -> None:
    bed.file.write_text("22")
    bed.turns()
    bed.file.write_text("333")
    bed.end()
    bed.turns()
    assert (len(bed.attempts), bed.rolls) == (1, 1)


def test_a_new_neighbour_is_seen(bed: Bed) -> None:
    (bed.file.parent / "helper.py").write_text("2")
    bed.turns()
    assert len(bed.attempts) == 1


def test_a_file_that_was_written_while_executors_were_starting_is_tried(tmp_path: Path) -> None:
    file, attempts = tmp_path / "jobs.py", list[Callable[[Tried], None]]()
    file.write_text("1")
    actor = Reloader(attempts.append, lambda: None, Log("test", quiet=True), wall=lambda: 1.0)
    actor.wake(100.0)
    attempts.pop()(Tried([str(file)]))
    actor.wake(101.0)
    assert len(attempts) == 1
