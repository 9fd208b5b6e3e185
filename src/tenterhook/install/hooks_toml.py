"""`hooks.toml` beside a person's hooks, edited to disable and enable single hooks; all else keeps its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import settings_change, toml_editor

if TYPE_CHECKING:
    from datetime import datetime

_DISABLE = ("hooks", "disable")


def disable(file: str, name: str, until: datetime | None = None) -> bool:
    """Disable a hook, in place of what the file says of it now; False if that is the same."""
    entry = {"name": name, **({"until": until} if until is not None else {})}
    return settings_change.edit_file(file, lambda text: toml_editor.with_tables(text, _DISABLE, [entry], _names(name)))


def enable(file: str, name: str) -> bool:
    """Remove every entry that disables a hook; False if there is none."""
    return settings_change.edit_file(file, lambda text: toml_editor.with_tables(text, _DISABLE, [], _names(name)))


def _names(name: str) -> Any:
    return lambda entry: entry.get("name") == name
