"""Refusals: commands that would weaken protection from within a guarded agent, or that need a terminal."""

from __future__ import annotations

import os
import shlex
import sys

from ..basics import agent_marks, protected_places
from ..errors import HookError


def refuse_below_agent(command: str, *, only_if_certain: bool = False) -> None:
    """Raise `HookError` if a guarded agent runs this command, or if that cannot be ruled out."""
    refusal = agent_marks.refusal()
    if refusal is not None and (refusal.is_below or not only_if_certain):
        raise HookError(f"'tenterhook {command}' {refusal.why}", refusal.remedy)


def refuse_writing(command: str, *paths: str) -> None:
    """Raise `HookError` if a guarded agent would write to hooks, settings, state or the program."""
    refusal = agent_marks.refusal() if paths else None
    if refusal is None:
        return
    known = protected_places.ProtectedPlaces(os.environ)
    for path in paths:
        # the kernel resolves a link before `..`, our own functions may not
        for spelt in (os.path.join(os.getcwd(), path), os.path.abspath(path)):
            what = protected_places.protected(spelt, True, known)
            if what is None and os.path.isfile(spelt) and os.stat(spelt).st_nlink > 1:
                what = "what has another name elsewhere"
            if what:
                raise HookError(f"'tenterhook {command}' {refusal.why}: {path} belongs to {what}", refusal.remedy)


def refuse_outside(command: str, path: str, project: str) -> None:
    """Raise `HookError` if a guarded agent would write through a link out of a project's `.agents/hooks`."""
    refusal = agent_marks.refusal()
    hooks = os.path.join(os.path.realpath(project), ".agents", "hooks", "")
    if refusal is not None and not os.path.realpath(path).startswith(hooks):
        raise HookError(f"'tenterhook {command}' {refusal.why}: {path} is a link that points elsewhere", refusal.remedy)


def need_terminal(command: str, *, yes: bool, also: str = "") -> None:
    """Raise `HookError` without a terminal, unless `yes`. `also`: the other options needed to run without questions."""
    if not yes and not sys.stdin.isatty():
        remedy = f"if you are sure: {typed(f'{also} --yes'.strip())}"
        raise HookError(f"'tenterhook {command}' needs confirmation, and there is no terminal", remedy)


def typed(also: str) -> str:
    """Return the command as it was typed, with more options."""
    return f"{shlex.join(('tenterhook', *sys.argv[1:]))} {also}"
