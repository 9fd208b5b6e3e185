"""`tenterhook guard`: a built-in guard for other programs that run hooks; the script of its folder calls it."""

from __future__ import annotations

import os
import sys

import click

from .. import guards
from ..catalog import layer_settings
from ..errors import HookError
from ..formats import folder as folder_format
from ..guards import script


@click.command(short_help="Run a built-in guard on the event on stdin, as a hook's script.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
def guard(folder: str) -> int:
    """Run the guard that FOLDER/HOOK.md names, with its settings, on the JSON payload of an event on stdin.

    Tenterhook itself does this without starting a program. Exit status 2 refuses the call, with the reason on stderr;
    if the user should be asked, a decision is printed. A guard that fails also refuses the call if the hook says
    `on_failure: block`; otherwise the exit status is 1.

    \b
    tenterhook guard ~/.config/agents/hooks/block-dangerous-commands < event.json
    """
    folder = os.path.abspath(folder)
    beside, _ = layer_settings.read(os.path.dirname(folder), ())
    changes = {"override": beside.overrides.get(os.path.basename(folder), {})}
    hook = folder_format.read(folder, "user", changes).hook
    if hook is None or hook.guard is None:
        raise HookError(f"{folder}/HOOK.md names no guard", "tenterhook add lists the guards")
    name, payload = hook.guard, sys.stdin.buffer.read()
    status, stdout, stderr = script.run(lambda call: guards.judge(name, call), payload, os.environ, hook.metadata)
    click.echo(stdout, nl=False)
    click.echo(stderr, nl=False, err=True)
    return status
