"""`tenterhook completion`: the completion script for a shell: commands, hooks, events, agents and sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

if TYPE_CHECKING:
    from click.shell_completion import ShellComplete


@click.command(short_help="Completion for bash, zsh or fish.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL: commands and options, hooks, events, agents and sessions.

    Pressing Tab runs no hook and writes nothing. Bash must be 4.4 or newer. Install it once, where the shell finds it:

    \b
    bash  mkdir -p ~/.local/share/bash-completion/completions
          tenterhook completion bash > ~/.local/share/bash-completion/completions/tenterhook
    zsh   mkdir -p ~/.zfunc; tenterhook completion zsh > ~/.zfunc/_tenterhook
          and in ~/.zshrc: fpath+=(~/.zfunc); autoload -Uz compinit; compinit
    fish  mkdir -p ~/.config/fish/completions
          tenterhook completion fish > ~/.config/fish/completions/tenterhook.fish

    For this shell only, use eval "$(tenterhook completion bash)", or in fish: tenterhook completion fish | source
    """
    from . import COMPLETING

    kind: type[ShellComplete] | None = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "tenterhook", COMPLETING).source())
