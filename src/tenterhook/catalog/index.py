"""The compiled index of a project's hooks, which tells for most events that they reach no hook, without loading any.

It is used only if no other account could have written it, and as long as nothing it was made from has changed
(definitions, the directories above them, trust records) and no disabled hook is in force again. If it is stale, the
hooks are loaded and it is written anew. Reading it imports very little.
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
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..model import Hook
    from .catalog import Catalog, Layer, LeftOut
    from .snapshot import Snapshot
    from .trust import Trust

    Index = dict[str, Any]

_MADE_BY = (14, __version__, sys.hexversion)


def read(root: str, configs: Sequence[str] = (), layers: Sequence[Layer] = ()) -> Index | None:
    """Return the index of a project, or None if there is none or anything has changed since it was made.

    Without `layers` it is the index for `dispatch`, whose directories `install` recorded.
    """
    try:
        index: Index | None = private_files.parsed(_file(root, configs, layers), marshal.loads)
        if index is None or (index["made_by"], index["root"], index["configs"]) != (_MADE_BY, root, list(configs)):
            return None
        if index["made_for"] != (places.config_home(), places.state()):  # another home may use the same cache
            return None
        if index["until"] is not None and time.time() >= index["until"]:  # a hook is in force again
            return None
        fresh = private_files.is_fresh(index["files"]) and all(
            path_identity(path) == known for path, known in index["places"]
        )
    except (ValueError, EOFError, TypeError, KeyError):
        return None
    return index if fresh else None


def reaches_nothing(index: Index, event: str, tool: Any, tool_input: Any) -> bool:
    """Whether an event certainly reaches no hook. False if it takes a regular expression to tell."""
    entries = index["entries"].get(event)
    if not entries:
        return True
    if not isinstance(tool, (str, type(None))):
        return False
    names: tuple[str, ...] | None = () if tool is None else index["tool_names"].get(tool)
    if names is None:
        if index["needs_mcp_names"]:
            return False  # the agent's module knows how it spells the tools of MCP servers
        names = (str(tool),)
    inputs: list[str] | None = None
    for (dialect, by_tool), patterns in entries:
        if by_tool is False:
            return False
        if by_tool is not None and not any(literal_search.found(dialect, by_tool, name) for name in names):
            continue
        if patterns is None:
            return False
        if inputs is None:
            inputs = light_json.input_texts(tool_input)
        if any(literal_search.found(dialect, each, text) for each in patterns for text in inputs):
            return False
    return True


def catalog(index: Index, event: str | None = None, trust: Any = None) -> Catalog:
    """Return the catalog that the index was made from. Trust records are loaded only if this event may need them."""
    from ..errors import Problem
    from ..model import Hook
    from .catalog import Catalog

    # the index was read from a private file
    hooks = tuple(Hook(*values) for values in marshal.loads(index["hooks"]))  # noqa: S302
    problems = tuple(Problem(*values) for values in index["problems"])
    with_metadata = [hook for hook in hooks if event in (None, hook.event) and hook.metadata]
    needs_trust = any(hook.needs_trust for hook in hooks)
    if trust is None and (needs_trust or any(hook.metadata.get("runs_project_code") for hook in with_metadata)):
        from .trust import Trust

        trust = Trust(index["root"])
    # disabled hooks are reported at a session's start
    left_out = _left_out(index) if event in (None, "pre-session") else ()
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
) -> tuple[Catalog, Snapshot]:
    """Like `load`; also return the files that the hooks depend on."""
    found, observed = load_observed(root, configs, managed=managed, trust=trust)
    if observed.is_settled():
        file = _file(root, configs, here)
        try:
            private_files.write(file, _made(found, configs, observed))
        except ValueError:  # a value that cannot be stored
            return found, observed
        private_files.forget_old(os.path.dirname(file))
    return found, observed


def load_observed(
    root: str, configs: Sequence[str], *, managed: str | None = None, trust: Trust | None = None
) -> tuple[Catalog, Snapshot]:
    """Load a project's hooks. Return them, and the state before loading of the files that they depend on."""
    from . import catalog, loading, snapshot

    managed = managed or catalog.MANAGED
    observed = snapshot.Snapshot(root, configs, managed)
    observed.look_at_all()  # before anything is read
    return loading.load(root, configs, trust=trust, managed=managed, observed=observed, keep=True), observed


def forget(root: str) -> None:
    """Remove the index of a project."""
    try:
        os.unlink(_file(root, ()))
    except OSError:
        pass


def _made(found: Catalog, configs: Sequence[str], observed: Snapshot) -> bytes:
    from ..events import NAMES_OF_TOOL

    entries = _entries(found.hooks)
    # `marshal` writes enumeration members only because those of `named_tuples` are plain strings.
    return marshal.dumps(
        {
            "made_by": _MADE_BY,
            "made_for": (places.config_home(), places.state()),
            "root": found.root,
            "configs": list(configs),
            "files": observed.files(),
            "places": observed.ways(),
            "entries": {event: list(by_tool.items()) for event, by_tool in entries.items()},
            "tool_names": NAMES_OF_TOOL,
            "needs_mcp_names": any(_needs_mcp_names(words) for by_tool in entries.values() for _, words in by_tool),
            "hooks": marshal.dumps([tuple(hook) for hook in found.hooks]),
            "left_out": marshal.dumps([(tuple(each.hook), *each[1:]) for each in found.left_out]),
            "until": found.until,
            "refused_configs": found.refused_configs,
            "problems": [tuple(problem) for problem in found.problems],
            "debug": found.debug,
        }
    )


def _entries(hooks: Iterable[Hook]) -> dict[str, dict[tuple[str, Any], list[Any] | None]]:
    """Return the words that the hooks' patterns need, by event and tool matcher, since many hooks share few of those.

    The words are None where one of the hooks has no pattern, or one without such words.
    """
    found: dict[str, dict[tuple[str, Any], list[Any] | None]] = {}
    for hook in hooks:
        entry = _entry(hook)
        if entry is None:
            continue
        dialect, by_tool, by_pattern = entry
        of_event = found.setdefault(hook.event, {})
        patterns = of_event.setdefault((dialect, by_tool), [])
        if not by_pattern:
            of_event[dialect, by_tool] = None
        elif patterns is not None:
            patterns.append(by_pattern)
    return found


def _entry(hook: Hook) -> tuple[str, Any, Any] | None:
    """Return a hook's dialect and the words that its matchers need; None if it never matches.

    The words are None without a matcher, and False if it needs no particular words.
    """
    if hook.never_matches:
        return None
    if not hook.spec.has_tool:
        if hook.format in ("folder", "table") and (hook.tool or hook.pattern):
            return None  # such matchers never match here
        return hook.dialect, None, None
    by_tool, by_pattern = (None if each is None else _words(each) for each in (hook.tool, hook.pattern))
    return hook.dialect, by_tool, by_pattern


def _words(expression: str) -> Any:
    """Return words of which an expression needs one to match; False if there are none."""
    return literal_search.words(expression) or literal_search.required_words(expression) or False


def _needs_mcp_names(words: Any) -> bool:
    """Whether a word of a tool matcher may be in `mcp:server/tool` or `mcp__server__tool`, but not in the agent's name.

    All three contain the names of server and tool. Such a word overlaps the prefix or the separator.
    """
    return any(
        text in "mcp" or text.strip("_") != text or any(mark in text for mark in _MCP_MARKS) for text, *_ in words or ()
    )


_MCP_MARKS = (":", "/", "__")


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
