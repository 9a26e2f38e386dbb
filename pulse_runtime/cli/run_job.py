"""`pulse-runtime run`."""

from typing import Any

import click


@click.command("run", context_settings={"show_default": True})
@click.argument("kind")
@click.argument("words", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--handlers", multiple=True, metavar="MODULE", help="Where the handler is. Repeatable.")
@click.option("--args", metavar="JSON", help="All arguments as an object; - reads it from stdin.")
@click.option("--loop", default="uvloop", type=click.Choice(["uvloop", "trio"]), help="For async handlers.")
@click.pass_context
def run_job(
    context: click.Context, kind: str, words: tuple[str, ...], handlers: tuple[str, ...], args: str | None, loop: str
) -> int:
    """Run the handler of KIND once, here and now, without a database.

    Values are read by the handler's signature: 3 is text for a str and a number for an int; lists and mappings are
    written as JSON. What it returns is printed as JSON. Exit code 1 and a traceback when it raises, unless that is
    Snooze or Cancel. What it enqueues is told and not added.

    \b
    Examples:
      pulse-runtime run --handlers myapp.jobs send_email to=a@b.c subject="hello there"
      pulse-runtime --handlers myapp.jobs run render invoice_id=42
      pulse-runtime run --handlers myapp.jobs send_email --args '{"to": "a@b.c", "subject": "hi"}'
    """
    import msgspec

    from pulse_runtime import inline
    from pulse_runtime.loading import load

    modules = (*context.meta.get("handlers", ()), *handlers)
    if not modules:
        raise click.UsageError("Say where the handler is: --handlers MODULE.")
    named, given = _named(words), _object(args)
    load(modules)
    handler = inline.handler_of(kind)
    try:
        called = inline.arguments(handler, given, named)
    except msgspec.ValidationError as error:
        raise click.UsageError(f"{kind} does not take these arguments: {error}") from error
    return _tell(handler, inline.run(handler, called, loop=loop, say=_progressed))


def _progressed(done: float, total: float | None, note: str | None) -> None:
    from pulse_runtime.cli.database import talk

    talk(f"progress: {done:g}{'' if total is None else f' of {total:g}'}{f', {note}' if note else ''}")


def _tell(handler: Any, ran: Any) -> int:
    import msgspec

    from pulse_runtime import inline
    from pulse_runtime.cli.database import talk
    from pulse_runtime.verdicts import Cancel, Snooze

    for job in ran.enqueued:
        talk(f"{handler.kind} enqueued {job.kind} {msgspec.json.encode(job.args).decode()}, which is not added here")
    if isinstance(ran.error, Snooze | Cancel):
        talk(f"{handler.kind} asked for {type(ran.error).__name__}: {ran.error.reason or 'it gave no reason'}")
        return 0
    if ran.error is not None:
        talk(inline.told(handler, ran.error).rstrip())
        talk(f"{handler.kind} failed after {ran.took_s * 1000:.0f} ms")
        return 1
    code = 0 if ran.result is None else _tell_result(handler, ran.result)
    talk(f"{handler.kind} took {ran.took_s * 1000:.0f} ms")
    return code


def _tell_result(handler: Any, result: object) -> int:
    """One that cannot be kept is a failure if it is to be kept, and of no interest otherwise."""
    from pulse_runtime.cli.database import talk
    from pulse_runtime.execution.running import MOST_RESULT
    from pulse_runtime.job_values import BadJob, encode_any

    try:
        click.echo(encode_any("result", result, most=MOST_RESULT))
    except BadJob as error:
        kept = bool(handler.options.get("keep_result"))
        what = "failed: it returned what cannot be kept" if kept else "returned what cannot be shown, or kept"
        talk(f"{handler.kind} {what}: {error}")
        return int(kept)
    return 0


def _named(words: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in map(_split, words):
        if name in found:
            raise click.UsageError(f"{name} is given twice. A list is written as JSON: {name}='[1, 2]'")
        found[name] = value
    return found


def _split(word: str) -> tuple[str, str]:
    name, sign, value = word.partition("=")
    if not sign or not name:
        raise click.UsageError(f"{word!r} is no argument. Write for example to=a@b.c")
    return name, value


def _object(text: str | None) -> dict[str, Any]:
    import json
    import sys

    try:
        found = {} if text is None else json.loads(sys.stdin.read() if text == "-" else text)
    except ValueError as error:
        raise click.UsageError(f"--args is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise click.UsageError(f'--args must be an object, for example {{"to": "a@b.c"}}, and is {text}')
    return found
