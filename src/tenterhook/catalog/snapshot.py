"""The files that decide which hooks a project has, with their state before they were read.

A change while they are being read is therefore noticed at the next event.
"""

from __future__ import annotations

import os
import time

from ..basics import places, private_files
from ..formats import entry_points
from . import catalog, fail_closed, layer_settings, project_root
from .index import path_identity

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..errors import Problem
    from ..formats.entry_points import FolderState

_LOCK = "hooks.lock"  # as in `packs`, which is imported for packs only
CLOCK_TICK = 50_000_000  # ns, with room to spare


class Snapshot:
    """The state of the files and directories of a project's hooks; `look` adds the hooks' folders."""

    def __init__(self, root: str, configs: Sequence[str], managed: str) -> None:
        self.at = time.time_ns()
        self.looks: dict[str, FolderState | None] = {}
        self._others: dict[str, tuple[int, ...] | None] = {}  # entries that are not hooks
        self._reported: frozenset[str] = frozenset()
        self._is_doubtful = False
        self._root, self._configs = root, configs
        self._directories = catalog.directories(root, managed)
        self._ways: list[tuple[str, Any]] | None = None
        paths = [os.path.join(places.state(), "trust.json"), fail_closed.path(), *configs, *self._directories]
        with_settings = [layer.directory for layer in catalog.with_settings(catalog.all_layers(root, managed))]
        paths += [f"{directory}/{name}" for directory in with_settings for name in (layer_settings.FILE, _LOCK)]
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
        """Store which entries have problems; other entries that are not hooks need not be watched."""
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
        """Return the identity of every directory and link above the hooks, where no other account may write."""
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
        """Mark the snapshot as unreliable, so that everything is read again at the next event."""
        self._is_doubtful = True

    def is_settled(self) -> bool:
        """Whether the last change is older than a clock tick: another one in the same tick would have the same time."""
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
