"""`tenterhook remove`: delete a hook's folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from ..authoring import folders
from ..basics.shown import one_line
from ..catalog import misplaced
from ..errors import HookError
from ..installing import hooks_toml
from .loading import catalog_here, json_option, offered
from .own_hooks import governed, own_settings, place, wired
from .printing import print_json, print_problems, short_path
from .trust import need_terminal, refuse_below_agent

if TYPE_CHECKING:
    from ..catalog.contents import Catalog

_MOST_SHOWN = 40  # files of a folder


class Removable(NamedTuple):
    """A hook's folder in a layer that is the person's to change; the hook in it may be broken."""

    name: str
    layer: str
    folder: str


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    return offered(sorted({each.name for each in _removable(catalog_here())}), incomplete)


@click.command(short_help="Delete a hook.")
@click.argument("name", metavar="NAME", shell_complete=_names)
@click.option("--user/--project", "for_user", default=None, help="Your own hook of that name, or this project's.")
@click.option("--yes", is_flag=True, help="Do not ask; for scripts.")
@json_option
def remove(name: str, for_user: bool | None, yes: bool, as_json: bool) -> int:
    """Delete a hook: its whole folder, of your own hooks or of this project's. It shows what it deletes.

    To switch a hook off and keep it: tenterhook disable NAME. It needs a terminal or --yes, and does not work from
    within a guarded agent.

    \b
    tenterhook remove enforce-tests
    tenterhook remove format --project --yes
    """
    catalog = catalog_here()
    chosen = _chosen(name, for_user, catalog)
    refuse_below_agent("remove")
    need_terminal("remove", yes=yes)
    link = os.readlink(chosen.folder) if os.path.islink(chosen.folder) else None
    files = [] if link else _files(chosen.folder)
    if not as_json or not yes:
        _show(chosen, files, link, err=as_json)
    if not yes and not click.confirm("Delete it for good?", default=False, err=as_json):
        return 1
    folders.delete(chosen.folder)
    enabled = _forget(chosen.name, catalog)
    after = catalog_here()
    lines = wired(after)
    if as_json:
        removed = {**chosen._asdict(), "link_to": link, "files": files}
        print_json({"schema": 1, "removed": removed, "changed": enabled, "wired": lines})
        return 0
    click.echo(f"removed {short_path(chosen.folder)}")
    for file in enabled:
        click.echo(f"  and what disabled it in {short_path(file)}")
    for hook in after.hooks:
        if hook.name == chosen.name:
            click.echo(f"  still in force by that name: {place(hook)}")
    print_problems((each for each in after.problems if each.code == "ungoverned" and each.key == chosen.name), err=True)
    for line in lines:
        click.echo(line)
    return 0


def _removable(catalog: Catalog) -> list[Removable]:
    """Every folder of hooks that is the person's or the project's, broken ones too."""
    names = {hook.folder: hook.name for hook in catalog.all_hooks()}
    found = []
    for layer in catalog.layers:
        if layer.name == "managed" or not os.path.isdir(layer.directory):
            continue
        for base in sorted(os.listdir(layer.directory), key=os.fsencode):
            folder = f"{layer.directory}/{base}"
            if os.path.lexists(f"{folder}/HOOK.md") or misplaced.misspelt(folder) is not None:
                found.append(Removable(names.get(folder, base), layer.name, folder))
    return found


def _chosen(name: str, for_user: bool | None, catalog: Catalog) -> Removable:
    """The one folder that is meant; raises if there is none, or more than one."""
    every = [each for each in _removable(catalog) if name in (each.name, os.path.basename(each.folder))]
    found = [each for each in every if for_user is None or (each.layer == "user") == for_user]
    if not found:
        if every:
            other = "--user" if every[0].layer == "user" else "--project"
            raise HookError(
                f"the hook '{name}' is in {short_path(every[0].folder)}", f"tenterhook remove {name} {other}"
            )
        governed(name, catalog)  # says where it is, or which name was meant
        raise HookError(f"'{name}' is in no directory of hooks", "tenterhook list shows where hooks are")
    if len({each.layer for each in found}) > 1:
        where = ", ".join(short_path(each.folder) for each in found)
        raise click.UsageError(f"there are two hooks called {name!r}: {where}; say --user or --project")
    exact = [each for each in found if os.path.basename(each.folder) == name]
    if len(found) > 1 and not exact:
        where = ", ".join(os.path.basename(each.folder) for each in found)
        raise click.UsageError(f"several hooks are called {name!r}: name the folder instead: {where}")
    return (exact or found)[0]


def _files(folder: str) -> list[str]:
    """Every file in a folder, links as they are."""
    found = []
    for directory, directories, files in os.walk(folder):
        links = [each for each in directories if os.path.islink(os.path.join(directory, each))]
        found += [os.path.relpath(os.path.join(directory, each), folder) for each in (*files, *links)]
    return sorted(found)


def _show(chosen: Removable, files: list[str], link: str | None, *, err: bool) -> None:
    click.echo(f"{click.style(one_line(chosen.name), bold=True)}  {short_path(chosen.folder)}", err=err)
    if link is not None:
        click.echo(f"  a link to {one_line(link)}, which stays", err=err)
    for file in files[:_MOST_SHOWN]:
        click.echo(f"  {one_line(file)}", err=err)
    if len(files) > _MOST_SHOWN:
        click.echo(f"  … and {len(files) - _MOST_SHOWN} more files", err=err)


def _forget(name: str, catalog: Catalog) -> list[str]:
    """Remove what disables a hook that is gone; the files that were changed."""
    if any(hook.name == name for hook in catalog_here().all_hooks()):
        return []
    try:
        files = own_settings(catalog)
        return [file for file in files if os.path.lexists(file) and hooks_toml.enable(file, name)]
    except HookError:  # a file that cannot be edited: `check` says that an entry is for no hook
        return []
