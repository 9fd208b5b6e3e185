"""`hooks.toml` beside hook folders: switches, defaults, and changes to single hooks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Problem
from ..formats import fields, toml_files

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "hooks.toml"
_TOP = (fields.Field("enabled", bool, True), fields.Field("debug", bool, False))
_DEFAULTS = tuple(field for field in fields.FOLDER if field.key in ("timeout", "async", "priority"))


class Settings(NamedTuple):
    """What one `hooks.toml` says. `governs` are the layers whose hooks it may disable or override."""

    file: str = ""
    governs: tuple[str, ...] = ()
    enabled: bool = True
    debug: bool = False
    defaults: Mapping[str, Any] = {}
    disabled: tuple[str, ...] = ()
    overrides: Mapping[str, Mapping[str, Any]] = {}


def read(directory: str, governs: tuple[str, ...]) -> tuple[Settings, list[Problem]]:
    """The settings of a directory of hooks; without the file, or with a broken one, there are none."""
    file = os.path.join(directory, FILE)
    if not os.path.lexists(file):
        return Settings(), []
    loaded = toml_files.load(file)
    if isinstance(loaded, Problem):
        return Settings(), [loaded]
    document, lines = loaded
    hooks = document.get("hooks", {})
    if not isinstance(hooks, dict):
        message, remedy = (
            "'hooks' is not a table",
            "write [hooks], [hooks.defaults], [[hooks.disable]], [[hooks.override]]",
        )
        return Settings(), [Problem("bad-hooks-section", file, None, "hooks", message, remedy)]

    def line_of(key: str) -> int | None:
        return lines.line_of("hooks.override", 0, key)

    nested = ("defaults", "disable", "override")
    top, problems = fields.check(_TOP, {key: value for key, value in hooks.items() if key not in nested}, file, line_of)
    defaults, found = fields.check(_DEFAULTS, _table(hooks, "defaults"), file, line_of)
    problems += found
    given = {key: value for key, value in defaults.items() if key in _table(hooks, "defaults")}
    disabled, overrides = [], {}
    for section in ("disable", "override"):
        for number, entry in enumerate(_tables(hooks, section)):
            name = entry.get("name")
            if not isinstance(name, str):
                line = lines.line_of(f"hooks.{section}", number, "")
                message = f"[[hooks.{section}]] without a name"
                problems.append(Problem("missing-key", file, line, "name", message, 'add name = "…"'))
            elif section == "disable":
                disabled.append(name)
            else:
                overrides[name] = {key: value for key, value in entry.items() if key != "name"}
    wrong = {problem.key for problem in problems if problem.code == "bad-value"}
    return (
        Settings(
            file,
            governs,
            top["enabled"] if "enabled" not in wrong else True,
            top["debug"] if "debug" not in wrong else False,
            {key: value for key, value in given.items() if key not in wrong},
            tuple(disabled),
            overrides,
        ),
        problems,
    )


def _table(hooks: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = hooks.get(key)
    return value if isinstance(value, dict) else {}


def _tables(hooks: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = hooks.get(key)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
