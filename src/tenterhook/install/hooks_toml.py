"""Disabling and enabling single hooks in a `hooks.toml`; the rest of the file keeps its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import settings_change, toml_editor

if TYPE_CHECKING:
    from datetime import datetime

_DISABLE = ("hooks", "disable")


def disable(file: str, name: str, until: datetime | None = None) -> bool:
    """Disable a hook, replacing its entry if there is one. Return False if nothing changes."""
    entry = {"name": name, **({"until": until} if until is not None else {})}
    return settings_change.edit_file(file, lambda text: toml_editor.with_tables(text, _DISABLE, [entry], _names(name)))


def enable(file: str, name: str) -> bool:
    """Remove every entry that disables a hook. Return False if there is none."""
    return settings_change.edit_file(file, lambda text: toml_editor.with_tables(text, _DISABLE, [], _names(name)))


def _names(name: str) -> Any:
    return lambda entry: entry.get("name") == name
