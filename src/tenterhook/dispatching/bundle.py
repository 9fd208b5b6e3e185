"""Our compiled modules in one file: importing them one by one is a good part of what an agent waits for.

The file stands in `__pycache__` and is as good as the files there: a module counts while its source has the time and
size that were written down with it. starting.py comes first, for bridge.py to run; then this module, and where all
others stand; then their code.
"""

from __future__ import annotations

import os
import sys
from _frozen_importlib import ModuleSpec  # `importlib` would have to be found first
from _frozen_importlib_external import MAGIC_NUMBER, ExtensionFileLoader, SourceFileLoader
from marshal import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO
    from types import ModuleType
    from typing import Any, NamedTuple

    class Entry(NamedTuple):
        """Where a module's code stands in the file, and the source that it was made from.

        Without a length, the source is the module: an extension of Python's own.
        """

        start: int
        length: int
        source: str
        time: int
        size: int


_FIRST = "tenterhook.dispatching.starting"
_EXTENSIONS = ("_blake2", "_json", "select")  # Python would look through its whole library for them


class Bundle:
    """A finder and loader of modules."""

    def __init__(self, file: FileIO, start: int, entries: dict[str, Entry]) -> None:
        self._file = file
        self._start = start
        self._entries = entries
        self.is_stale = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module, if it is in the file and its source is as it was."""
        entry = self._entries.get(name)
        if entry is None:
            self.is_stale |= name.startswith("tenterhook.")
            return None
        start, length, source, time, size = entry
        try:
            found = os.stat(source)
            if found.st_mtime_ns != time or found.st_size != size:
                raise ValueError
            if not length:
                return ModuleSpec(name, ExtensionFileLoader(name, source), origin=source)
            code = loads(os.pread(self._file.fileno(), length, self._start + start))  # noqa: S302  # as in any `.pyc`
        except (OSError, ValueError, EOFError, TypeError):
            self.is_stale = True
            return None
        spec = ModuleSpec(name, self, origin=source, loader_state=code)  # type: ignore[arg-type]
        spec.has_location = True  # so that it has a `__file__`
        spec.cached = source  # finding out which file that would be takes a moment
        if source.endswith("/__init__.py"):
            spec.submodule_search_locations = [os.path.dirname(source)]
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Nothing but the usual."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module that was found."""
        assert module.__spec__ is not None
        exec(module.__spec__.loader_state, module.__dict__)  # noqa: S102  # this is what a loader does


def keep() -> None:
    """Write the file if it is not there or a module had to be found elsewhere."""
    if getattr(sys.meta_path[0], "is_stale", True):
        write()


def write() -> None:
    """Write the file, if it can be."""
    try:
        _write()
    except Exception:  # noqa: BLE001, S110  # no place for it, or an upgrade is under way: no event waits for that
        pass


def _write() -> None:
    from ..basics import places

    package = places.PACKAGE
    codes: dict[str, bytes] = {}
    entries: dict[str, tuple[int, int, str, int, int]] = {}
    start = 0
    for name, source in _sources(package):
        found = os.stat(source)
        codes[name] = dumps(SourceFileLoader(name, source).get_code(name)) if source.endswith(".py") else b""
        entries[name] = (start, len(codes[name]), source, found.st_mtime_ns, found.st_size)
        start += len(codes[name])
    first = codes[_FIRST]
    index = dumps((SourceFileLoader("bundle", __file__).get_code("bundle"), entries))
    made_from = entries[_FIRST][3:]
    head = b"%b%20d%20d%8d%b%8d%b" % (MAGIC_NUMBER, *made_from, len(first), first, len(index), index)
    file = f"{package}/__pycache__/{sys.implementation.cache_tag}.bundle"
    places.replace_file(file, head + b"".join(codes.values()))


def _sources(package: str) -> Iterator[tuple[str, str]]:
    import __future__

    yield "__future__", str(__future__.__file__)
    for name in _EXTENSIONS:
        if file := getattr(sys.modules.get(name), "__file__", None):  # some are built in, or not there
            yield name, file
    for directory, directories, files in os.walk(package):
        directories[:] = [name for name in directories if name != "hooks"]  # scripts that run by themselves
        for file in files:
            if file.endswith(".py"):
                source = f"{directory}/{file}"
                name = source[len(package) - len("tenterhook") : -len(".py")].replace("/", ".")
                yield name.removesuffix(".__init__"), source


if __name__ == "bundle":  # in the bridge, which has opened the file
    sys.meta_path.insert(0, Bundle(*globals()["opened"]))
