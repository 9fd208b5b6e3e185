"""`tenterhook pack`: hooks from a git repository, pinned to their bytes."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from ..basics.display_text import one_line, visible
from ..catalog import catalog, packs, project_root, source_trust
from ..errors import HookError
from ..packs import declarations
from .groups import Group
from .loading import catalog_here, json_option, offered, yes_option
from .own_hooks import wired
from .printing import counted, print_json, print_table, print_text, short_path
from .refusals import need_terminal, refuse_below_agent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..catalog.packs import LockedPack, NamedPack
    from ..packs.declarations import Declarations

_COMMANDS = {
    "add": "pack_add",
    "diff": "pack_update",
    "init": "pack_init",
    "update": "pack_update",
    "verify": "pack_verify",
}

project_option = click.option(
    "--project", "for_project", is_flag=True, help="This project's packs (.agents/hooks.toml) instead of your own."
)


class _PackCommands(Group):
    """Commands that fetch are imported when they are used."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted((*super().list_commands(context), *_COMMANDS))

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return super().get_command(context, name)
        command: click.Command = getattr(import_module(f".{_COMMANDS[name]}", __package__), f"pack_{name}")
        return command


@click.group(cls=_PackCommands, short_help="Use hooks from a git repository, pinned to their bytes.")
def pack() -> None:
    """Use hooks that a team keeps in a git repository: a pack.

    `hooks.toml` names packs; `hooks.lock` beside it pins every byte of them. At each event, a pack's hook runs only if
    its bytes match the lock. Nothing in a pack runs while it is fetched.

    \b
    tenterhook pack add https://git.example.org/acme/agent-hooks@v1.4.0
    tenterhook pack update
    tenterhook pack verify
    """


def pack_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    declared = here(bool(context.params.get("for_project")))
    return offered((name_of(*each) for each in declared.packs), incomplete)


def here(for_project: bool, *, repairs: bool = False) -> Declarations:
    """Return your packs, or this project's. Raises `HookError` if they cannot be read.

    Those of a project are in `.agents`, unless `.agents/hooks/hooks.toml` names packs already.
    """
    root = project_root.project_root(os.getcwd())
    if not for_project:
        return declarations.read(catalog.directories(root)[1], "user", repairs=repairs)
    usual, beside = (
        declarations.read(f"{root}/{directory}", "project", repairs=repairs)
        for directory in (".agents", ".agents/hooks")
    )
    if usual.packs and beside.packs:
        remedy = f"move the [[packs]] of {short_path(beside.file)} to the other, then: tenterhook pack update --project"
        raise HookError(f"both {short_path(usual.file)} and {short_path(beside.file)} name packs", remedy)
    return beside if beside.packs else usual


def everywhere(*layers: str) -> Iterator[Declarations]:
    """Yield the packs of the machine, of the user and of this project, or of some of these layers."""
    for layer in catalog.with_settings(catalog.layers(project_root.project_root(os.getcwd()))):
        if layers and layer.name not in layers:
            continue
        declared = declarations.read(layer.directory, layer.name)
        if declared.packs:
            yield declared


def name_of(named: NamedPack, locked: LockedPack | None) -> str:
    return locked.name if locked else packs.default_name(named.source)


def rev_of(locked: LockedPack) -> str:
    """Return a revision as it is shown: a lock of a project may contain anything."""
    return one_line(locked.rev or locked.commit[:12] or "folder")


@pack.command("list", short_help="List the packs in force here.")
@json_option
def pack_list(as_json: bool) -> int:
    """List the packs of this machine, of yours and of this project: revision, hooks, whether they are trusted."""
    trust = catalog_here().trust
    rows = [
        (declared.layer, named, locked, [_state(hook, trust) for hook in _hooks_of(declared, locked)])
        for declared in everywhere()
        for named, locked in declared.packs
    ]
    if as_json:
        print_json({"schema": 1, "packs": [_as_json(layer, named, locked) for layer, named, locked, _ in rows]})
        return 0
    if not rows:
        print_text("no packs; add one: tenterhook pack add SOURCE")
        return 0
    print_table(
        ("pack", "rev", "layer", "hooks", "state", "source"),
        [
            (
                one_line(name_of(named, locked)),
                rev_of(locked) if locked else "not locked",
                layer,
                str(len(states)),
                "in force" if locked and all(each is None for each in states) else _worst(locked, states, layer),
                one_line(named.source),
            )
            for layer, named, locked, states in rows
        ],
    )
    return 0


def _worst(locked: LockedPack | None, states: list[str | None], layer: str) -> str:
    return f"not locked: {packs.locking(layer)}" if locked is None else next(filter(None, states))


def _hooks_of(declared: Declarations, locked: LockedPack | None) -> list[Any]:
    """Return the loaded hooks of a pack."""
    hooks = catalog_here().all_hooks()
    return [hook for hook in hooks if locked and hook.pack.get("tree") == locked.tree and hook.layer == declared.layer]


def _state(hook: Any, trust: Any) -> str | None:
    standing = trust.standing(hook)
    return None if standing.runs else f"{standing.state}: {visible(standing.why or '')}"


def _as_json(layer: str, named: NamedPack, locked: LockedPack | None) -> dict[str, Any]:
    chosen = [hook.name for hook in locked.chosen(named.only)] if locked else []
    return {
        "name": name_of(named, locked),
        "layer": layer,
        "source": named.source,
        "rev": named.rev,
        "commit": locked.commit if locked else None,
        "tree": locked.tree if locked else None,
        "signer": (locked.signer or None) if locked else None,
        "hooks": chosen,
        "trusted": locked is not None and (locked.commit or locked.tree) in _revisions(named.source),
    }


def _revisions(source: str) -> dict[str, Any]:
    record = source_trust.all_sources().get(source)
    return record["revisions"] if record else {}


@pack.command("show", short_help="Show a pack: its hooks, their hashes, its revision.")
@click.argument("name", metavar="NAME", shell_complete=pack_names)
@project_option
@json_option
def pack_show(name: str, for_project: bool, as_json: bool) -> int:
    """Show one pack: where it comes from, what is locked, and which of its hooks are in force."""
    declared = here(for_project)
    named, locked = declared.named(name)
    if as_json:
        hooks = {hook.name: hook.digest for hook in locked.hooks} if locked else {}
        print_json({"schema": 1, **_as_json(declared.layer, named, locked), "digests": hooks})
        return 0
    facts = [("source", named.source), ("rev", named.rev or "-")]
    if locked is None:
        raise HookError(f"{named.source} is not locked", packs.locking(declared.layer))
    facts += [("commit", locked.commit or "-"), ("tree", locked.tree), ("signed", locked.signer or "-")]
    facts += [
        ("named in", short_path(declared.file)),
        ("store", short_path(f"{packs.store(declared.layer)}/{locked.tree}")),
    ]
    click.secho(one_line(locked.name), bold=True)
    for key, value in facts:
        click.echo(f"  {key:<9} {one_line(value)}")
    click.echo()
    chosen = {hook.name for hook in locked.chosen(named.only)}
    states = {hook.name: "in force" if hook.name in chosen else "not chosen" for hook in locked.hooks}
    rows = [(hook.name, hook.event, states[hook.name], hook.digest[:16]) for hook in locked.hooks]
    print_table(("hook", "event", "state", "digest"), rows)
    return 0


@pack.command("remove", short_help="Stop using a pack.")
@click.argument("name", metavar="NAME", shell_complete=pack_names)
@project_option
@yes_option
def pack_remove(name: str, for_project: bool, yes: bool) -> int:
    """Remove a pack from hooks.toml and hooks.lock: its hooks no longer run. Trust in its source stays.

    \b
    tenterhook pack remove agent-hooks
    tenterhook untrust --source URL      # revokes trust too, in every project
    """
    refuse_below_agent("pack remove")
    declared = here(for_project)
    named, locked = declared.named(name)
    hooks = [hook.name for hook in locked.chosen(named.only)] if locked else []
    print_text(f"{one_line(name_of(named, locked))}  {one_line(named.source)}")
    print_text(f"  no longer in force: {one_line(', '.join(hooks)) or 'nothing'}")
    need_terminal("pack remove", yes=yes)
    if not yes and not click.confirm("Remove it?", default=True):
        return 1
    declarations.write(declared, named.source, None)
    print_text(f"removed from {short_path(declared.file)} and {packs.FILE}")
    for line in wired(catalog_here()):
        print_text(line)
    return 0


def say_in_force(declared: Declarations, locked: LockedPack, names: list[str]) -> None:
    """Print what is in force now, and wire its events in the agents."""
    listed = one_line(", ".join(names))
    print_text(f"{counted(len(names), 'hook')} of {one_line(locked.name)} {rev_of(locked)} in force: {listed}")
    if declared.layer == "project":
        print_text(f"  commit {short_path(declared.file)} and {short_path(declared.lock)}")
    for line in wired(catalog_here()):
        print_text(line)
