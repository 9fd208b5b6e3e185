"""`hooks.toml` beside hook folders: switches, defaults, and changes to single hooks."""

from __future__ import annotations

import os

from ..basics.named_tuples import NamedTuple
from ..errors import Problem
from ..formats import hook_fields, toml_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FILE = "hooks.toml"
TOP = (
    hook_fields.Field("enabled", bool, True, meaning="false: none of the hooks that this file governs runs"),
    hook_fields.Field("debug", bool, False, meaning="say what each hook is given and how it ends"),
)
DISABLE = (
    hook_fields.Field("name", str, None, required=True, meaning="of the hook that does not run"),
    hook_fields.Field("until", object, meaning="a date and time: from then on it runs again; without it, it does not"),
)
DEFAULTS = tuple(field for field in hook_fields.FOLDER if field.key in ("timeout", "async", "priority"))


class LayerSettings(NamedTuple):
    """The content of one `hooks.toml`; `governs` are the layers whose hooks it may disable or override."""

    file: str = ""
    governs: tuple[str, ...] = ()
    enabled: bool = True
    debug: bool = False
    defaults: Mapping[str, Any] = {}
    disabled: Mapping[str, float | None] = {}  # by name: until when, in seconds since 1970
    overrides: Mapping[str, Mapping[str, Any]] = {}
    lines: Mapping[str, int | None] = {}  # of each override, by name
    has_packs: bool = False

    def disables(self, name: str, now: float) -> bool:
        """Whether a hook of that name is disabled at a time."""
        if name not in self.disabled:
            return False
        until = self.disabled[name]
        return until is None or now < until


def read(directory: str, governs: tuple[str, ...]) -> tuple[LayerSettings, list[Problem]]:
    """Return the settings in a directory of hooks, and their problems. Empty if the file is missing or broken."""
    file = os.path.join(directory, FILE)
    if not os.path.lexists(file):
        return LayerSettings(), []
    loaded = toml_files.load(file)
    if isinstance(loaded, Problem):
        return LayerSettings(), [loaded]
    document, lines = loaded
    hooks = document.get("hooks", {})
    if not isinstance(hooks, dict):
        remedy = "write [hooks], [hooks.defaults], [[hooks.disable]], [[hooks.override]]"
        return LayerSettings(), [Problem("bad-hooks-section", file, None, "hooks", "'hooks' is not a table", remedy)]

    def line_of(key: str) -> int | None:
        section = "hooks.defaults" if key in _table(hooks, "defaults") else "hooks"
        return lines.line_of(section, 0, key)

    nested = ("defaults", "disable", "override")
    top, problems = hook_fields.check(
        TOP, {key: value for key, value in hooks.items() if key not in nested}, file, line_of
    )
    defaults, found = hook_fields.check(DEFAULTS, _table(hooks, "defaults"), file, line_of)
    problems += found
    given = {key: value for key, value in defaults.items() if key in _table(hooks, "defaults")}
    disabled: dict[str, float | None] = {}
    overrides: dict[str, dict[str, Any]] = {}
    override_lines: dict[str, int | None] = {}
    for section, kind in (("defaults", dict), ("disable", list), ("override", list)):
        if section in hooks and not isinstance(hooks[section], kind):
            spelt = f"[hooks.{section}]" if kind is dict else f"[[hooks.{section}]]"
            line = lines.line_of(f"hooks.{section}", 0, "")
            message = f"'{section}' is not written as {spelt}; it does nothing"
            problems.append(Problem("bad-hooks-section", file, line, section, message, f"write {spelt}"))
    for section in ("disable", "override"):
        for number, entry in enumerate(_tables(hooks, section)):
            name = entry.get("name")
            if not isinstance(name, str):
                line = lines.line_of(f"hooks.{section}", number, "")
                message = f"[[hooks.{section}]] without a name"
                problems.append(Problem("missing-key", file, line, "name", message, 'add name = "…"'))
            elif section == "disable":
                problems += _disable(entry, name, number, disabled, file, lines)
            else:
                change = {key: value for key, value in entry.items() if key != "name"}
                overrides[name] = {**overrides.get(name, {}), **change}
                override_lines[name] = lines.line_of("hooks.override", number, next(iter(change), ""))
    wrong = {problem.key for problem in problems if problem.code == "bad-value"}
    return (
        LayerSettings(
            file,
            governs,
            top["enabled"] if "enabled" not in wrong else True,
            top["debug"] if "debug" not in wrong else False,
            {key: value for key, value in given.items() if key not in wrong},
            disabled,
            overrides,
            override_lines,
            "packs" in document,
        ),
        problems,
    )


def _disable(
    entry: Mapping[str, Any],
    name: str,
    number: int,
    disabled: dict[str, float | None],
    file: str,
    lines: toml_files.LineNumbers,
) -> list[Problem]:
    """Add one `[[hooks.disable]]` to `disabled`. With an invalid time it has no effect: the hook stays in force."""

    def line_of(key: str) -> int | None:
        return lines.line_of("hooks.disable", number, key)

    _, problems = hook_fields.check(DISABLE, entry, file, line_of)
    until = None
    if "until" in entry:
        until = moment(entry["until"])
        if until is None:
            message = f"'until' is {entry['until']!r}; the hook stays in force"
            remedy = "write a date and a time without quotes, such as 2026-01-15T17:40:00"
            return [*problems, Problem("bad-value", file, line_of("until"), "until", message, remedy)]
    known = disabled.get(name, 0.0)
    disabled[name] = None if known is None or until is None else max(known, until)
    return problems


def moment(until: Any) -> float | None:
    """Return a date and time of TOML in seconds since 1970, local time without an offset; None for anything else."""
    from datetime import datetime

    if not isinstance(until, datetime):
        return None
    try:
        return until.timestamp()
    except (ValueError, OverflowError, OSError):  # out of range
        return None


def _table(hooks: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = hooks.get(key)
    return value if isinstance(value, dict) else {}


def _tables(hooks: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = hooks.get(key)
    if not isinstance(value, list):
        return []
    return [entry if isinstance(entry, dict) else {} for entry in value]
