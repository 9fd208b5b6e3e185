"""What decides which hooks a project has, looked at before it is read: so a change in between is seen later."""

from __future__ import annotations

import os
import time

from ..basics import places, private_files
from ..formats import entry_points
from . import fail_closed, layer_settings, layers, project_root
from .index import place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..errors import Problem
    from ..formats.entry_points import Look

CLOCK_TICK = 50_000_000  # ns, with room to spare


class Observed:
    """The files and directories of a project's hooks, as they were; folders are added as they are looked at."""

    def __init__(self, root: str, configs: Sequence[str], managed: str) -> None:
        self.at = time.time_ns()
        self.looks: dict[str, Look | None] = {}
        self._others: dict[str, tuple[int, ...] | None] = {}  # entries that are no hooks
        self._reported: frozenset[str] = frozenset()
        self._is_doubtful = False
        self._root, self._configs = root, configs
        self._directories = layers.directories(root, managed)
        self._ways: list[tuple[str, Any]] | None = None
        paths = [os.path.join(places.state(), "trust.json"), fail_closed.path(), *configs, *self._directories]
        paths += [os.path.join(directory, layer_settings.FILE) for directory in self._directories]
        # what trust in a project's settings is bound to; a repository's own directory changes with every commit
        paths += [path for path in project_root.identity_files(root) if not os.path.isdir(path)]
        self._plain = {path: private_files.signature(path) for path in paths}

    def look(self, folder: str) -> Look | None:
        """What the file system says of a folder; asked once."""
        if folder not in self.looks:
            self.looks[folder] = entry_points.look(folder)
            if self.looks[folder] is None and "/." not in folder[folder.rfind("/") :]:
                self._others[folder] = private_files.signature(folder)
        return self.looks[folder]

    def report(self, problems: Iterable[Problem]) -> None:
        """Take note of the entries that problems are about; others that are no hooks may change as they like."""
        files = [problem.file for problem in problems]
        self._reported = frozenset(
            folder for folder in self._others if any(file == folder or file.startswith(folder + "/") for file in files)
        )

    def look_at_all(self) -> None:
        """Look at every folder there is."""
        for directory in self._directories:
            try:
                names = os.listdir(directory)
            except OSError:
                continue
            for name in names:
                self.look(f"{directory}/{name}")
        self.ways()

    def signature(self, path: str) -> tuple[int, ...] | None:
        """What a named file looked like; None if it was not there."""
        return self._plain.get(path)

    def files(self) -> list[tuple[str, tuple[int, ...] | None]]:
        """Everything whose content decides which hooks there are."""
        found: dict[str, tuple[int, ...] | None] = dict(self._plain)
        for folder, seen in self.looks.items():
            if seen is None:
                found[f"{folder}/HOOK.md"] = None
                if folder in self._reported:  # what is said of it may no longer be true
                    found[folder] = self._others.get(folder)
            else:
                found |= dict.fromkeys(seen.links)
                found |= {path: private_files.signature_of(each) for path, each in seen.stats.items()}
        return list(found.items())

    def ways(self) -> list[tuple[str, Any]]:
        """Every directory and link on the way to the hooks: who may write there decides whether they count."""
        if self._ways is None:
            links = [link for seen in self.looks.values() if seen for link in seen.links]
            trusted = os.path.join(places.state(), "trust.json")
            paths: list[str] = []
            for path in (*self._directories, *links, *self._configs, trusted):
                for way in (path, os.path.realpath(path)):
                    paths += parents(way)
            # a repository around a directory makes what is in it the project's
            kept = [os.path.join(each, "x") for each in (places.config_home(), places.state())]
            around = [parent for each in kept for way in (each, os.path.realpath(each)) for parent in parents(way)]
            paths += [os.path.join(parent, ".git") for parent in (self._root, *around)]
            self._ways = [(path, place(path)) for path in dict.fromkeys(paths)]
        return self._ways

    def doubt(self) -> None:
        """Have it looked at again at the next event."""
        self._is_doubtful = True

    def is_settled(self) -> bool:
        """Whether the last change was long enough ago: a second one in one tick would look like the first."""
        return (
            not self._is_doubtful
            and self.at - max((known[1] for _, known in self.files() if known), default=0) > CLOCK_TICK
        )


def parents(path: str) -> list[str]:
    """Every directory above a path, the nearest first."""
    found = []
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        found.append(path)
    return found
