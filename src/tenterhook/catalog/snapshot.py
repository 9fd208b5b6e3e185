"""The files that decide which hooks a project has, as they were before they were read, and the definitions in them.

A change in between is seen at the next load, which reads only the definitions whose files have changed.
"""

from __future__ import annotations

import marshal
import os
import time

from ..basics import places, private_files
from ..errors import Problem
from ..formats import entry_points, toml_files
from ..formats import folder as folder_format
from ..formats.entry_points import FolderState
from ..model import Hook
from . import catalog, fail_closed, layer_settings, project_root
from .index import path_identity

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Key = tuple[str, str, str]  # a folder or file, its layer, what hooks.toml changes in it
    # with the state of its files, and its time
    Known = dict[Key, tuple[FolderState | tuple[Any, ...], int, tuple[tuple[Hook, ...], tuple[Problem, ...]]]]

CLOCK_TICK = 50_000_000  # ns, with room to spare


class Snapshot:
    """The state of the files and directories of a project's hooks; folders are added by `look`."""

    def __init__(self, root: str, configs: Sequence[str], managed: str) -> None:
        self.at = time.time_ns()
        self.looks: dict[str, FolderState | None] = {}
        self._others: dict[str, tuple[int, ...] | None] = {}  # entries that are no hooks
        self._reported: frozenset[str] = frozenset()
        self._is_doubtful = False
        self._root, self._configs = root, configs
        self._directories = catalog.directories(root, managed)
        self._ways: list[tuple[str, Any]] | None = None
        paths = [os.path.join(places.state(), "trust.json"), fail_closed.path(), *configs, *self._directories]
        paths += [os.path.join(directory, layer_settings.FILE) for directory in self._directories]
        # what trust in a project's settings is bound to; a repository's own directory changes with every commit
        paths += [path for path in project_root.identity_files(root) if not os.path.isdir(path)]
        self._plain = {path: private_files.signature(path) for path in paths}

    def look(self, folder: str) -> FolderState | None:
        """Return the state of a hook's folder, read once."""
        if folder not in self.looks:
            self.looks[folder] = entry_points.read_state(folder)
            if self.looks[folder] is None and "/." not in folder[folder.rfind("/") :]:
                self._others[folder] = private_files.signature(folder)
        return self.looks[folder]

    def report(self, problems: Iterable[Problem]) -> None:
        """Store which entries have problems; other entries that are no hooks need not be watched."""
        files = [problem.file for problem in problems]
        self._reported = frozenset(
            folder for folder in self._others if any(file == folder or file.startswith(folder + "/") for file in files)
        )

    def look_at_all(self) -> None:
        """Read the state of every folder."""
        for directory in self._directories:
            try:
                names = os.listdir(directory)
            except OSError:
                continue
            for name in names:
                self.look(f"{directory}/{name}")
        self.ways()

    def signature(self, path: str) -> tuple[int, ...] | None:
        """Return the signature of a named file; None if it does not exist."""
        return self._plain.get(path)

    def files(self) -> list[tuple[str, tuple[int, ...] | None]]:
        """Return the signatures of all files whose content decides which hooks exist."""
        found: dict[str, tuple[int, ...] | None] = dict(self._plain)
        for folder, seen in self.looks.items():
            if seen is None:
                found[f"{folder}/HOOK.md"] = None
                if folder in self._reported:  # its problem may have been fixed
                    found[folder] = self._others.get(folder)
            else:
                found |= dict.fromkeys(seen.links)
                found |= {path: private_files.signature_of(each) for path, each in seen.stats.items()}
        return list(found.items())

    def ways(self) -> list[tuple[str, Any]]:
        """Return every directory and link above the hooks: hooks count only if no other account can write there."""
        if self._ways is None:
            links = [link for seen in self.looks.values() if seen for link in seen.links]
            trusted = os.path.join(places.state(), "trust.json")
            paths: list[str] = []
            for path in (*self._directories, *links, *self._configs, trusted):
                for way in (path, os.path.realpath(path)):
                    paths += parents(way)
            # hooks in a directory inside a repository are the project's
            kept = [os.path.join(each, "x") for each in (places.config_home(), places.state())]
            around = [parent for each in kept for way in (each, os.path.realpath(each)) for parent in parents(way)]
            paths += [os.path.join(parent, ".git") for parent in (self._root, *around)]
            self._ways = [(path, path_identity(path)) for path in dict.fromkeys(paths)]
        return self._ways

    def doubt(self) -> None:
        """Have it read again at the next event."""
        self._is_doubtful = True

    def is_settled(self) -> bool:
        """Whether the last change was more than a clock tick ago: a second one in it would have the same time."""
        return (
            not self._is_doubtful
            and self.at - max((known[1] for _, known in self.files() if known), default=0) > CLOCK_TICK
        )


def parents(path: str) -> list[str]:
    """Return every directory above a path, the nearest first."""
    found = []
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        found.append(path)
    return found


class ParseCache:
    """The definitions read in one load, with the state of their files. Unchanged ones are not read again."""

    def __init__(self, observed: Snapshot, earlier: Known | None = None) -> None:
        self.known: Known = {}
        self._observed = observed
        self._earlier = earlier or {}

    def folder(
        self, folder: str, layer: str, changes: Mapping[str, Any], seen: FolderState
    ) -> folder_format.FolderDefinition:
        """Return the hook in a folder, with the changes of `hooks.toml`."""
        change = repr(changes) if any(changes.values()) else ""  # repr distinguishes 1 and True
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
        """Return the hooks of a named file."""
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
        """Return all definitions for `recalled`. Raises `ValueError` for values that cannot be stored."""
        return marshal.dumps(
            [
                (key, _signature(seen), [tuple(hook) for hook in hooks], [tuple(each) for each in problems], at)
                for key, (seen, at, (hooks, problems)) in self.known.items()
            ]
        )


def recalled(data: bytes) -> Known:
    """Return the definitions of an earlier process. Raises `ValueError`, `EOFError` or `TypeError` for other data."""
    return {
        key: (seen, at, (tuple(Hook(*hook) for hook in hooks), tuple(Problem(*each) for each in problems)))
        for key, seen, hooks, problems, at in marshal.loads(data)  # noqa: S302  # only this account can have written it
    }


def _signature(seen: FolderState | tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a value that changes whenever one of a folder's files does; also for one that was stored."""
    if not isinstance(seen, FolderState):
        return seen
    stats = tuple((path, private_files.signature_of(found)) for path, found in seen.stats.items())
    return stats, seen.script, seen.links


def _is_settled(seen: FolderState | tuple[int, ...], at: int) -> bool:
    """Whether a file changed more than a clock tick before it was read, so that later changes are noticed."""
    times = [found.st_ctime_ns for found in seen.stats.values()] if isinstance(seen, FolderState) else [seen[1]]
    return at - max(times, default=at) > CLOCK_TICK
