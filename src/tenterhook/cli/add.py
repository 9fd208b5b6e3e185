"""`tenterhook add`: copy a built-in hook to where it is in force, and wire its event."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from ..agents import AGENTS
from ..authoring import folders, released_hooks
from ..authoring.built_in_hooks import COPIED, CURRENT, built_in_hooks, files, state_of
from ..basics import places
from ..basics.display_text import visible
from ..catalog import project_root
from ..errors import HookError
from ..install import event_wiring, records, sync
from ..model import Hook
from .loading import catalog_here, json_option, known_name
from .own_hooks import needs_trust
from .printing import print_json, print_problems, print_said, print_table, print_text, short_path
from .refusals import refuse_below_agent

if TYPE_CHECKING:
    from ..catalog.catalog import Catalog


class AddResult(NamedTuple):
    """The result for one hook: `added`, `replaced` (the old folder is at `kept`) or `unchanged`."""

    hook: Hook
    folder: str
    state: str
    kept: str | None = None


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    return [hook.name for hook in built_in_hooks() if hook.name.startswith(incomplete)]


@click.command(short_help="Add hooks that come with Tenterhook.")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=_names)
@click.option(
    "--project", "for_project", is_flag=True, help="Add to this project's .agents/hooks, for everyone who works on it."
)
@click.option("--copy", is_flag=True, help="Write a guard's source, to read or change it, instead of its name.")
@click.option("--force", is_flag=True, help="Replace a hook that you have changed; the old folder is kept.")
@json_option
def add(names: tuple[str, ...], for_project: bool, copy: bool, force: bool, as_json: bool) -> int:
    """Write hooks that come with Tenterhook to ~/.config/agents/hooks, where they are in force in every project.

    They are ordinary folders. A guard's folder has a HOOK.md with its settings; the guard itself is part of Tenterhook,
    runs in its process and is upgraded with it. With --copy, the folder has the guard's source instead: it is yours, it
    is not upgraded, and it needs Python 3.11 but not Tenterhook.

    Without NAME, it lists the built-in hooks. A hook that you have changed is not overwritten without --force; one that
    an earlier version wrote is upgraded with tenterhook update.

    \b
    tenterhook add
    tenterhook add block-dangerous-commands protect-hooks
    tenterhook add enforce-tests --project
    tenterhook add block-dangerous-commands --copy
    """
    root = project_root.project_root(os.getcwd())
    if not names:
        return _list(root, as_json=as_json)
    hooks = {hook.name: hook for hook in built_in_hooks()}
    wanted = [hooks[known_name(name, hooks, "built-in hook")] for name in dict.fromkeys(names)]
    refuse_below_agent("add")  # hooks in the user's own directory run without being trusted
    directory = hooks_directory(root if for_project else None)
    for hook in wanted:  # check all first: a refusal changes nothing
        _check(hook, directory, force=force)
    added = [write(hook, directory, copy=copy) for hook in wanted]
    catalog = catalog_here()
    untrusted = [each.hook.name for each in added if needs_trust(each.folder, catalog)]
    closed = event_wiring.must_close(catalog.in_force())
    changed = sync.wire(catalog.hooks, root=root if for_project else None, closed=closed)
    wired = list(dict.fromkeys(each.agent.name for each in changed if not each.left))
    left = [each for each in changed if each.left]
    unguarded = _unguarded(root)
    if as_json:
        data = [_as_json(each, needs_trust=each.hook.name in untrusted) for each in added]
        not_wired = [str(each) for each in left]
        print_json({"schema": 1, "added": data, "wired": wired, "not_wired": not_wired, "not_guarded": unguarded})
        return 1 if left else 0
    for each in added:
        _print(each, catalog)
    for each_left in left:
        print_text(str(each_left), err=True)
    for agent in wired:
        print_text(f"{AGENTS[agent].title} calls it from now on; restart it if it is running")
    if wired and event_wiring.must_close(each.hook for each in added):
        print_text("        if Tenterhook cannot answer there, calls are refused (`on_failure: block`)")
    if untrusted:
        runs = "it runs once you trust it" if len(untrusted) == 1 else "they run once you trust them"
        print_text(f"next    tenterhook trust {' '.join(untrusted)}   {runs}")
    if unguarded:
        print_text(f"next    tenterhook install {' '.join(unguarded)}   to put it in force there")
    return 1 if left else 0


def hooks_directory(root: str | None) -> str:
    """Return the hooks directory of a project, or of the user."""
    return os.path.join(root, ".agents", "hooks") if root else os.path.join(places.config_home(), "agents", "hooks")


def _list(root: str, *, as_json: bool) -> int:
    rows = []
    for hook in built_in_hooks():
        states = {
            layer: state_of(hook, os.path.join(directory, hook.name))
            for layer, directory in (("user", hooks_directory(None)), ("project", hooks_directory(root)))
        }
        rows.append((hook, states))
    if as_json:
        print_json(
            {
                "schema": 1,
                "hooks": [
                    {"name": hook.name, "event": hook.event, "description": hook.description, **states}
                    for hook, states in rows
                ],
            }
        )
        return 0
    cells = []
    for hook, states in rows:
        added = [f"{layer}{'' if state == CURRENT else f' ({state})'}" for layer, state in states.items() if state]
        cells.append((hook.name, hook.event, ", ".join(added) or "-", hook.description))
    print_table(("hook", "event", "added", "what it does"), cells)
    print_text("add one: tenterhook add NAME")
    return 0


def _check(hook: Hook, directory: str, *, force: bool) -> None:
    folder = os.path.join(directory, hook.name)
    if force:
        return
    if lost := next((each for each in folders.interrupted() if each.folder == folder), None):
        raise HookError(f"{lost}; nothing was added", f"{lost.remedy}; or replace the folder with --force")
    if state_of(hook, folder) != "changed":
        return
    if released_hooks.outdated([folder]):
        raise HookError(
            f"{folder} was written by an earlier version; nothing was added", f"tenterhook update {hook.name}"
        )
    remedy = f"tenterhook add {hook.name} --force replaces it and keeps yours; tenterhook show {hook.name} shows it"
    raise HookError(f"{folder} exists and was changed; nothing was added", remedy)


def write(hook: Hook, directory: str, *, copy: bool) -> AddResult:
    """Write a hook into a directory, completely or not at all."""
    folder = os.path.join(directory, hook.name)
    state = state_of(hook, folder)
    if state == (COPIED if copy and hook.guard else CURRENT):
        return AddResult(hook, folder, "unchanged")
    kept = folders.write(folder, files(hook, copy=copy), replace=True)
    return AddResult(hook, folder, "replaced" if state else "added", kept)


def _unguarded(root: str) -> list[str]:
    """Return the agents on this machine without our entries, neither for the user nor for this project."""
    guarded = {record["host"] for record in records.all_records() if record["root"] in (None, root)}
    return [agent.name for agent in AGENTS.values() if agent.name not in guarded and agent.is_present()]


def _as_json(each: AddResult, *, needs_trust: bool) -> dict[str, object]:
    return {
        "name": each.hook.name,
        "event": each.hook.event,
        "folder": each.folder,
        "state": each.state,
        "kept": each.kept,
        "needs_trust": needs_trust,
    }


def _print(each: AddResult, catalog: Catalog) -> None:
    done = {"unchanged": "already added, unchanged"}.get(each.state, each.state)
    print_text(f"{click.style(each.hook.name, bold=True)}  {done}: {short_path(each.folder)}")
    if each.kept:
        print_text(f"  yours is kept: {short_path(each.kept)}")
    print_said("  ", each.hook.description)
    print_problems((problem for problem in catalog.problems if problem.file.startswith(each.folder + "/")), err=True)
    for left in catalog.left_out:
        if left.hook.folder == each.folder:
            print_text(f"  it is not in force: {visible(left.why)}", err=True)
    for host in dict.fromkeys(record["host"] for record in records.all_records()):
        if host in AGENTS and event_wiring.without_event(AGENTS[host], [each.hook]):
            print_text(f"  {AGENTS[host].title} has no event for it; it never runs there")
    if each.state != "unchanged":
        print_text(f"  details: tenterhook show {each.hook.name}")
