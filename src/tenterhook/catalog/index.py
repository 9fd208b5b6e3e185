"""The compiled index of a project's hooks: most events reach none, which is decided without loading any.

It is used only if no other account could have written it, and while nothing that it was made from has changed: no
definition, no directory above one, no trust record; and until the time at which a disabled hook is in force again.
If it is stale, the hooks are loaded and it is written anew. Reading it imports very little.
"""

from __future__ import annotations

import marshal
import os
import sys
import time

from .. import __version__
from ..basics import light_json, literal_search, places, private_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..formats.entry_points import FolderState
    from ..model import Hook
    from .catalog import Catalog, Layer, LeftOut
    from .snapshot import Known, ParseCache, Snapshot
    from .trust import Trust

    Index = dict[str, Any]

_MADE_BY = (11, __version__, sys.hexversion)


def read(root: str, configs: Sequence[str] = (), layers: Sequence[Layer] = ()) -> Index | None:
    """Return the index of a project, or None if anything changed since."""
    index = load_if_unchanged(root, configs, layers)
    return index if index is not None and scripts_unchanged(index) else None


def load_if_unchanged(root: str, configs: Sequence[str] = (), layers: Sequence[Layer] = ()) -> Index | None:
    """Return the index, or None if a definition changed since; scripts are not checked.

    Without `layers` it is the index for `dispatch`, whose directories `install` recorded.
    """
    try:  # only this account can have written it
        index: Index | None = private_files.parsed(_file(root, configs, layers), marshal.loads)
        if index is None or (index["made_by"], index["root"], index["configs"]) != (_MADE_BY, root, list(configs)):
            return None
        if index["made_for"] != (places.config_home(), places.state()):  # another home may use the same cache
            return None
        if index["until"] is not None and time.time() >= index["until"]:  # a hook is in force again
            return None
        fresh = private_files.is_fresh(index["definitions"]) and all(
            path_identity(path) == known for path, known in index["places"]
        )
    except (ValueError, EOFError, TypeError, KeyError):
        return None
    return index if fresh else None


def scripts_unchanged(index: Index) -> bool:
    """Whether no script changed since the index was made."""
    try:
        return private_files.is_fresh(index["scripts"])
    except (ValueError, TypeError, KeyError):
        return False


def reaches_nothing(index: Index, event: str, tool: Any, tool_input: Any) -> bool:
    """Whether an event certainly reaches no hook. False if that needs a regular expression."""
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
        if by_tool is not None and not any(literal_search.found(dialect, by_tool, name) for name in names):
            continue
        if by_pattern is None or by_pattern is False:
            return False
        if inputs is None:
            inputs = light_json.input_texts(tool_input)
        if any(literal_search.found(dialect, by_pattern, text) for text in inputs):
            return False
    return True


def catalog(index: Index, event: str | None = None, trust: Any = None) -> Catalog:
    """Return the hooks as they were loaded when the index was made. Trust is loaded only if this event may need it."""
    from ..errors import Problem
    from ..model import Hook
    from .catalog import Catalog

    hooks = tuple(Hook(*values) for values in marshal.loads(index["hooks"]))  # noqa: S302  # as above
    problems = tuple(Problem(*values) for values in index["problems"])
    with_metadata = [hook for hook in hooks if event in (None, hook.event) and hook.metadata]
    has_project = any(hook.layer == "project" for hook in hooks)
    if trust is None and (has_project or any(hook.metadata.get("runs_project_code") for hook in with_metadata)):
        from .trust import Trust

        trust = Trust(index["root"])
    left_out = (
        _left_out(index) if event in (None, "pre-session") else ()
    )  # disabled hooks are reported at a session's start
    return Catalog(index["root"], (), hooks, problems, left_out, trust, index["debug"])


def _left_out(index: Index) -> tuple[LeftOut, ...]:
    from ..model import Hook
    from .catalog import LeftOut

    kept = marshal.loads(index["left_out"])  # noqa: S302  # as above
    return tuple(LeftOut(Hook(*hook), *rest) for hook, *rest in kept)


def load(root: str, configs: Sequence[str] = (), *, managed: str | None = None) -> Catalog:
    """Load a project's hooks, and write the index if possible."""
    return load_and_store(root, configs, managed=managed)[0]


def load_and_store(
    root: str,
    configs: Sequence[str],
    *,
    managed: str | None = None,
    trust: Trust | None = None,
    here: Sequence[Layer] = (),
) -> tuple[Catalog, Snapshot, ParseCache]:
    """The same, with the files that were observed and read. Only definitions that changed are read again."""
    from . import catalog, loading, snapshot

    managed = managed or catalog.MANAGED
    observed = snapshot.Snapshot(root, configs, managed)
    observed.look_at_all()  # before anything is read
    memory = snapshot.ParseCache(observed, stored_definitions(root, configs, here))
    found = loading.load(root, configs, trust=trust, managed=managed, observed=observed, memory=memory, keep=True)
    if observed.is_settled():
        try:
            made, read = _made(found, configs, observed), memory.as_bytes()
        except ValueError:  # a value that cannot be stored
            return found, observed, memory
        beside = _definitions(root, configs, here)
        for file, data in ((beside, marshal.dumps((_MADE_BY, read))), (_file(root, configs, here), made)):
            private_files.write(file, data)
            private_files.forget_old(os.path.dirname(file))
    return found, observed, memory


def stored_definitions(root: str, configs: Sequence[str], here: Sequence[Layer] = ()) -> Known | None:
    """Return the definitions of the last index, also if it is stale; or None."""
    from . import snapshot

    data = private_files.read(_definitions(root, configs, here))
    try:
        made_by, read = marshal.loads(data or b"")  # noqa: S302  # only this account can have written it
        return snapshot.recalled(read) if made_by == _MADE_BY else None
    except (ValueError, EOFError, TypeError):  # missing or broken
        return None


def has_been_loaded(root: str, configs: Sequence[str], here: Sequence[Layer]) -> bool:
    """Whether these hooks were loaded before; the index is not written the first time."""
    mark = f"{_file(root, configs, here)}.loaded"
    if os.path.exists(mark):
        return True
    private_files.write(mark, b"")
    return False


def forget(root: str) -> None:
    """Remove the index of a project."""
    for file in (_file(root, ()), _definitions(root, ())):
        try:
            os.unlink(file)
        except OSError:
            pass


def _made(found: Catalog, configs: Sequence[str], observed: Snapshot) -> bytes:
    from ..events import NAMES_OF_TOOL

    entries: dict[str, list[Any]] = {}
    for hook in found.hooks:
        entry = _entry(hook)
        if entry is not None:
            entries.setdefault(hook.event, []).append(entry)
    files, scripts = observed.files(), _scripts(found, observed.looks)
    # Light enumerations are strings to marshal only if they are exactly strings.
    return marshal.dumps(
        {
            "made_by": _MADE_BY,
            "made_for": (places.config_home(), places.state()),
            "root": found.root,
            "configs": list(configs),
            "definitions": [(path, known) for path, known in files if path not in scripts],
            "scripts": [(path, known) for path, known in files if path in scripts],
            "places": observed.ways(),
            "entries": entries,
            "tool_names": NAMES_OF_TOOL,
            "hooks": marshal.dumps([tuple(hook) for hook in found.hooks]),
            "left_out": marshal.dumps([(tuple(each.hook), *each[1:]) for each in found.left_out]),
            "until": found.until,
            "refused_configs": found.refused_configs,
            "problems": [tuple(problem) for problem in found.problems],
            "debug": found.debug,
        }
    )


def _scripts(found: Catalog, looks: Mapping[str, FolderState | None]) -> set[str]:
    """Return the files that cannot add a hook: an event that reaches none is answered without checking them."""
    from ..formats import entry_points
    from .snapshot import parents

    if found.left_out or any(hook.replaced_by for hook in found.hooks):  # another could replace it
        return set()
    with_problems = {parent for problem in found.problems for parent in parents(problem.file)}
    folders = [hook.folder for hook in found.hooks if hook.folder is not None and hook.folder not in with_problems]
    plain = [folder for folder in folders if (seen := looks.get(folder)) is not None and not seen.links]
    return {
        f"{folder}{rest}"
        for folder in plain
        for rest in ("", "/scripts", *(f"/{name}" for name in entry_points.ENTRY_POINTS))
    }


def _entry(hook: Hook) -> tuple[str, Any, Any] | None:
    """Return the words that a hook's matchers need: None without a matcher, False if there are no such words."""
    if hook.never_matches:
        return None
    if not hook.spec.has_tool:
        if hook.format in ("folder", "table") and (hook.tool or hook.pattern):
            return None  # such matchers never match here
        return hook.dialect, None, None
    by_tool, by_pattern = (None if each is None else _words(each) for each in (hook.tool, hook.pattern))
    return hook.dialect, by_tool, by_pattern


def _words(expression: str) -> Any:
    """Return words without which an expression cannot match; False if there are none."""
    return literal_search.words(expression) or literal_search.required_words(expression) or False


def path_identity(path: str) -> tuple[int, ...] | None:
    """Return the identity, owner and mode of a directory or link; None if it does not exist."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_dev, found.st_mode, found.st_uid, found.st_gid


def _file(root: str, configs: Sequence[str], layers: Sequence[Layer] = ()) -> str:
    key = chr(0).join((root, *configs, *(word for layer in layers for word in layer)))
    return f"{places.cache()}/{'loaded' if layers else 'index'}/{places.file_name(key)}"


def _definitions(root: str, configs: Sequence[str], layers: Sequence[Layer] = ()) -> str:
    """Return the file with an index's definitions: events that reach no hook do not read it."""
    directory, _, name = _file(root, configs, layers).rpartition("/")
    return f"{directory}-definitions/{name}"
