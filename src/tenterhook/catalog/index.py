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
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..model import Hook
    from .contents import Catalog

    Index = dict[str, Any]

_MADE_BY = (3, __version__, sys.hexversion)
_CLOCK_TICK = 50_000_000  # ns, with room to spare


def read(root: str, configs: Sequence[str] = ()) -> Index | None:
    """The index of a project, if there is one that is still true."""
    data = private_files.read(_file(root, configs))
    if data is None:
        return None
    try:
        index: Index = marshal.loads(data)  # noqa: S302  # nobody but this account can have written it
        if (index["made_by"], index["root"], index["configs"]) != (_MADE_BY, root, list(configs)):
            return None
        fresh = private_files.is_fresh(index["files"]) and all(_place(path) == known for path, known in index["places"])
    except (ValueError, EOFError, TypeError, KeyError):
        return None
    return index if fresh else None


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


def catalog(index: Index, event: str | None = None) -> Catalog:
    """The hooks as they were loaded when the index was made. Trust is there as far as this event could ask for it."""
    from ..errors import Problem
    from ..model import Hook
    from .contents import Catalog

    hooks = tuple(Hook(*values) for values in index["hooks"])
    problems = tuple(Problem(*values) for values in index["problems"])
    trust: Any = None
    asking = [hook for hook in hooks if event in (None, hook.event) and hook.metadata]
    if any(hook.layer == "project" for hook in hooks) or any(hook.metadata.get("runs_project_code") for hook in asking):
        from .trust import Trust

        trust = Trust(index["root"])
    return Catalog(index["root"], (), hooks, problems, (), trust, index["debug"])


def load(root: str, configs: Sequence[str] = (), *, managed: str | None = None) -> Catalog:
    """Load a project's hooks and keep what was found as its index, if it can be kept."""
    import time

    from . import layers, loading
    from .trust import Trust

    managed = managed or layers.MANAGED
    files = _files(root, configs, managed)  # looked at before they are read: a change in between is seen later
    ways = _ways(root, configs, managed)
    found = loading.load(root, configs, trust=Trust(root), managed=managed)
    changed = max((known[1] for _, known in files if known), default=0)
    if time.time_ns() - changed > _CLOCK_TICK:  # a second change in one tick would look like the first
        try:
            made = _made(found, configs, files, ways)
        except ValueError:  # something in a definition that cannot be kept
            return found
        private_files.write(_file(root, configs), made)
    return found


def forget(root: str) -> None:
    """Remove the index of a project that is gone."""
    try:
        os.unlink(_file(root, ()))
    except OSError:
        pass


def _made(found: Catalog, configs: Sequence[str], files: list[tuple[str, Any]], ways: list[tuple[str, Any]]) -> bytes:
    from ..events import NAMES_OF_TOOL

    entries: dict[str, list[Any]] = {}
    for hook in found.hooks:
        entry = _entry(hook)
        if entry is not None:
            entries.setdefault(hook.event, []).append(entry)
    # Light enumerations are strings to marshal only if they are exactly strings.
    return marshal.dumps(
        {
            "made_by": _MADE_BY,
            "root": found.root,
            "configs": list(configs),
            "files": files,
            "places": ways,
            "entries": entries,
            "tool_names": NAMES_OF_TOOL,
            "hooks": [tuple(hook._replace(metadata=_plain(hook.metadata))) for hook in found.hooks],
            "problems": [tuple(problem) for problem in found.problems],
            "debug": found.debug,
        }
    )


def _plain(metadata: Any) -> Any:
    return light_json.loads(light_json.dumps(dict(metadata), default=str))


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


def _files(root: str, configs: Iterable[str], managed: str) -> list[tuple[str, Any]]:
    """Everything whose content decides which hooks there are, as it is now."""
    from ..formats import entry_points
    from . import layers, roots, settings

    paths = [os.path.join(places.state(), "trust.json"), *configs]
    for layer in layers.layers(root, managed):
        paths += [layer.directory, os.path.join(layer.directory, settings.FILE)]
        try:
            names = os.listdir(layer.directory)
        except OSError:
            continue
        for name in names:
            folder = f"{layer.directory}/{name}"
            seen = entry_points.look(folder)
            paths += [*seen.stats, *seen.links] if seen else [folder, f"{folder}/HOOK.md"]
    paths += roots.identity_files(root)  # what trust in a project's settings is bound to
    # a repository around a directory makes what is in it the project's
    paths += [os.path.join(parent, ".git") for parent in _parents(places.config_home())]
    return [(path, private_files.signature(path)) for path in dict.fromkeys(paths)]


def _ways(root: str, configs: Iterable[str], managed: str) -> list[tuple[str, Any]]:
    """Every directory and link on the way to the hooks: who may write there decides whether they count."""
    paths: list[str] = []
    for path in (*_directories(root, managed), *configs, places.state()):
        for way in (path, os.path.realpath(path)):
            paths += _parents(way)
    return [(path, _place(path)) for path in dict.fromkeys(paths)]


def _directories(root: str, managed: str) -> list[str]:
    """The directories of hooks, and the hooks in them that are links or hold some."""
    from ..formats import entry_points
    from . import layers

    found = []
    for layer in layers.layers(root, managed):
        found.append(layer.directory)
        try:
            names = os.listdir(layer.directory)
        except OSError:
            continue
        for name in names:
            seen = entry_points.look(f"{layer.directory}/{name}")
            found += seen.links if seen else ()
    return found


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


def _file(root: str, configs: Sequence[str]) -> str:
    return f"{places.cache()}/index/{places.file_name(chr(0).join((root, *configs)))}"
