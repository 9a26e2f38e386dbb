"""What a run is asked to do, and under which name it is reported."""

from dataclasses import asdict, dataclass
from typing import Any

from pulse_loadgen.load import Kind
from pulse_loadgen.tree import Shape


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A backlog that is there before the runtime starts, jobs that come at a rate while it runs, or both."""

    scenario: str
    backlog: int = 0
    rate: float = 0.0
    for_s: float = 0.0
    work_ms: float = 0.0
    """How long each handler waits."""
    threads: bool = False
    """Handlers are plain functions, each in a thread, instead of coroutines."""
    executors: int = 2
    concurrency: int = 100
    loop: str = "uvloop"

    @property
    def arriving(self) -> int:
        return round(self.rate * self.for_s)

    @property
    def jobs(self) -> int:
        return self.backlog + self.arriving

    def kind(self, queue: str) -> Kind:
        work = "sleep" if self.work_ms else "noop"
        args = {"ms": self.work_ms} if self.work_ms else {}
        return Kind(queue=queue, kind=f"loadgen.{work}{'_in_thread' if self.threads else ''}", args=args)

    def shape(self, queue: str, name: str) -> Shape:
        flags = {"queues": queue, "loop": self.loop}
        return Shape(name=name, executors=self.executors, concurrency=self.concurrency, flags=flags)

    def parameters(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "scenario"}
