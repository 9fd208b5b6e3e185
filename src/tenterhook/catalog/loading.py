"""Loads the hooks of a project: the valid ones, and the problems of the others."""

from __future__ import annotations

import os
import time

from ..basics import places, private_files
from ..errors import Problem
from ..formats import entry_points, toml_files
from ..formats import folder as folder_format
from . import fail_closed, layer_settings
from .catalog import MANAGED, Catalog, Layer, LeftOut, all_layers, layers, with_settings
from .trust import Trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..model import Hook
    from .snapshot import Snapshot

# The layers whose hooks the `hooks.toml` of a layer may change.
GOVERNED = {"managed": ("managed", "user", "project"), "user": ("user", "project"), "project": ("project",)}


def load(
    root: str,
    configs: Iterable[str] = (),
    *,
    trust: Trust | None = None,
    managed: str = MANAGED,
    observed: Snapshot | None = None,
    keep: bool = False,
) -> Catalog:
    """Return the catalog of all layers and named files. Never raises for their content.

    `observed` records the files that the result depends on. With `keep`, hooks that block when they fail are stored, so
    that their events are blocked if they are missing later.
    """
    trust = trust or Trust(root)
    look = observed.look if observed else entry_points.read_state
    found = layers(root, managed)
    hooks: list[Hook] = []
    problems: list[Problem] = []
    governing: list[layer_settings.LayerSettings] = []
    taken: set[str] = set()
    packs_kept = f"{places.state()}/packs"
    shadow_ends: list[float] = []
    refused_layers: set[str] = set()
    for layer in found:
        refusal = _refuse(layer)
        if refusal:
            problems.append(refusal)
            refused_layers.add(layer.directory)
            continue
        settings = []
        for place in with_settings([layer]):
            rules, found_problems = _settings(place, trust)
            problems += found_problems
            settings.append((place, rules))
        governing += [rules for _, rules in settings]
        defaults = {key: value for _, rules in settings for key, value in rules.defaults.items()}
        read, found_problems = _read_layer(layer, defaults, governing, look, taken)
        hooks += read
        problems += found_problems
        for place, rules in settings:
            if rules.has_packs or os.path.lexists(f"{place.directory}/hooks.lock") or os.path.isdir(packs_kept):
                from . import packs

                is_trusted = layer.name != "project" or bool(rules.file)
                read, found_problems, ends = packs.read_hooks(place, taken, is_trusted=is_trusted, keep=keep)
                shadow_ends += ends
                if observed and any(hook.missing for hook in read):
                    observed.doubt()  # the store is not observed: it may be repaired at any time
                hooks += read
                problems += found_problems
    files = _each_once(configs)
    scope = fail_closed.Scope(all_layers(root, managed), files)
    kept, unusable = fail_closed.read()
    folders = [each for each in kept if each.hook.folder is not None]
    hooks = _still_closed(hooks, folders, problems)
    lost, away = _missing(fail_closed.missing(folders, scope, hooks, problems), refused_layers)
    in_force, left_out = _choose([*lost, *hooks], governing)
    left_out += away
    problems += names_twice(hooks)
    problems += [problem for rules in governing for problem in _ungoverned(rules, [*hooks, *lost])]
    refused: list[str] = []
    for config in files:
        other = private_files.writable_by_others(config)
        if other:
            problems.append(_writable(config, other))
            refused.append(config)
            continue
        file = toml_files.read(config)
        in_force += file.hooks
        problems += file.problems
        if any(problem.severity == "error" for problem in file.problems) and not file.hooks:
            refused.append(config)
    named = [each for each in kept if each.hook.folder is None]
    in_force += [each.hook for each in fail_closed.missing(named, scope, in_force, problems)]
    problems += names_twice([hook for hook in in_force if hook.format == "table"])
    problems += [fail_closed.problem(hook, problems) for hook in in_force if hook.missing and not hook.pack]
    if unusable is not None:
        if any(each.severity == "error" and not _is_of_project(each, found) for each in problems):
            in_force += fail_closed.unknown(unusable)
        problems.append(unusable)
    elif keep and not fail_closed.keep(kept, scope, in_force, left_out) and observed:
        observed.doubt()
    debug = any(rules.debug for rules in governing)
    if observed:
        observed.report(problems)
    return Catalog(
        *(root, tuple(found), tuple(in_force), tuple(problems), tuple(left_out), trust, debug, tuple(refused)),
        min(shadow_ends, default=None),
    )


def _is_of_project(problem: Problem, found: Iterable[Layer]) -> bool:
    """Whether a problem is one of a project's hooks, which are not kept."""
    projects = with_settings(layer for layer in found if layer.name == "project")
    return any(problem.file.startswith(f"{layer.directory}/") for layer in projects)


def _missing(
    lost: Iterable[fail_closed.StoredHook], refused_layers: Container[str]
) -> tuple[list[Hook], list[LeftOut]]:
    """Return the missing hooks in force, and those disabled until a time by settings that can no longer be read."""
    now = time.time()
    hooks, away = [], []
    for hook, until in lost:
        if until is not None and until > now and layer_of(hook) in refused_layers:
            away.append(LeftOut(hook, f"disabled until {_clock(until, now)}", until))
        else:
            hooks.append(hook)
    return hooks, away


def _still_closed(
    hooks: Sequence[Hook], kept: Iterable[fail_closed.StoredHook], problems: Iterable[Problem]
) -> list[Hook]:
    """Return the hooks; if a `hooks.toml` cannot be read, those that it had made fail closed still do."""
    if not any(os.path.basename(each.file) == layer_settings.FILE and each.code in _UNREAD for each in problems):
        return list(hooks)
    closed = {(hook.folder, hook.event) for hook, _ in kept}
    return [hook._replace(fail_closed=True) if (hook.folder, hook.event) in closed else hook for hook in hooks]


_UNREAD = ("unreadable", "not-text", "bad-toml", "bad-hooks-section", "writable-by-others")


def _each_once(files: Iterable[str]) -> list[str]:
    """Return absolute paths; only the first of several paths of one file."""
    found: dict[object, str] = {}
    for file in files:
        found.setdefault(places.file_identity(file), os.path.abspath(file))
    return list(found.values())


def _refuse(layer: Layer) -> Problem | None:
    """Return the problem for which a layer's whole directory is not used, or None."""
    if not os.path.isdir(layer.directory):
        return None
    if layer.name == "managed" and not private_files.owned_by_root(layer.directory):
        remedy = f"chown -R root: {layer.directory}, and remove write permission for others"
        message = "managed hooks must belong to root, with no other writer"
        return Problem("not-owned-by-root", layer.directory, None, None, message, remedy)
    if layer.name == "user":
        other = private_files.writable_by_others(layer.directory)
        if other:
            return _writable(layer.directory, other)
    return None


def _writable(path: str, culprit: str) -> Problem:
    message = f"another account could change {culprit}; it is not used"
    return Problem("writable-by-others", path, None, None, message, f"chmod go-w {culprit}, and make it your own")


def _names_only_packs(layer: Layer, file: str) -> bool:
    """Whether a `hooks.toml` has only packs without settings, for which trust in their sources is enough."""
    if not os.path.lexists(f"{layer.directory}/hooks.lock"):
        return False
    from . import packs

    loaded = packs.load(file)
    if isinstance(loaded, Problem) or list(loaded[0]) != ["packs"]:
        return False
    given = loaded[0]["packs"]
    return isinstance(given, list) and not any(isinstance(each, dict) and "settings" in each for each in given)


def _settings(layer: Layer, trust: Trust) -> tuple[layer_settings.LayerSettings, list[Problem]]:
    file = os.path.join(layer.directory, layer_settings.FILE)
    if layer.name == "project" and os.path.lexists(file) and not trust.of(file).runs:
        remedy = "look at it, then: tenterhook trust hooks.toml"
        message = "the project's hooks.toml is not trusted; it has no effect"
        problem = Problem("untrusted-settings", file, None, None, message, remedy)
        return layer_settings.LayerSettings(), [] if _names_only_packs(layer, file) else [problem]
    if layer.name != "project" and os.path.exists(file) and private_files.others_can_write(os.stat(file)):
        return layer_settings.LayerSettings(), [_writable(file, file)]
    return layer_settings.read(layer.directory, GOVERNED[layer.name])


def _read_layer(
    layer: Layer,
    defaults: Mapping[str, Any],
    governing: Sequence[layer_settings.LayerSettings],
    look: Callable[[str], entry_points.FolderState | None],
    taken: set[str],
) -> tuple[list[Hook], list[Problem]]:
    """Return a layer's hooks, sorted by name as bytes, and problems. Skips folders in `taken`, and adds its own."""
    try:
        names = sorted(os.listdir(layer.directory), key=os.fsencode)
    except FileNotFoundError:
        return [], []
    except OSError as error:
        remedy = "make it a readable directory"
        message = f"cannot read it: {error.strerror}"
        return [], [Problem("unreadable", layer.directory, None, None, message, remedy)]
    hooks: list[Hook] = []
    problems: list[Problem] = []
    owners = (0,) if layer.name == "managed" else (0, os.getuid())
    overriding = [rules for rules in reversed(governing) if layer.name in rules.governs and rules.overrides]
    looked = {name: look(f"{layer.directory}/{name}") for name in names}
    for name in (name for name, seen in looked.items() if seen is None):
        problems += _problems_of_other(layer.directory, name)
    for folder, real, seen in _folders(layer.directory, looked):
        if real in taken:
            continue
        culprit = _culprit(layer, seen, owners)
        if culprit:
            problems.append(_writable(f"{folder}/HOOK.md", culprit))
            continue
        taken.add(real)
        changes: dict[str, Mapping[str, Any]] = {"defaults": defaults, "override": {}}
        read = folder_format.read(folder, layer.name, changes, seen)
        overrides = [(rules, read.hook.name) for rules in overriding if read.hook and read.hook.name in rules.overrides]
        for rules, hook_name in overrides:
            wanted = {**changes, "override": {**changes["override"], **rules.overrides[hook_name]}}
            changed = folder_format.read(folder, layer.name, wanted, seen)
            if changed.hook is not None:
                changes, read = wanted, changed
                continue
            # The override is wrong, not the hook, which stays as it is.
            errors = [problem for problem in changed.problems if problem.severity == "error"]
            problems += [problem._replace(file=rules.file, line=rules.lines.get(hook_name)) for problem in errors]
        problems += read.problems
        if read.hook:
            hooks.append(read.hook)
    return hooks, problems


def _folders(
    directory: str, looked: Mapping[str, entry_points.FolderState | None]
) -> Iterator[tuple[str, str, entry_points.FolderState]]:
    """Yield the hook folders of a directory, each with its real path; without links to other folders in it."""
    folders = [(f"{directory}/{name}", seen) for name, seen in looked.items() if seen is not None]
    above = os.path.realpath(directory)
    own = {above + folder[len(directory) :] for folder, seen in folders if folder not in seen.links}
    for folder, seen in folders:
        if folder not in seen.links:
            yield folder, above + folder[len(directory) :], seen
        elif (target := os.path.realpath(folder)) not in own:
            yield folder, target, seen


def _problems_of_other(directory: str, name: str) -> list[Problem]:
    """Return the problems of an entry that seems to be meant as a hook but is not one."""
    if name == layer_settings.FILE:
        return []
    from . import misplaced_files

    return list(misplaced_files.look(directory, name))


def _culprit(layer: Layer, seen: entry_points.FolderState, owners: tuple[int, ...]) -> str | None:
    """Return a file of a hook's folder that another account could change, or None."""
    if layer.name == "project":
        return None  # trust decides
    for link in seen.links:
        if layer.name == "managed" and not private_files.owned_by_root(link):
            return link
        if other := private_files.writable_by_others(link):
            return other
    for path, found in seen.stats.items():
        if private_files.others_can_write(found, owners):
            return path
    return None


def _choose(
    hooks: Sequence[Hook], governing: Sequence[layer_settings.LayerSettings]
) -> tuple[list[Hook], list[LeftOut]]:
    """Return the hooks in force, and those left out.

    A hook that a project's hook replaces is in force, with `replaced_by`: trust in that is checked at each event.
    """
    in_force: list[Hook] = []
    left_out: list[LeftOut] = []
    kept: dict[str, str] = {}  # the directory of each hook of the user, by name
    disabling = [rules for rules in governing if rules.disabled or not rules.enabled]
    now = time.time()
    for hook in hooks:
        disabled = _disabled(hook, disabling, now) if disabling else None
        if disabled:
            left_out.append(disabled)
        elif hook.layer == "user" and not hook.pack and kept.setdefault(hook.name, layer_of(hook)) != layer_of(hook):
            left_out.append(LeftOut(hook, "replaced by the hook of that name in agents/hooks", is_disabled=False))
        else:
            in_force.append(hook)
    projects = {hook.name: hook.folder for hook in in_force if hook.layer == "project" and not hook.pack}
    return [
        hook._replace(replaced_by=projects[hook.name]) if hook.layer == "user" and hook.name in projects else hook
        for hook in in_force
    ], left_out


def _disabled(hook: Hook, governing: Sequence[layer_settings.LayerSettings], now: float) -> LeftOut | None:
    """Return a hook as left out if it is disabled, else None. Managed hooks cannot be disabled."""
    if hook.layer == "managed":
        return None
    found = [rules for rules in governing if hook.layer in rules.governs]
    found = [rules for rules in found if not rules.enabled or rules.disables(hook.name, now)]
    if not found:
        return None
    times = [rules.disabled.get(hook.name) if rules.enabled else None for rules in found]
    lasting = next((rules for rules, until in zip(found, times, strict=True) if until is None), None)
    if lasting is not None:
        return LeftOut(hook, f"disabled by {lasting.file}")
    until = max(each for each in times if each is not None)
    return LeftOut(hook, f"disabled until {_clock(until, now)} ({found[0].file})", until)


def _clock(moment: float, now: float) -> str:
    """Return a time in hours and minutes, with its date unless that is today."""
    there, here = time.localtime(moment), time.localtime(now)
    return time.strftime("%H:%M" if there[:3] == here[:3] else "%Y-%m-%d %H:%M", there)


def layer_of(hook: Hook) -> str:
    """Return the directory of a folder hook's layer."""
    return (hook.folder or "").rpartition("/")[0]


def _ungoverned(rules: layer_settings.LayerSettings, hooks: Sequence[Hook]) -> list[Problem]:
    """Return a problem for each name in a `hooks.toml` that none of the hooks that it governs has."""
    known = {hook.name for hook in hooks if hook.layer in rules.governs}
    return [
        Problem(
            "ungoverned",
            rules.file,
            None,
            name,
            f"there is no hook '{name}' that this file could change",
            "fix the name, or remove the entry; tenterhook list shows the names",
        )
        for name in dict.fromkeys((*rules.disabled, *rules.overrides))
        if name not in known
    ]


def names_twice(hooks: Sequence[Hook]) -> list[Problem]:
    """Return the problems of hooks in one directory or file that share a name."""
    problems = []
    seen: dict[tuple[str, str], Hook] = {}
    for hook in hooks:
        first = seen.setdefault((layer_of(hook) or hook.source, hook.name), hook)
        if first is not hook:
            message = f"the name '{hook.name}' is used twice, first in {first.source}:{first.line}"
            remedy = "give each hook a name of its own"
            problems.append(Problem("name-twice", hook.source, hook.line, "name", message, remedy))
    return problems
