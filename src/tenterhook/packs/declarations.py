"""The packs of a layer: its `hooks.toml` and `hooks.lock`, and changes to both."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import places
from ..catalog import layer_settings, packs
from ..catalog.packs import LockedPack, NamedPack
from ..errors import HookError
from ..install import settings_change, toml_editor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Declarations(NamedTuple):
    """The packs that a directory of hooks names, each with its entry in the lock, or None."""

    directory: str
    layer: str
    packs: tuple[tuple[NamedPack, LockedPack | None], ...]
    broken: str = ""  # why the lock could not be read; then the packs are those that were in force

    @property
    def file(self) -> str:
        return f"{self.directory}/{layer_settings.FILE}"

    @property
    def lock(self) -> str:
        return f"{self.directory}/{packs.FILE}"

    def named(self, name: str) -> tuple[NamedPack, LockedPack | None]:
        """Return the pack of a name or source. Raises `HookError` if there is none."""
        for pack, locked in self.packs:
            if name in (pack.source, locked.name if locked else packs.default_name(pack.source)):
                return pack, locked
        known = ", ".join(locked.name if locked else pack.source for pack, locked in self.packs)
        raise HookError(
            f"{self.file} names no pack {name!r}", f"its packs: {known}" if known else "add one: tenterhook pack add"
        )


def read(directory: str, layer: str, *, repairs: bool = False) -> Declarations:
    """Return the packs of a directory. Raises `HookError` if a file cannot be read.

    A command that writes the lock `repairs` it: for one that is broken, the packs that were in force are returned.
    """
    file, lock = f"{directory}/{layer_settings.FILE}", f"{directory}/{packs.FILE}"
    if not os.path.lexists(file):
        return Declarations(directory, layer, ())
    named, problems = packs.named(file)
    if problems and not named:
        raise HookError(f"{file}: {problems[0].message}", problems[0].remedy)
    broken = ""
    try:
        locked = {each.source: each for each in packs.read_lock(lock)} if os.path.lexists(lock) else {}
    except HookError as error:
        if not repairs or error.remedy == packs.UPGRADE:
            raise
        locked, broken = packs.in_force(lock), error.message
    if repairs:
        locked = {source: each for source, each in locked.items() if not packs.lacking(layer, each)}
    return Declarations(directory, layer, tuple((each, locked.get(each.source)) for each in named), broken)


def write(declared: Declarations, source: str, changed: tuple[NamedPack, LockedPack] | None) -> None:
    """Add or replace the pack of a source in `hooks.toml` and the lock; with None, remove it.

    Each file is replaced atomically. The lock first has both entries, so that no pack is ever without one. It is read
    again: another command may have changed it while a question was open.
    """
    try:
        declared = read(declared.directory, declared.layer)
    except HookError:  # it is broken, and repaired by this
        pass
    before = [locked for _, locked in declared.packs if locked]
    after = [each for each in before if each.source != source] + ([changed[1]] if changed else [])
    places.make_directories(declared.directory)
    _write_lock(declared.lock, [*after, *(each for each in before if each not in after)])
    entries = [_entry(changed[0])] if changed else []

    def is_ours(entry: Any) -> bool:
        return isinstance(entry, dict) and entry.get("source") == source

    settings_change.edit_file(declared.file, lambda text: toml_editor.with_tables(text, ("packs",), entries, is_ours))
    _write_lock(declared.lock, after)
    packs.remember(declared.file, declared.lock)


def _write_lock(file: str, locked: Sequence[LockedPack]) -> None:
    if locked:
        text = packs.lock_text(dict.fromkeys(locked))
        places.replace_file(file, text.encode(), sync=True)
        os.chmod(file, 0o644)  # it is committed, and holds no secrets
    elif os.path.lexists(file):
        os.unlink(file)


def _entry(pack: NamedPack) -> dict[str, Any]:
    entry: dict[str, Any] = {"source": pack.source}
    entry |= {"rev": pack.rev} if pack.rev else {}
    entry |= {"only": list(pack.only)} if pack.only is not None else {}
    settings: Mapping[str, Any] = pack.settings
    return {**entry, **({"settings": dict(settings)} if settings else {})}


def refuse_same_names(declared: Declarations, pack: NamedPack, locked: LockedPack, remedy: str) -> None:
    """Raise `HookError` if a hook of a pack has the same name as a hook of another pack there."""
    others = [each for each in declared.packs if each[0].source != pack.source]
    for name, other, this in packs.names_twice([*others, (pack, locked)]):
        if this == locked.name:
            raise HookError(f"the pack {other} has a hook called {name} too", remedy)
