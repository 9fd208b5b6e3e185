"""Definitions as they were read: whoever loads hooks again reads only those whose files have changed."""

from __future__ import annotations

import marshal

from .. import light_json, private_files
from ..errors import Problem
from ..formats import folder as folder_format
from ..formats import toml_files
from ..formats.entry_points import Look
from ..model import Hook
from .observing import CLOCK_TICK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .observing import Observed

    Key = tuple[str, str, str]  # a folder or file, its layer, what hooks.toml changes in it
    Known = dict[Key, tuple[Look | tuple[Any, ...], tuple[Hook, ...], tuple[Problem, ...]]]


class Memory:
    """What is read in one load, each with what its files looked like. What was known earlier is not read again."""

    def __init__(self, observed: Observed, earlier: Known | None = None) -> None:
        self.known: Known = {}
        self._observed = observed
        self._earlier = earlier or {}

    def folder(self, folder: str, layer: str, changes: Mapping[str, Any], seen: Look) -> folder_format.Read:
        """The hook in a folder, with the changes that `hooks.toml` makes."""
        key = folder, layer, repr(changes)  # a repr tells 1 from True
        known = self._earlier.get(key)
        if known is not None and _signature(known[0]) == _signature(seen):
            _, hooks, problems = self.known[key] = known
            return folder_format.Read(hooks[0] if hooks else None, problems)
        read = folder_format.read(folder, layer, changes, seen)
        if self._is_settled(max((found.st_ctime_ns for found in seen.stats.values()), default=self._observed.at)):
            self.known[key] = seen, (read.hook,) if read.hook else (), read.problems
        return read

    def file(self, file: str) -> toml_files.Read:
        """The hooks of a named file."""
        key = file, "", ""
        known, seen = self._earlier.get(key), self._observed.signature(file)
        if known is not None and known[0] == seen:
            self.known[key] = known
            return toml_files.Read(*known[1:])
        read = toml_files.read(file)
        if seen is not None and self._is_settled(seen[1]):
            self.known[key] = seen, read.hooks, read.problems
        return read

    def as_bytes(self) -> bytes:
        """All of it, for a later process. Raises `ValueError` for what cannot be kept."""
        return marshal.dumps(
            [
                (key, _signature(seen), [plain(hook) for hook in hooks], [tuple(each) for each in problems])
                for key, (seen, hooks, problems) in self.known.items()
            ]
        )

    def _is_settled(self, changed: int) -> bool:
        return self._observed.at - changed > CLOCK_TICK


def recalled(data: bytes) -> Known:
    """What an earlier process knew. Raises `ValueError`, `EOFError` or `TypeError` for anything else."""
    return {
        key: (seen, tuple(Hook(*hook) for hook in hooks), tuple(Problem(*each) for each in problems))
        for key, seen, hooks, problems in marshal.loads(data)  # noqa: S302  # whoever has read it saw to that
    }


def plain(hook: Hook) -> tuple[Any, ...]:
    """A hook as nothing but plain values."""
    metadata = light_json.loads(light_json.dumps(dict(hook.metadata), default=str)) if hook.metadata else {}
    return tuple(metadata if value is hook.metadata else value for value in hook)


def _signature(seen: Look | tuple[Any, ...]) -> tuple[Any, ...]:
    """What changes whenever one of a folder's files does; a process that has ended left it so."""
    if not isinstance(seen, Look):
        return seen
    stats = tuple((path, private_files.signature_of(found)) for path, found in seen.stats.items())
    return stats, seen.script, seen.links
