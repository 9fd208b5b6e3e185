"""The compiled index of a project's hooks: most events reach none, and that is settled without loading anything.

It is believed only if nobody else could have written it, and only while nothing that it was made from has changed: no
definition, no directory on the way to one, no trust record. Whoever finds it stale loads the hooks and writes it anew.
Reading it imports next to nothing.
"""

from __future__ import annotations

import marshal
import os
import sys

from .. import __version__, light_json, places, private_files, texts, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..formats.entry_points import Look
    from ..model import Hook
    from .contents import Catalog
    from .layers import Layer
    from .trust import Trust

    Index = dict[str, Any]

_MADE_BY = (7, __version__, sys.hexversion)
_CLOCK_TICK = 50_000_000  # ns, with room to spare


def read(root: str, configs: Sequence[str] = (), layers: Sequence[Layer] = ()) -> Index | None:
    """The index of a project, if there is one that is still true."""
    index = glance(root, configs, layers)
    return index if index is not None and is_whole(index) else None


def glance(root: str, configs: Sequence[str] = (), layers: Sequence[Layer] = ()) -> Index | None:
    """The index, if it is still true which events reach a hook; what scripts there are may have changed.

    Without `layers` it is the one of `install`, which knows where everything is, whatever the environment says.
    """
    try:  # nobody but this account can have written it
        index: Index | None = private_files.parsed(_file(root, configs, layers), marshal.loads)
        if index is None or (index["made_by"], index["root"], index["configs"]) != (_MADE_BY, root, list(configs)):
            return None
        if index["made_for"] != (places.config_home(), places.state()):  # they share a cache, and nothing else
            return None
        fresh = private_files.is_fresh(index["definitions"]) and all(
            _place(path) == known for path, known in index["places"]
        )
    except (ValueError, EOFError, TypeError, KeyError):
        return None
    return index if fresh else None


def is_whole(index: Index) -> bool:
    """Whether the rest of it is true as well."""
    try:
        return private_files.is_fresh(index["scripts"])
    except (ValueError, TypeError, KeyError):
        return False


def reaches_nothing(index: Index, event: str, tool: Any, tool_input: Any) -> bool:
    """Whether an event surely reaches no hook. False where only an expression engine could tell."""
    entries = index["entries"].get(event)
    if not entries:
        return True
    if not isinstance(tool, (str, type(None))):
        return False
    names = () if tool is None else index["tool_names"].get(tool, (tool,))
    inputs: list[str] | None = None
    for dialect, by_tool, by_pattern in entries:
        if by_tool is False:
            return False
        if by_tool is not None and not any(words.found(dialect, by_tool, name) for name in names):
            continue
        if by_pattern is None or by_pattern is False:
            return False
        if inputs is None:
            inputs = texts.input_texts(tool_input)
        if any(words.found(dialect, by_pattern, text) for text in inputs):
            return False
    return True


def loaded(root: str, configs: Sequence[str], trust: Trust) -> Catalog:
    """A project's hooks for whoever loads them again and again: as they were the last time, if nothing has changed."""
    from . import layers, loading
    from .contents import LeftOut

    if trust.everything:  # then the project's settings count as well, whatever they are
        return loading.load(root, configs, trust=trust)
    here = layers.layers(root)
    found = read(root, configs, here)
    if found is None:
        mark = f"{_file(root, configs, here)}.loaded"
        if os.path.exists(mark):
            return load(root, configs, trust=trust, here=here)
        private_files.write(mark, b"")  # what is loaded just once need not be kept
        return loading.load(root, configs, trust=trust)
    from ..model import Hook

    left_out = tuple(LeftOut(Hook(*hook), why) for hook, why in marshal.loads(found["left_out"]))  # noqa: S302  # as above
    known = catalog(found, trust=trust)
    return known._replace(layers=tuple(here), left_out=left_out, refused_configs=tuple(found["refused_configs"]))


def catalog(index: Index, event: str | None = None, trust: Any = None) -> Catalog:
    """The hooks as they were loaded when the index was made. Trust is there as far as this event could ask for it."""
    from ..errors import Problem
    from ..model import Hook
    from .contents import Catalog

    hooks = tuple(Hook(*values) for values in marshal.loads(index["hooks"]))  # noqa: S302  # as above
    problems = tuple(Problem(*values) for values in index["problems"])
    asking = [hook for hook in hooks if event in (None, hook.event) and hook.metadata]
    is_asked = any(hook.layer == "project" for hook in hooks)
    if trust is None and (is_asked or any(hook.metadata.get("runs_project_code") for hook in asking)):
        from .trust import Trust

        trust = Trust(index["root"])
    return Catalog(index["root"], (), hooks, problems, (), trust, index["debug"])


def load(
    root: str,
    configs: Sequence[str] = (),
    *,
    managed: str | None = None,
    trust: Trust | None = None,
    here: Sequence[Layer] = (),
) -> Catalog:
    """Load a project's hooks and keep what was found as its index, if it can be kept."""
    import time

    from . import layers, loading

    looked = time.time_ns()
    managed = managed or layers.MANAGED
    looks: dict[str, Look | None] = {}
    files = _files(root, configs, managed, looks)  # looked at before they are read: a change in between is seen later
    ways = _ways(root, configs, managed, looks)
    found = loading.load(root, configs, trust=trust, managed=managed, looks=looks)
    changed = max((known[1] for _, known in files if known), default=0)
    if looked - changed > _CLOCK_TICK:  # a second change in one tick would look like the first
        try:
            made = _made(found, configs, files, ways, looks)
        except ValueError:  # something in a definition that cannot be kept
            return found
        file = _file(root, configs, here)
        private_files.write(file, made)
        private_files.forget_old(os.path.dirname(file))
    return found


def forget(root: str) -> None:
    """Remove the index of a project that is gone."""
    try:
        os.unlink(_file(root, ()))
    except OSError:
        pass


def _made(
    found: Catalog,
    configs: Sequence[str],
    files: list[tuple[str, Any]],
    ways: list[tuple[str, Any]],
    looks: Mapping[str, Look | None],
) -> bytes:
    from ..events import NAMES_OF_TOOL

    entries: dict[str, list[Any]] = {}
    for hook in found.hooks:
        entry = _entry(hook)
        if entry is not None:
            entries.setdefault(hook.event, []).append(entry)
    scripts = _scripts(found, looks)
    # Light enumerations are strings to marshal only if they are exactly strings.
    return marshal.dumps(
        {
            "made_by": _MADE_BY,
            "made_for": (places.config_home(), places.state()),
            "root": found.root,
            "configs": list(configs),
            "definitions": [(path, known) for path, known in files if path not in scripts],
            "scripts": [(path, known) for path, known in files if path in scripts],
            "places": ways,
            "entries": entries,
            "tool_names": NAMES_OF_TOOL,
            "hooks": marshal.dumps([_plain(hook) for hook in found.hooks]),
            "left_out": marshal.dumps([(_plain(each.hook), each.why) for each in found.left_out]),
            "refused_configs": found.refused_configs,
            "problems": [tuple(problem) for problem in found.problems],
            "debug": found.debug,
        }
    )


def _scripts(found: Catalog, looks: Mapping[str, Look | None]) -> set[str]:
    """What need not be looked at to know that an event reaches no hook: it could at most take one away."""
    from ..formats import entry_points

    if found.left_out or any(hook.replaced_by for hook in found.hooks):  # another could come in its place
        return set()
    troubled = {parent for problem in found.problems for parent in _parents(problem.file)}
    folders = [hook.folder for hook in found.hooks if hook.folder is not None and hook.folder not in troubled]
    plain = [folder for folder in folders if (seen := looks.get(folder)) is not None and not seen.links]
    return {
        f"{folder}{rest}"
        for folder in plain
        for rest in ("", "/scripts", *(f"/{name}" for name in entry_points.ENTRY_POINTS))
    }


def _plain(hook: Hook) -> tuple[Any, ...]:
    metadata = light_json.loads(light_json.dumps(dict(hook.metadata), default=str)) if hook.metadata else {}
    return tuple(metadata if value is hook.metadata else value for value in hook)


def _entry(hook: Hook) -> tuple[str, Any, Any] | None:
    """What a hook's matchers look for: None where there is no matcher, False where words do not tell."""
    if hook.never_matches:
        return None
    if not hook.spec.has_tool:
        if hook.format in ("folder", "table") and (hook.tool or hook.pattern):
            return None  # such matchers never match here
        return hook.dialect, None, None
    by_tool, by_pattern = (None if each is None else _words(each) for each in (hook.tool, hook.pattern))
    return hook.dialect, by_tool, by_pattern


def _words(expression: str) -> Any:
    """Words that tell where an expression cannot be found; False where there are none."""
    return words.words(expression) or words.needed(expression) or False


def _files(
    root: str, configs: Iterable[str], managed: str, looks: dict[str, Look | None]
) -> list[tuple[str, tuple[int, ...] | None]]:
    """Everything whose content decides which hooks there are, as it is now; `looks` gets what is seen of folders."""
    from ..formats import entry_points
    from . import layers, roots, settings

    paths = [os.path.join(places.state(), "trust.json"), *configs]
    seen_so: dict[str, tuple[int, ...]] = {}
    for layer in layers.layers(root, managed):
        paths += [layer.directory, os.path.join(layer.directory, settings.FILE)]
        try:
            names = os.listdir(layer.directory)
        except OSError:
            continue
        for name in names:
            folder = f"{layer.directory}/{name}"
            seen = looks[folder] = entry_points.look(folder)
            if seen is None:
                paths += [folder, f"{folder}/HOOK.md"]
            else:
                paths += seen.links
                seen_so |= {path: private_files.signature_of(found) for path, found in seen.stats.items()}
    # what trust in a project's settings is bound to; a repository's own directory changes with every commit
    paths += [path for path in roots.identity_files(root) if not os.path.isdir(path)]
    others = {path: private_files.signature(path) for path in paths if path not in seen_so}
    return [*others.items(), *seen_so.items()]


def _ways(root: str, configs: Iterable[str], managed: str, looks: Mapping[str, Look | None]) -> list[tuple[str, Any]]:
    """Every directory and link on the way to the hooks: who may write there decides whether they count."""
    from . import layers

    paths: list[str] = []
    links = [link for seen in looks.values() if seen for link in seen.links]
    trusted = os.path.join(places.state(), "trust.json")
    for path in (*(layer.directory for layer in layers.layers(root, managed)), *links, *configs, trusted):
        for way in (path, os.path.realpath(path)):
            paths += _parents(way)
    # a repository around a directory makes what is in it the project's
    kept = [os.path.join(place, "x") for place in (places.config_home(), places.state())]
    around = [parent for place in kept for way in (place, os.path.realpath(place)) for parent in _parents(way)]
    paths += [os.path.join(parent, ".git") for parent in (root, *around)]
    return [(path, _place(path)) for path in dict.fromkeys(paths)]


def _parents(path: str) -> list[str]:
    parents = []
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        parents.append(path)
    return parents


def _place(path: str) -> tuple[int, ...] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_dev, found.st_mode, found.st_uid, found.st_gid


def _file(root: str, configs: Sequence[str], layers: Sequence[Layer] = ()) -> str:
    key = chr(0).join((root, *configs, *(word for layer in layers for word in layer)))
    return f"{places.cache()}/{'loaded' if layers else 'index'}/{places.file_name(key)}"
