"""`tenterhook remove`: delete the folders of hooks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from ..authoring import folders
from ..basics.display_text import one_line
from ..catalog import fail_closed, misplaced_files
from ..errors import HookError
from ..install import hooks_toml, sources
from .loading import catalog_here, json_option, offered, yes_option
from .own_hooks import governed, own_settings, place, wired
from .printing import print_json, print_problems, print_text, short_path
from .refusals import need_terminal, refuse_below_agent

if TYPE_CHECKING:
    from ..catalog.catalog import Catalog

_MOST_SHOWN = 40  # files of a folder


class Removable(NamedTuple):
    """A hook's folder in the user's or the project's layer; the hook in it may be broken."""

    name: str
    layer: str
    folder: str
    is_gone: bool = False  # a fail-closed hook that was loaded earlier and no longer exists


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    return offered(sorted({each.name for each in _removable(catalog_here())}), incomplete)


class _Removed(NamedTuple):
    """What was removed: the files of the folder, and the settings files with an entry that disabled the hook."""

    chosen: Removable
    files: list[str]
    link: str | None
    left: str | None  # why the folder still exists
    changed: list[str]

    def as_json(self) -> dict[str, object]:
        deleted = not (self.chosen.is_gone or self.left)
        removed = {**self.chosen._asdict(), "link_to": self.link, "files": self.files, "deleted": deleted}
        del removed["is_gone"]
        return {"removed": removed, "changed": self.changed}


@click.command(short_help="Delete hooks.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=_names)
@click.option("--user/--project", "for_user", default=None, help="Your own hooks of these names, or this project's.")
@yes_option
@json_option
def remove(names: tuple[str, ...], for_user: bool | None, yes: bool, as_json: bool) -> int:
    """Delete hooks of yours or of this project, with their whole folders. It shows what it deletes.

    A hook that blocks when it fails and can no longer be loaded refuses its event. Removing it ends that, even if its
    folder is gone or it was defined in a hooks file.

    To disable a hook and keep it: tenterhook disable NAME. The command needs a terminal or --yes and cannot be run by a
    guarded agent. If a name is unknown, nothing is deleted. With several names, --json prints a list of `results`.

    \b
    tenterhook remove enforce-tests
    tenterhook remove format lint --project --yes
    """
    catalog = catalog_here()
    # by folder: a hook can be named by its own name and its folder's
    named = {(each := _chosen(name, for_user, catalog)).folder: (name, each) for name in dict.fromkeys(names)}
    refuse_below_agent("remove")
    need_terminal("remove", yes=yes)
    found = []
    for name, chosen in named.values():
        link = os.readlink(chosen.folder) if os.path.islink(chosen.folder) else None
        files = [] if link or chosen.is_gone else _files(chosen.folder)
        found.append((name, chosen, files, link))
        if not as_json or not yes:
            _show(chosen, files, link, err=as_json)
    them = "it" if len(found) == 1 else "them"
    question = f"Forget {them}?" if all(each.is_gone for _, each in named.values()) else f"Delete {them} permanently?"
    if not yes and not click.confirm(question, default=False, err=as_json):
        return 1
    removed = []
    for name, chosen, files, link in found:
        left = None if chosen.is_gone else _delete(chosen)
        for alias in {chosen.name, name}:  # after deleting: a load before that would record it again
            fail_closed.forget(alias)
        removed.append(_Removed(chosen, files, link, left, _forget(chosen.name, catalog)))
        if not as_json:
            _say(removed[-1])
    lines = wired(catalog_here())
    if as_json:
        results = [each.as_json() for each in removed]
        print_json({"schema": 1, **(results[0] if len(names) == 1 else {"results": results}), "wired": lines})
        return 0
    for line in lines:
        print_text(line)
    return 0


def _say(removed: _Removed) -> None:
    chosen = removed.chosen
    if chosen.is_gone or removed.left:
        print_text(f"forgotten: {one_line(chosen.name)}; it no longer refuses anything")
    else:
        print_text(f"removed {short_path(chosen.folder)}")
    if removed.left:
        print_text(f"  {short_path(chosen.folder)} still exists: {removed.left}", err=True)
    for file in removed.changed:
        print_text(f"  and the entry that disabled it in {short_path(file)}")
    after = catalog_here()
    for hook in after.hooks:
        if hook.name == chosen.name and not hook.missing:
            print_text(f"  still in force by that name: {place(hook)}")
    print_problems((each for each in after.problems if each.code == "ungoverned" and each.key == chosen.name), err=True)


def _removable(catalog: Catalog) -> list[Removable]:
    """Return the hook folders of the user's and the project's layers, broken ones too."""
    names = {hook.folder: hook.name for hook in catalog.all_hooks()}
    found = []
    for layer in catalog.layers:
        if layer.name == "managed":
            continue
        try:
            bases = sorted(os.listdir(layer.directory), key=os.fsencode)
        except OSError:  # missing or unreadable
            continue
        for base in bases:
            folder = f"{layer.directory}/{base}"
            is_meant = folder in names or os.path.lexists(f"{folder}/HOOK.md")
            if is_meant or misplaced_files.misspelt(folder) is not None:
                found.append(Removable(names.get(folder, base), layer.name, folder))
    return found


def _missing(name: str) -> list[Removable]:
    """Return the fail-closed hook of this name that can no longer be loaded, if there is one."""
    loaded = {hook.source for hook in sources.here().catalog.hooks if not hook.missing}
    kept = [each.hook for each in fail_closed.read()[0] if each.hook.name == name]
    found = [hook for hook in kept if hook.source not in loaded and hook.layer != "managed"]
    return [Removable(name, "user", hook.folder or hook.source, is_gone=True) for hook in found[:1]]


def _delete(chosen: Removable) -> str | None:
    """Delete a folder. Return why that failed if its hook could not be loaded anyway; else raise `OSError`."""
    try:
        folders.delete(chosen.folder)
    except OSError as error:
        if not any(each.hook.name == chosen.name for each in fail_closed.read()[0]):
            raise
        return error.strerror
    return None


def _chosen(name: str, for_user: bool | None, catalog: Catalog) -> Removable:
    """Return the folder that the name stands for. Raises if there is none, or more than one."""
    every = [each for each in _removable(catalog) if name in (each.name, os.path.basename(each.folder))]
    if not any(each.layer == "user" for each in every):
        every += _missing(name)
    found = [each for each in every if for_user is None or (each.layer == "user") == for_user]
    if not found:
        if every:
            other = "--user" if every[0].layer == "user" else "--project"
            raise HookError(
                f"the hook '{name}' is in {short_path(every[0].folder)}", f"tenterhook remove {name} {other}"
            )
        governed(name, catalog)  # raises an error with its place, or a similar name
        raise HookError(f"'{name}' is in no directory of hooks", "tenterhook list shows where hooks are")
    if len({each.layer for each in found}) > 1:
        where = ", ".join(short_path(each.folder) for each in found)
        raise click.UsageError(f"there are two hooks called {name!r}: {where}; add --user or --project")
    exact = [each for each in found if os.path.basename(each.folder) == name]
    if len(found) > 1 and not exact:
        where = ", ".join(os.path.basename(each.folder) for each in found)
        raise click.UsageError(f"several hooks are called {name!r}: name the folder instead: {where}")
    return (exact or found)[0]


def _files(folder: str) -> list[str]:
    """Return the files in a folder; links are not followed."""
    found = []
    for directory, directories, files in os.walk(folder):
        links = [each for each in directories if os.path.islink(os.path.join(directory, each))]
        found += [os.path.relpath(os.path.join(directory, each), folder) for each in (*files, *links)]
    return sorted(found)


def _show(chosen: Removable, files: list[str], link: str | None, *, err: bool) -> None:
    print_text(f"{click.style(one_line(chosen.name), bold=True)}  {short_path(chosen.folder)}", err=err)
    if link is not None:
        print_text(f"  a link to {one_line(link)}, which is not deleted", err=err)
    if chosen.is_gone:
        print_text("  cannot be loaded; no file is deleted, but it will no longer refuse anything", err=err)
    for file in files[:_MOST_SHOWN]:
        print_text(f"  {one_line(file)}", err=err)
    if len(files) > _MOST_SHOWN:
        print_text(f"  … and {len(files) - _MOST_SHOWN} more files", err=err)


def _forget(name: str, catalog: Catalog) -> list[str]:
    """Remove the entries that disable a deleted hook; return the files that were changed."""
    if any(hook.name == name for hook in catalog_here().all_hooks()):
        return []
    try:
        files = own_settings(catalog)
        return [file for file in files if os.path.lexists(file) and hooks_toml.enable(file, name)]
    except HookError:  # a file that cannot be edited: `check` says that an entry is for no hook
        return []
