"""Definitions as they were read: whoever loads hooks again reads only those whose files have changed."""

from __future__ import annotations

import marshal

from ..basics import private_files
from ..errors import Problem
from ..formats import folder as folder_format
from ..formats import toml_files
from ..formats.entry_points import Look
from ..model import Hook
from .snapshot import CLOCK_TICK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .snapshot import Observed

    Key = tuple[str, str, str]  # a folder or file, its layer, what hooks.toml changes in it
    # with what its files looked like, and when that was
    Known = dict[Key, tuple[Look | tuple[Any, ...], int, tuple[tuple[Hook, ...], tuple[Problem, ...]]]]


class Memory:
    """What is read in one load, each with what its files looked like. What was known earlier is not read again."""

    def __init__(self, observed: Observed, earlier: Known | None = None) -> None:
        self.known: Known = {}
        self._observed = observed
        self._earlier = earlier or {}

    def folder(self, folder: str, layer: str, changes: Mapping[str, Any], seen: Look) -> folder_format.FolderDefinition:
        """The hook in a folder, with the changes that `hooks.toml` makes."""
        change = repr(changes) if any(changes.values()) else ""  # a repr tells 1 from True
        key = folder, layer, change
        known = self._earlier.get(key)
        if known is not None and _signature(known[0]) == _signature(seen) and _is_settled(seen, known[1]):
            self.known[key] = known
            hooks, problems = known[2]
            return folder_format.FolderDefinition(hooks[0] if hooks else None, problems)
        hook, problems = read = folder_format.read(folder, layer, changes, seen)
        self.known[key] = seen, self._observed.at, ((hook,) if hook else (), problems)
        return read

    def file(self, file: str) -> toml_files.TomlDefinitions:
        """The hooks of a named file."""
        key = file, "", ""
        known, seen = self._earlier.get(key), self._observed.signature(file)
        if known is not None and known[0] == seen and _is_settled(seen, known[1]):
            self.known[key] = known
            return toml_files.TomlDefinitions(*known[2])
        read = toml_files.read(file)
        if seen is not None:
            self.known[key] = seen, self._observed.at, read
        return read

    def as_bytes(self) -> bytes:
        """All of it, for a later process. Raises `ValueError` for what cannot be kept."""
        return marshal.dumps(
            [
                (key, _signature(seen), [tuple(hook) for hook in hooks], [tuple(each) for each in problems], at)
                for key, (seen, at, (hooks, problems)) in self.known.items()
            ]
        )


def recalled(data: bytes) -> Known:
    """What an earlier process knew. Raises `ValueError`, `EOFError` or `TypeError` for anything else."""
    return {
        key: (seen, at, (tuple(Hook(*hook) for hook in hooks), tuple(Problem(*each) for each in problems)))
        for key, seen, hooks, problems, at in marshal.loads(data)  # noqa: S302  # whoever has read it saw to that
    }


def _signature(seen: Look | tuple[Any, ...]) -> tuple[Any, ...]:
    """What changes whenever one of a folder's files does; a process that has ended left it so."""
    if not isinstance(seen, Look):
        return seen
    stats = tuple((path, private_files.signature_of(found)) for path, found in seen.stats.items())
    return stats, seen.script, seen.links


def _is_settled(seen: Look | tuple[int, ...], at: int) -> bool:
    """Whether what was read had not just changed: a second change in one tick would look like the first."""
    times = [found.st_ctime_ns for found in seen.stats.values()] if isinstance(seen, Look) else [seen[1]]
    return at - max(times, default=at) > CLOCK_TICK
