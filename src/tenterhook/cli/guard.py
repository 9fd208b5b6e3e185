"""`tenterhook guard`: a built-in guard for other programs that run hooks; the script of its folder calls it."""

from __future__ import annotations

import json
import os
import sys

import click

from ..engine.guard_hooks import printed
from ..errors import HookError
from ..formats import folder as folder_format
from ..guards import UnknownGuard, judge
from ..guards.calls import GuardedCall


@click.command(short_help="Run a built-in guard on the event on stdin, as a hook's script.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
def guard(folder: str) -> int:
    """Run the guard that FOLDER/HOOK.md names, with its settings, on the JSON payload of an event on stdin.

    Tenterhook itself does this without starting a program. Exit status 2 refuses the call, with the reason on stderr;
    where the person should be asked, it prints a decision.

    \b
    tenterhook guard ~/.config/agents/hooks/block-dangerous-commands < event.json
    """
    found = folder_format.read(os.path.abspath(folder), "user")
    name = found.hook.guard if found.hook is not None else None
    if found.hook is None or name is None:
        raise HookError(f"{folder}/HOOK.md names no guard", "tenterhook add lists the guards that there are")
    try:
        event = json.load(sys.stdin)
        tool, work_dir = str(event.get("tool_name", "")), str(event.get("work_dir") or event.get("cwd") or os.getcwd())
    except (ValueError, AttributeError, RecursionError):
        raise HookError("there is no JSON object on stdin", "give it the payload of an event") from None
    try:
        objection = judge(name, GuardedCall(tool, event.get("tool_input"), work_dir, os.environ, found.hook.metadata))
    except UnknownGuard as error:
        raise HookError(str(error), "upgrade Tenterhook") from None
    status, stdout, stderr = printed(objection)
    click.echo(stdout, nl=False)
    click.echo(stderr, nl=False, err=True)
    return status
