"""Handlers: what `@job` makes of a function, and what `.call(…)` lets through."""

import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

import pulse_runtime
from pulse_runtime import BadHandler, BadJob, Context, Job, Retry, handlers, job
from pulse_runtime.handlers import Registry


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """A registry of this test's own."""
    mine = Registry()
    monkeypatch.setattr(handlers, "registry", mine)
    return mine


@dataclass
class Address:
    street: str
    number: int


def test_call_describes_the_job_with_the_options_of_its_handler() -> None:
    retry = Retry(attempts=8)

    @job(queue="mail", timeout="30s", retry=retry)
    async def send_email(to: str, subject: str = "hi") -> None: ...

    expected = Job("send_email", {"to": "a@b.c"}, queue="mail", timeout="30s", retry=retry)
    assert send_email.call("a@b.c") == send_email.call(to="a@b.c") == expected


def test_a_handler_is_still_the_function() -> None:
    @job
    def double(n: int) -> int:
        """Twice n."""
        return 2 * n

    assert double(4) == 8
    assert (double.kind, double.__doc__) == ("double", "Twice n.")


def test_the_context_is_not_an_argument_of_the_job() -> None:
    @job(queue="billing")
    def render(ctx: Context, invoice_id: int) -> str:
        return f"{ctx.attempt}/{invoice_id}"

    assert render.takes_context
    assert render.call(invoice_id=7).args == {"invoice_id": 7}


def test_arguments_come_back_as_the_types_of_the_signature() -> None:
    @job
    def move(to: Address, at: datetime, who: UUID, tags: list[str] = []) -> None: ...  # noqa: B006

    at, who = datetime(2030, 1, 1, tzinfo=UTC), UUID(int=7)
    sent = move.call(Address("High St", 1), at, who=who)
    assert sent.args == {"to": {"street": "High St", "number": 1}, "at": "2030-01-01T00:00:00Z", "who": str(who)}
    assert move.decode(sent.args) == {"to": Address("High St", 1), "at": at, "who": who, "tags": []}


@pytest.mark.parametrize("wrong", [{}, {"n": "1"}, {"n": 1, "m": 2}, {"n": object()}, {"n": None}])
def test_arguments_that_do_not_fit_are_refused_at_the_producer(wrong: dict[str, Any]) -> None:
    @job
    def count(n: int) -> None: ...

    with pytest.raises(BadJob, match="count does not take them") as caught:
        count.call(**wrong)
    assert caught.value.field == "args"


def test_a_kind_belongs_to_one_function(registry: Registry) -> None:
    @job(kind="mail.send")
    def send() -> None: ...

    with pytest.raises(BadHandler, match=r"'mail.send' is that of .*send already"):

        @job(kind="mail.send")
        def other() -> None: ...

    assert list(registry) == ["mail.send"]
    assert registry.get("mail.send") is send
    assert registry.get("mail") is None


def test_parameters_without_a_name_are_refused_when_the_handler_is_made() -> None:
    with pytest.raises(BadHandler, match=r"\*numbers: int has no name to send"):

        @job
        def add(*numbers: int) -> None: ...


def test_an_unknown_option_is_refused_when_the_handler_is_made() -> None:
    with pytest.raises(BadHandler, match="no option 'que'; it has queue"):
        job(que="mail")  # type: ignore[call-overload]


def test_every_public_name_is_there() -> None:
    for name in pulse_runtime.__all__:
        assert getattr(pulse_runtime, name) is not None
    assert dir(pulse_runtime) == sorted(pulse_runtime.__all__)


def test_importing_pulse_loads_nothing_heavy() -> None:
    script = "import sys, pulse_runtime; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"psycopg", "msgspec", "anyio", "asyncio"} & set(said.stdout.split()) == set()
