"""Threads for handlers that block."""

import threading
from functools import partial

import pytest

from pulse_runtime.execution.threads import Threads


def test_when_no_more_threads_can_be_started_those_there_are_do_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    all_told = threading.Event()

    def tell(result: int, _: BaseException | None) -> None:
        told.append(result)
        if len(told) == 5:
            all_told.set()

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threads = Threads(5, lambda callback: callback())
    go_on = threading.Event()
    threads.run(lambda: int(go_on.wait(5.0)), tell)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    for number in range(2, 6):
        threads.run(partial(int, number), tell)
    go_on.set()
    assert all_told.wait(5.0)
    assert sorted(told) == [1, 2, 3, 4, 5]


def test_without_a_single_thread_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RuntimeError, match="can't start"):
        Threads(5, lambda callback: callback()).run(int, lambda *_: None)
