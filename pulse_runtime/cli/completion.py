"""`pulse-runtime completion`."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what makes your shell complete these commands.

    \b
    Examples:
      pulse-runtime completion bash >> ~/.bashrc
      pulse-runtime completion zsh  >> ~/.zshrc
      pulse-runtime completion fish > ~/.config/fish/completions/pulse-runtime.fish
    """
    maker = get_completion_class(shell)
    assert maker is not None  # noqa: S101 (the choices above are click's own)
    root = context.find_root().command
    click.echo(maker(root, {}, "pulse-runtime", "_PULSE_RUNTIME_COMPLETE").source())
