"""Our own compiled modules in one file: an agent waits less for one than for forty that must each be found.

It holds what Python keeps beside the sources anyway, for exactly these sources. Where it is missing or stale, modules
are imported as ever, and it is written anew when hooks are next loaded.
"""

from __future__ import annotations

import marshal
import sys

from . import __version__, places, private_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_MADE_BY = (1, __version__, sys.hexversion)
_HEADER = 16  # bytes before the code in a compiled module
# By name: is it a package, its source, what that was like, its code.
_CODES: dict[str, tuple[bool, str, tuple[int, ...], bytes]] = {}


def use() -> bool:
    """Import our modules from the bundle from now on, those whose sources have not changed; False if there is none."""
    data = private_files.read(_file())
    if data is None:
        return False
    try:
        made_by, codes = marshal.loads(data)  # noqa: S302  # nobody but this account can have written it
        if made_by != _MADE_BY:
            return False
    except (ValueError, EOFError, TypeError):
        return False
    _CODES.update(codes)
    sys.meta_path.insert(0, _Importer)
    return True


def write() -> None:
    """Bundle every module of ours that is loaded, as Python has compiled it."""
    codes = {}
    for name, module in list(sys.modules.items()):
        spec = module.__spec__ if name.startswith("tenterhook.") else None
        if spec is None or not spec.origin or not spec.cached:
            continue
        known = private_files.signature(spec.origin)
        try:
            with open(spec.cached, "rb") as file:
                code = file.read()[_HEADER:]
        except OSError:  # a package in a place that cannot be written: nothing is gained there
            return
        codes[name] = (spec.submodule_search_locations is not None, spec.origin, known, code)
    if codes:
        private_files.write(_file(), marshal.dumps((_MADE_BY, codes)))


def _file() -> str:
    return f"{places.cache()}/bundle/{sys.implementation.cache_tag}"


class _Importer:
    """Finds and loads what is bundled; what is not is left to Python."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        bundled = _CODES.get(name)
        if bundled is None or private_files.signature(bundled[1]) != bundled[2]:
            return None
        is_package, source, _, _ = bundled
        spec = type(sys.__spec__)(name, _Importer, origin=source, is_package=is_package)  # type: ignore[arg-type]
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [source.rpartition("/")[0]]
        return spec

    @staticmethod
    def create_module(_: ModuleSpec) -> None:
        return None

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        exec(marshal.loads(_CODES[module.__name__][3]), module.__dict__)  # noqa: S102, S302  # our own code
