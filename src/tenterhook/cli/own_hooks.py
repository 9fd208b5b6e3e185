"""Shared by `add`, `update`, `remove`, `disable`, `enable` and `trust`: finding hooks by name, `hooks.toml`, wiring."""

from __future__ import annotations

import os
import time
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ..catalog import layer_settings
from ..catalog.catalog import with_settings
from ..catalog.loading import GOVERNED
from ..errors import ERROR, HookError, Problem
from ..formats import toml_files
from ..install import event_wiring, sources, sync
from .printing import place_text, short_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..catalog.catalog import Catalog
    from ..model import Hook


def is_called(hook: Hook, name: str) -> bool:
    """Return whether a hook or its folder has this name."""
    return name in (hook.name, os.path.basename(hook.folder or ""))


def governed(name: str, catalog: Catalog) -> list[Hook]:
    """Return the hooks of a name that the user's `hooks.toml` may disable. Raises `HookError` if there are none."""
    found = [hook for hook in catalog.all_hooks() if is_called(hook, name)]
    own = [hook for hook in found if hook.folder is not None and hook.layer in GOVERNED["user"]]
    if own:
        return [hook for hook in own if hook.name == own[0].name]
    if any(hook.layer == "managed" for hook in found):
        raise managed(next(hook for hook in found if hook.layer == "managed"))
    elsewhere = [hook for hook in sources.here().catalog.hooks if hook.folder is None and hook.name == name]
    if elsewhere:
        raise HookError(
            f"'{name}' is defined in {place(elsewhere[0])}, a file of hooks",
            "change or remove it there",
        )
    raise unknown(name, catalog)


def managed(hook: Hook) -> HookError:
    """Return the error for a change to a managed hook."""
    return HookError(
        f"'{hook.name}' is managed: {place(hook)}; it cannot be disabled or replaced", "only root can remove it, there"
    )


def unknown(name: str, catalog: Catalog) -> HookError:
    """Return the error for a name that no hook has, or whose hook cannot be loaded."""
    errors = [each for each in catalog.problems if each.severity == ERROR]
    broken = [each for each in errors if os.path.basename(os.path.dirname(each.file)) == name]
    if broken:
        return HookError(f"'{name}' cannot be loaded: {broken[0].message}", "tenterhook check says how to fix it")
    close = get_close_matches(name, [hook.name for hook in catalog.all_hooks()], n=1)
    return HookError(
        f"no hook is called '{name}'", f"did you mean '{close[0]}'?" if close else "tenterhook list shows the names"
    )


def place(hook: Hook) -> str:
    """Return where a hook is defined: its folder, or its file and line."""
    return short_path(hook.folder) if hook.folder is not None else place_text(hook.source, hook.line)


def own_settings(catalog: Catalog) -> list[str]:
    """Return the `hooks.toml` files of the user's layer; the first is the one to write to."""
    found = [os.path.join(layer.directory, layer_settings.FILE) for layer in catalog.layers if layer.name == "user"]
    if not found:
        raise HookError(
            "your own hooks are in a directory of this project, and count as the project's",
            "unset XDG_CONFIG_HOME, or set it to a directory outside the project",
        )
    return found


def still_disabled(hook: Hook, catalog: Catalog) -> HookError | None:
    """Return an error that names what else disables a hook and how to change that; None if nothing does."""
    now = time.time()
    for layer in with_settings(catalog.layers):
        if hook.layer not in GOVERNED[layer.name]:
            continue
        rules, _ = layer_settings.read(layer.directory, GOVERNED[layer.name])
        if not rules.enabled:
            line = _line(rules.file, "hooks", 0, "enabled")
            message = f"{short_path(rules.file)}{line} disables every hook that it applies to: enabled = false"
            return HookError(message, "set it to true there, or remove the line")
        if rules.disables(hook.name, now):
            where = f"{short_path(rules.file)}{_entry_line(rules.file, hook.name)}"
            if layer.name == "managed":
                return HookError(f"'{hook.name}' is disabled by {where}", "only root can change that")
            remedy = "remove the entry there" + (
                ", then: tenterhook trust hooks.toml" if layer.name == "project" else ""
            )
            return HookError(f"'{hook.name}' is disabled by {where}", remedy)
    return None


def _entry_line(file: str, name: str) -> str:
    loaded = toml_files.load(file)
    entries = [] if isinstance(loaded, Problem) else loaded[0]["hooks"]["disable"]
    named = [isinstance(entry, dict) and entry.get("name") == name for entry in entries]
    number = named.index(True) if True in named else 0
    return _line(file, "hooks.disable", number, "name")


def _line(file: str, header: str, number: int, key: str) -> str:
    loaded = toml_files.load(file)
    line = None if isinstance(loaded, Problem) else loaded[1].line_of(header, number, key)
    return f":{line}" if line else ""


def wired(catalog: Catalog) -> list[str]:
    """Wire the events of the hooks in force in every guarded agent. Return what to print about it."""
    hooks = catalog.in_force()
    return [str(each) for each in sync.wire(hooks, root=catalog.root, closed=event_wiring.must_close(hooks))]


def needs_trust(folder: str, catalog: Catalog) -> bool:
    """Return whether the hook of a folder does not run until it is trusted."""
    return any(hook.folder == folder and not catalog.trust.standing(hook).runs for hook in catalog.all_hooks())


def hooks_as_json(hooks: Iterable[Hook]) -> list[dict[str, object]]:
    return [{"name": hook.name, "layer": hook.layer, "source": hook.source} for hook in hooks]
