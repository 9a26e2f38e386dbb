"""Handlers: what `@job` makes of a function, and what `.call(…)` lets through."""

import functools
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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"retry": 5}, r"pays: @job\(retry=…\): it must be a Retry, not int"),
        ({"timeout": "soon"}, r"@job\(timeout=…\): 'soon' is not a duration"),
        ({"timeout": 0}, r"@job\(timeout=…\): it must be a millisecond"),
        ({"queue": ""}, r"@job\(queue=…\): it is empty"),
        ({"priority": 11}, "from -10 to 10"),
        ({"max_attempts": 0}, "from 1 to 1000"),
        ({"kind": "x" * 201}, r"@job\(kind=…\)"),
    ],
)
def test_options_that_no_job_could_have_are_refused_when_the_handler_is_made(options: Any, said: str) -> None:
    def pays() -> None: ...

    with pytest.raises(BadHandler, match=said):
        job(**options)(pays)


def test_a_context_that_no_job_could_send_is_refused_when_the_handler_is_made() -> None:
    def second(n: int, ctx: Context) -> None: ...
    def optional(ctx: Context | None = None) -> None: ...
    def as_text(n: int, ctx: "Context | None" = None) -> None: ...

    for function in (second, optional, as_text):
        with pytest.raises(BadHandler, match="ctx cannot be a Context there"):
            job(function)


def test_a_class_of_yours_that_is_called_context_is_an_argument() -> None:
    space: dict[str, Any] = {}
    exec("class Context: ...\ndef renders(ctx: 'Context', n: int) -> None: ...", space)
    assert not job(space["renders"]).takes_context


def test_partials_and_objects_that_can_be_called_are_handlers_with_a_kind() -> None:
    def add(a: int, b: int) -> int:
        return a + b

    class Adds:
        def __call__(self, a: int) -> int:
            return a + 1

    known: dict[str, Any] = {"one": functools.partial(add, 1), "two": functools.partial(add, a=1), "three": Adds()}
    for kind, function in known.items():
        handler = job(kind=kind)(function)
        name = list(handler.arguments.__struct_fields__)[-1]
        assert handler(**handler.decode({name: 2})) == 3
    with pytest.raises(BadHandler, match=r"has no name to be its kind: @job\(kind=…\)"):
        job(functools.partial(add, 1))


def test_a_default_that_a_job_has_changed_is_new_for_the_next() -> None:
    @job
    def collects(seen: list[int] = []) -> list[int]:  # noqa: B006
        seen.append(1)
        return seen

    for _ in range(2):
        assert collects.function(**collects.decode({})) == [1]


def test_every_public_name_is_there() -> None:
    for name in pulse_runtime.__all__:
        assert getattr(pulse_runtime, name) is not None
    assert dir(pulse_runtime) == sorted(pulse_runtime.__all__)


def test_importing_pulse_loads_nothing_heavy() -> None:
    script = "import sys, pulse_runtime; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"psycopg", "msgspec", "anyio", "asyncio"} & set(said.stdout.split()) == set()
