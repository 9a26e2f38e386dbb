"""An executor whose own code fails ends, on either loop: it does not go on with what it has half done."""

import pytest
from executor_kit import LOOPS, Stage, handler, job

from pulse_runtime.actors.executor import Executor
from pulse_runtime.execution.holding import Holdings

loops = pytest.mark.parametrize("loop", LOOPS)


async def noop() -> None:
    pass


def blocks() -> None:
    pass


def fails(*_: object, **__: object) -> None:
    raise ArithmeticError("ours")


@loops
@pytest.mark.parametrize(
    ("owner", "step", "kind"),
    [
        (Executor, "_take", "noop"),  # in what a wire brings
        (Executor, "_report", "noop"),  # in what was put off
        (Executor, "_mind_limits", "noop"),  # in what is due
        (Holdings, "succeeded", "noop"),  # in the end of a task
        (Holdings, "succeeded", "blocks"),  # in that of a thread
    ],
)
def test_an_error_of_its_own_ends_it(
    monkeypatch: pytest.MonkeyPatch, loop: str, owner: type, step: str, kind: str
) -> None:
    monkeypatch.setattr(owner, step, fails)
    with Stage(handler(noop), handler(blocks), loop=loop) as stage:
        if step != "_mind_limits":
            stage.deliver(job(kind))
        assert stage.over.wait(5.0)
        assert isinstance(stage.broken, ArithmeticError)
