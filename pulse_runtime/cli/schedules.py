"""`pulse-runtime schedules`: make, change and look up schedules. The commands are in the modules named here."""

import click

from pulse_runtime.cli.lazy import LazyGroup

_CHANGES, _EDIT, _VIEWS, _TIMES = (
    f"pulse_runtime.cli.schedule_{part}" for part in ("changes", "edit", "views", "times")
)

_COMMANDS = {
    "list": (f"{_VIEWS}:list_command", "List schedules."),
    "show": (f"{_VIEWS}:show_command", "Show everything about one."),
    "add": (f"{_CHANGES}:add_command", "Make one."),
    "edit": (f"{_EDIT}:edit_command", "Change one."),
    "pause": (f"{_CHANGES}:pause_command", "Fire no more until resumed."),
    "resume": (f"{_CHANGES}:resume_command", "Go on with the next occurrence from now."),
    "run": (f"{_CHANGES}:run_command", "Fire once, now."),
    "delete": (f"{_CHANGES}:delete_command", "Take one away, or all of a tenant."),
    "history": (f"{_VIEWS}:history_command", "What became of its occurrences."),
    "coverage": (f"{_VIEWS}:coverage_command", "How many of its occurrences fired."),
    "backfill": (f"{_CHANGES}:backfill_command", "Fire what the ledger lacks of a past time."),
    "diff": (f"{_VIEWS}:diff_command", "How declared schedules differ from what is stored."),
    "preview": (f"{_TIMES}:preview_command", "List the next fires of a schedule, or of an expression."),
    "describe": (f"{_TIMES}:describe_command", "Say in plain English what an expression means."),
}


@click.group(cls=LazyGroup, commands_of=_COMMANDS)
def schedules() -> None:
    """Make, change and look up schedules; say when they fire.

    A schedule is named by its id, or by its name in a tenant and a project.
    """
