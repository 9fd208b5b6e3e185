"""`tenterhook update`: update hooks that an earlier version wrote."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ..authoring import folders, released_hooks
from ..authoring.released_hooks import CHANGED, OutdatedHook
from ..basics.display_text import visible
from ..errors import HookError
from .loading import catalog_here, json_option, known_name, offered, yes_option
from .own_hooks import needs_trust, wired
from .printing import counted, print_json, print_text, short_path
from .refusals import need_terminal, refuse_below_agent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..authoring.templates import File


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    return offered((each.built_in.name for each in released_hooks.outdated_hooks(catalog_here())), incomplete)


@click.command(short_help="Update hooks that an earlier version wrote.")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=_names)
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--force", is_flag=True, help="Also replace hooks that you have changed; yours are kept.")
@yes_option
@json_option
def update(names: tuple[str, ...], dry_run: bool, force: bool, yes: bool, as_json: bool) -> int:
    """Replace hooks that an earlier version of Tenterhook wrote with the current ones; without NAME, all in force here.

    Guards used to be copied with all of their code. Now their folder names the guard, which runs in Tenterhook's own
    process and is upgraded with it. Your settings are kept: fields of HOOK.md that you have changed, and hooks.toml,
    which is not touched. The old folder is kept; the command prints where.

    A hook whose files you have changed is left alone unless you add --force. Because its files have changed, a
    project's hook must then be trusted again by everyone who works on it.

    \b
    tenterhook update --dry-run
    tenterhook update
    tenterhook update block-dangerous-commands --force
    """
    if not dry_run:
        refuse_below_agent("update")
    catalog = catalog_here()
    for lost in folders.interrupted():
        print_text(f"{visible(str(lost))}; {visible(lost.remedy)}", err=True)
    found = released_hooks.outdated_hooks(catalog)
    if names:
        every = {os.path.basename(hook.folder) for hook in catalog.all_hooks() if hook.folder}
        wanted = {known_name(name, sorted(every), "hook") for name in names}
        found = [each for each in found if each.built_in.name in wanted]
    due = [each for each in found if (force or each.state != CHANGED) and _can_write(each)]
    if not as_json:
        for each in found:
            _print(each, is_due=each in due)
        if unread := [hook.name for hook in catalog.hooks if not catalog.trust.standing(hook).runs]:
            print_text(f"skipped, because you have not trusted them: {visible(', '.join(unread))}", err=True)
    if dry_run or not due:
        if as_json:
            print_json(
                {"schema": 1, "hooks": [_as_json(each, due=each in due, kept={}) for each in found], "wired": []}
            )
        elif not found:
            print_text("every hook is up to date")
        return 0
    need_terminal("update", yes=yes)
    question = f"Update {counted(len(due), 'hook')}?"
    if not yes and not click.confirm(question, default=True, err=as_json):
        return 1
    files = {each.folder: each.files() for each in due}  # check all first: a refusal changes nothing
    kept = {each.folder: _update(each, files[each.folder]) for each in due}
    after = catalog_here()
    untrusted = [each for each in due if needs_trust(each.folder, after)]
    lines = wired(after)
    if as_json:
        data = [_as_json(each, due=each in due, kept=kept, needs_trust=each in untrusted) for each in found]
        print_json({"schema": 1, "hooks": data, "wired": lines})
        return 0
    for folder, old in kept.items():
        print_text(f"updated {short_path(folder)}")
        if old:
            print_text(f"  the old folder is kept: {short_path(old)}")
    for line in lines:
        print_text(line)
    if untrusted:
        named = " ".join(each.built_in.name for each in untrusted)
        print_text(f"next    tenterhook trust {named}   its files have changed: it runs once you trust it")
    return 0


def _can_write(each: OutdatedHook) -> bool:
    return os.access(os.path.dirname(each.folder), os.W_OK)


def _update(each: OutdatedHook, files: dict[str, File]) -> str | None:
    """Write the current files, and return where the old folder is kept."""
    try:
        return folders.write(each.folder, files, replace=True)
    except OSError as error:
        raise HookError(f"{each.folder} was not updated: {error.strerror}", "make it writable") from None


def _print(each: OutdatedHook, *, is_due: bool) -> None:
    name = each.built_in.name
    if is_due:
        state = f"written by an earlier version{', and changed' if each.changed else ''}"
    elif each.state == CHANGED:
        state = "written by an earlier version, and changed: left alone"
    else:
        state = "written by an earlier version; you cannot write to its directory: left alone"
    print_text(f"{click.style(name, bold=True)}  {state}: {short_path(each.folder)}")
    if each.changed:
        print_text(f"  changed: {', '.join(each.changed)}")
    if each.state == CHANGED and not is_due:
        print_text(f"  tenterhook update {name} --force replaces it and keeps yours")
    if is_due:
        if each.built_in.guard is not None:
            print_text(f"  will run the built-in guard {each.built_in.guard}, in Tenterhook's process")
        if each.settings:
            print_text(f"  keeps your settings: {', '.join(_setting_names(each))}")
        if each.removed:
            print_text(f"  leaves out what you have removed: {', '.join(each.removed)}")


def _setting_names(each: OutdatedHook) -> list[str]:
    inner = [f"metadata.{name}" for name in each.settings.get("metadata", ())]
    return [*(name for name in each.settings if name != "metadata"), *inner]


def _as_json(
    each: OutdatedHook, *, due: bool, kept: Mapping[str, str | None], needs_trust: bool = False
) -> dict[str, Any]:
    return {
        "name": each.built_in.name,
        "folder": each.folder,
        "state": each.state,
        "changed": list(each.changed),
        "settings": dict(each.settings),
        "removed": list(each.removed),
        "would_update": due,
        "updated": each.folder in kept,
        "kept": kept.get(each.folder),
        "needs_trust": needs_trust,
    }
