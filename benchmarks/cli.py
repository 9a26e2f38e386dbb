"""`python -m benchmarks`: the edge, where arguments come in and exit codes go out."""

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
import msgspec

from benchmarks.catalog import NAMES, Suite, load
from benchmarks.check import disagreements
from benchmarks.progress import Progress
from benchmarks.record import read, write
from benchmarks.report import listing, table
from benchmarks.run import Outcome, Plan, run

EXIT_USAGE, EXIT_MISSED, EXIT_INTERRUPTED = 2, 6, 130

FILE = click.Path(dir_okay=False, path_type=Path)


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def main(context: click.Context) -> None:
    """Run one benchmark by NAME. Without a name, list the names and their rows.

    Exit code 0: every row holds. 6: some do not. 2: usage. 130: interrupted.
    """
    if context.invoked_subcommand is None:
        click.echo(listing(load(name) for name in NAMES))


@main.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def check(file: Path) -> None:
    """Recompute every verdict of FILE from the samples in it; exit 6 if a recorded one disagrees."""
    try:
        rows = read(file)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        raise click.UsageError(f"{file} is not a result of this runner: {error}") from error
    found = list(disagreements(rows))
    for each in found:
        click.echo(each)
    click.echo(f"{len(rows)} rows checked, {len(found)} disagreements")
    sys.exit(EXIT_MISSED if found else 0)


def bench(suite: Suite, plan: Plan, file: Path | None) -> int:
    """Measure, write, print; the exit code."""
    if not suite.scenarios:
        raise click.UsageError(f"{suite.name} has no rows yet; these have: {', '.join(_names_with_rows())}")
    if not suite.only(plan.only):
        raise click.UsageError(f"no row of {suite.name} contains {plan.only!r}; its rows:\n{listing([suite])}")
    if file is not None:
        _refuse_unwritable(file)
    outcome = run(suite, plan, Progress(sys.stderr))
    if file is not None and outcome.rows:
        write(file, outcome.rows)
    click.echo(table(outcome.rows))
    _remark(outcome)
    return exit_code(outcome)


def exit_code(outcome: Outcome) -> int:
    if outcome.interrupted:
        return EXIT_INTERRUPTED
    held = all(row.holds for row in outcome.rows) and not outcome.complaint
    return 0 if held else EXIT_MISSED


def command_line(name: str, plan: Plan) -> str:
    """What to type to measure this again. Without --json, whose path is a matter of the machine."""
    words = ["python", "-m", "benchmarks", name]
    words += ["--quick"] if plan.quick else []
    words += ["--only", plan.only] if plan.only else []
    words += ["--rounds", str(plan.rounds)] if plan.rounds else []
    return shlex.join(words)


def _command(name: str) -> click.Command:
    @click.command(name, help=f"Measure the rows of {name}.")
    @click.option("--quick", is_flag=True, help="The same measurements on less work, in about three minutes.")
    @click.option("--json", "file", type=FILE, help="Write the rows to this file.")
    @click.option("--only", default="", metavar="TEXT", help="Only rows with TEXT in their name.")
    @click.option("--rounds", type=click.IntRange(min=1), help="Rounds per scenario, in place of its own number.")
    def command(quick: bool, file: Path | None, only: str, rounds: int | None) -> None:
        plan = Plan(quick=quick, only=only, rounds=rounds)
        sys.exit(bench(load(name), replace(plan, command=command_line(name, plan)), file))

    return command


def _names_with_rows() -> Sequence[str]:
    return [name for name in NAMES if load(name).scenarios] or ["none"]


def _refuse_unwritable(file: Path) -> None:
    """Now, not after twenty minutes of measuring."""
    if not os.access(file.parent, os.W_OK | os.X_OK):
        raise click.UsageError(f"--json: cannot write into {file.parent}; does the folder exist?")


def _remark(outcome: Outcome) -> None:
    if outcome.complaint:
        click.echo(outcome.complaint, err=True)
    if outcome.interrupted:
        click.echo("interrupted: these are the rows measured so far", err=True)


for _name in NAMES:
    main.add_command(_command(_name))
