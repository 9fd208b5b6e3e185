"""The compiled index of a project's hooks: most events reach none, and that is settled without loading anything.

It is believed only if nobody else could have written it, and only while nothing that it was made from has changed: no
definition, no directory on the way to one, no trust record; and until a hook that is disabled for a while comes back.
Whoever finds it stale loads the hooks and writes it anew. Reading it imports next to nothing.
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

    from ..formats.entry_points import Look
    from ..model import Hook
    from .catalog import Catalog, Layer, LeftOut
    from .snapshot import Known, Memory, Observed
    from .trust import Trust

    Index = dict[str, Any]

_MADE_BY = (11, __version__, sys.hexversion)


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
        if index["until"] is not None and time.time() >= index["until"]:  # a hook is in force again
            return None
        fresh = private_files.is_fresh(index["definitions"]) and all(
            place(path) == known for path, known in index["places"]
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
    """The hooks as they were loaded when the index was made. Trust is there as far as this event could ask for it."""
    from ..errors import Problem
    from ..model import Hook
    from .catalog import Catalog

    hooks = tuple(Hook(*values) for values in marshal.loads(index["hooks"]))  # noqa: S302  # as above
    problems = tuple(Problem(*values) for values in index["problems"])
    asking = [hook for hook in hooks if event in (None, hook.event) and hook.metadata]
    is_asked = any(hook.layer == "project" for hook in hooks)
    if trust is None and (is_asked or any(hook.metadata.get("runs_project_code") for hook in asking)):
        from .trust import Trust

        trust = Trust(index["root"])
    left_out = _left_out(index) if event in (None, "pre-session") else ()  # a session's start says what is disabled
    return Catalog(index["root"], (), hooks, problems, left_out, trust, index["debug"])


def _left_out(index: Index) -> tuple[LeftOut, ...]:
    from ..model import Hook
    from .catalog import LeftOut

    kept = marshal.loads(index["left_out"])  # noqa: S302  # as above
    return tuple(LeftOut(Hook(*hook), *rest) for hook, *rest in kept)


def load(root: str, configs: Sequence[str] = (), *, managed: str | None = None) -> Catalog:
    """Load a project's hooks and keep what was found as its index, if it can be kept."""
    return read_and_keep(root, configs, managed=managed)[0]


def read_and_keep(
    root: str,
    configs: Sequence[str],
    *,
    managed: str | None = None,
    trust: Trust | None = None,
    here: Sequence[Layer] = (),
) -> tuple[Catalog, Observed, Memory]:
    """The same, with what was looked at and read: of the definitions, those that have changed since the last time."""
    from . import catalog, loading, snapshot

    managed = managed or catalog.MANAGED
    observed = snapshot.Observed(root, configs, managed)
    observed.look_at_all()  # before anything is read
    memory = snapshot.Memory(observed, recalled(root, configs, here))
    found = loading.load(root, configs, trust=trust, managed=managed, observed=observed, memory=memory, keep=True)
    if observed.is_settled():
        try:
            made, read = _made(found, configs, observed), memory.as_bytes()
        except ValueError:  # something in a definition that cannot be kept
            return found, observed, memory
        beside = _definitions(root, configs, here)
        for file, data in ((beside, marshal.dumps((_MADE_BY, read))), (_file(root, configs, here), made)):
            private_files.write(file, data)
            private_files.forget_old(os.path.dirname(file))
    return found, observed, memory


def recalled(root: str, configs: Sequence[str], here: Sequence[Layer] = ()) -> Known | None:
    """The definitions as they were when the index was made, however much of it is still true."""
    from . import snapshot

    data = private_files.read(_definitions(root, configs, here))
    try:
        made_by, read = marshal.loads(data or b"")  # noqa: S302  # nobody but this account can have written it
        return snapshot.recalled(read) if made_by == _MADE_BY else None
    except (ValueError, EOFError, TypeError):  # there is none, or it is broken
        return None


def has_been_loaded(root: str, configs: Sequence[str], here: Sequence[Layer]) -> bool:
    """Whether somebody has loaded it before; what is loaded just once need not be kept."""
    mark = f"{_file(root, configs, here)}.loaded"
    if os.path.exists(mark):
        return True
    private_files.write(mark, b"")
    return False


def forget(root: str) -> None:
    """Remove the index of a project that is gone."""
    for file in (_file(root, ()), _definitions(root, ())):
        try:
            os.unlink(file)
        except OSError:
            pass


def _made(found: Catalog, configs: Sequence[str], observed: Observed) -> bytes:
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


def _scripts(found: Catalog, looks: Mapping[str, Look | None]) -> set[str]:
    """What need not be looked at to know that an event reaches no hook: it could at most take one away."""
    from ..formats import entry_points
    from .snapshot import parents

    if found.left_out or any(hook.replaced_by for hook in found.hooks):  # another could come in its place
        return set()
    troubled = {parent for problem in found.problems for parent in parents(problem.file)}
    folders = [hook.folder for hook in found.hooks if hook.folder is not None and hook.folder not in troubled]
    plain = [folder for folder in folders if (seen := looks.get(folder)) is not None and not seen.links]
    return {
        f"{folder}{rest}"
        for folder in plain
        for rest in ("", "/scripts", *(f"/{name}" for name in entry_points.ENTRY_POINTS))
    }


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
    return literal_search.words(expression) or literal_search.needed(expression) or False


def place(path: str) -> tuple[int, ...] | None:
    """Which directory or link is there, and who may write to it."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_dev, found.st_mode, found.st_uid, found.st_gid


def _file(root: str, configs: Sequence[str], layers: Sequence[Layer] = ()) -> str:
    key = chr(0).join((root, *configs, *(word for layer in layers for word in layer)))
    return f"{places.cache()}/{'loaded' if layers else 'index'}/{places.file_name(key)}"


def _definitions(root: str, configs: Sequence[str], layers: Sequence[Layer] = ()) -> str:
    """Beside an index: what its definitions said. Whoever only asks the index need not read it."""
    directory, _, name = _file(root, configs, layers).rpartition("/")
    return f"{directory}-definitions/{name}"
