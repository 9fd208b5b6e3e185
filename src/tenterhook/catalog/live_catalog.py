"""The hooks of a project for a long-lived engine: a change is in force at the next event.

Each event calls `stat` on every file that the hooks depend on, about 1 ms for a hundred hooks. After a change they are
loaded again, about 20 ms for a hundred.
"""

from __future__ import annotations

import os
import threading
import time

from ..basics import private_files
from . import catalog, index
from .trust import Trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from .catalog import Catalog
    from .snapshot import Snapshot

_AT_ONCE = 8  # more descriptors than reading has open


class LiveCatalog:
    """A project's current hooks. Safe to use from several threads."""

    def __init__(self, root: str, configs: Sequence[str], trust: Trust, unnamed: Collection[str] = frozenset()) -> None:
        """`unnamed` are those of `configs` that the user did not name: it is no problem if they define no hooks."""
        self._unnamed = unnamed
        self._root, self._configs, self._everything = root, configs, trust.everything
        self._lock = threading.Lock()
        self._files: list[tuple[str, Any]] = []
        self._ways: list[tuple[str, Any]] = []
        self._observed: Snapshot | None = None  # until `current` is first called
        self._is_settled = True
        self.latest = self._loaded(trust).without_empty(unnamed)
        self._until = self.latest.until

    def current(self) -> Catalog:
        """Return the current catalog; the same object for as long as nothing has changed."""
        with self._lock:
            if self._observed is not None:
                self._files, self._ways = self._observed.files(), self._observed.ways()
                self._is_settled = self._observed.is_settled()
                self._observed = None
            has_expired = self._until is not None and time.time() >= self._until  # a disabled hook is in force again
            if (has_expired or not (self._is_settled and self._is_fresh())) and _can_read():
                self._read_again()
            return self.latest

    def _is_fresh(self) -> bool:
        return private_files.is_fresh(self._files) and all(
            index.path_identity(path) == known for path, known in self._ways
        )

    def _loaded(self, trust: Trust) -> Catalog:
        """Return the catalog from the index if nothing has changed since; else load it."""
        if self._everything:  # then the project's untrusted settings count as well
            return self._read(trust)
        here = catalog.layers(self._root)
        found = index.read(self._root, self._configs, here)
        if found is not None:
            self._files, self._ways = found["files"], found["places"]
            loaded = index.catalog(found, trust=trust)
            return loaded._replace(layers=tuple(here), refused_configs=tuple(found["refused_configs"]))
        loaded, self._observed = index.load_and_store(self._root, self._configs, trust=trust, here=here)
        return loaded

    def _read(self, trust: Trust) -> Catalog:
        loaded, self._observed = index.load_observed(self._root, self._configs, trust=trust)
        return loaded

    def _read_again(self) -> None:
        """Load everything again, also the project's identity that trust is bound to."""
        found = self._read(Trust(self._root, everything=self._everything))
        self.latest = found.without_empty(self._unnamed)
        self._until = self.latest.until


def _can_read() -> bool:
    """Whether files can be opened: without descriptors every hook would seem to be missing."""
    opened: list[int] = []
    try:
        opened += (os.open("/", os.O_RDONLY | os.O_CLOEXEC) for _ in range(_AT_ONCE))
    except OSError:
        return False
    finally:
        for descriptor in opened:
            os.close(descriptor)
    return True
