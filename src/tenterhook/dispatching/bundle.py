"""Our compiled modules in one file: importing them one by one is a good part of what an agent waits for.

The file stands in `__pycache__` and is as good as the files there: a module counts while its source has the time and
size that were written down with it. starting.py comes first, for bridge.py to run; then this module, and where all
others stand; then their code. What the modules of an event import is loaded in one go, which spares most of it the way
through Python's own import.
"""

from __future__ import annotations

import os
import sys
from _frozen_importlib import ModuleSpec  # `importlib` would have to be found first
from _frozen_importlib_external import MAGIC_NUMBER, ExtensionFileLoader, SourceFileLoader
from marshal import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
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
_AT_ONCE = tuple(f"tenterhook.{name}" for name in ("dispatching.dispatch", "catalog.index", "dispatching.answering"))
_EXTENSIONS = ("_blake2", "_json", "select")  # Python would look through its whole library for them


class Bundle:
    """A finder and loader of modules."""

    def __init__(self, file: FileIO, start: int, entries: dict[str, Entry], needed: dict[str, tuple[str, ...]]) -> None:
        """`needed`: what a module imports, in the order in which it can be loaded."""
        self._file = file
        self._start = start
        self._entries = entries
        self._needed = needed
        self.is_stale = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module, if it is in the file and its source is as it was."""
        for each in self._needed.pop(name, ()):
            if each not in sys.modules and not self._load(each):
                break
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

    def _load(self, name: str) -> bool:
        """Load a module whose package is there, as an import would; False if it has to be found elsewhere.

        Other threads could see it half loaded: the bridge has none.
        """
        spec = self.find_spec(name)
        if spec is None:
            return False
        module = type(sys)(name)
        about = module.__dict__
        about.update(__spec__=spec, __loader__=self, __package__=spec.parent)
        about.update(__file__=spec.origin, __cached__=spec.cached)
        if spec.submodule_search_locations is not None:
            about["__path__"] = spec.submodule_search_locations
        sys.modules[name] = module
        try:
            self.exec_module(module)
        except BaseException:  # whatever it was: a module that is half loaded is none
            sys.modules.pop(name, None)
            raise
        package, _, own = name.rpartition(".")
        if package:
            setattr(sys.modules[package], own, module)
        return True

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
    index = dumps((SourceFileLoader("bundle", __file__).get_code("bundle"), entries, _needed(entries)))
    made_from = entries[_FIRST][3:]
    head = b"%b%20d%20d%8d%b%8d%b" % (MAGIC_NUMBER, *made_from, len(first), first, len(index), index)
    file = f"{package}/__pycache__/{sys.implementation.cache_tag}.bundle"
    places.replace_file(file, head + b"".join(codes.values()))


def _sources(package: str) -> Iterator[tuple[str, str]]:
    import __future__

    yield "__future__", str(__future__.__file__)
    for name in _EXTENSIONS:
        try:
            file = getattr(__import__(name), "__file__", None)  # some are built in
        except ImportError:
            continue
        if file:
            yield name, file
    for directory, directories, files in os.walk(package):
        directories[:] = [name for name in directories if name != "hooks"]  # scripts that run by themselves
        for file in files:
            if file.endswith(".py"):
                source = f"{directory}/{file}"
                name = source[len(package) - len("tenterhook") : -len(".py")].replace("/", ".")
                yield name.removesuffix(".__init__"), source


def _needed(entries: Mapping[str, tuple[int, int, str, int, int]]) -> dict[str, tuple[str, ...]]:
    """What our modules import, for those that are loaded in one go: each behind what it needs itself."""
    known: dict[str, list[str]] = {}

    def add(name: str, begun: set[str], order: list[str]) -> None:
        begun.add(name)
        if name not in known:
            known[name] = [each for each in _imports(name, entries[name][2]) if each in entries]
        for each in known[name]:
            if each not in begun:
                add(each, begun, order)
        order.append(name)

    needed: dict[str, tuple[str, ...]] = {}
    for name in _AT_ONCE:
        order: list[str] = []
        add(name, set(), order)
        needed[name] = tuple(order[:-1])
    return needed


def _imports(name: str, source: str) -> Iterator[str]:
    """What a module imports of ours when it is loaded, its package first."""
    import ast

    package = name.rpartition(".")[0]
    yield package
    parts = (name if source.endswith("/__init__.py") else package).split(".")
    with open(source, "rb") as file:
        body = ast.parse(file.read()).body
    for node in body:  # not what stands in an `if`, which is for those who check types
        if isinstance(node, ast.ImportFrom) and node.level:
            base = ".".join([*parts[: len(parts) + 1 - node.level], *filter(None, [node.module])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


if __name__ == "bundle":  # in the bridge, which has opened the file
    sys.meta_path.insert(0, Bundle(*globals()["opened"]))
