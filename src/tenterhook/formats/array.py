"""The array format: `[[hooks]]` tables with event, matcher, command, timeout. One error rejects the whole file."""

from __future__ import annotations

import os

from ..basics import places
from ..errors import Problem
from ..events import BY_NAME, suggestion
from ..model import Hook
from . import expressions, hook_fields
from .own_entries import is_own_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .toml_files import LineNumbers


def read(
    entries: Sequence[dict[str, Any]], file: str, lines: LineNumbers
) -> tuple[tuple[Hook, ...], tuple[Problem, ...]]:
    """Return the hooks of a file, none if there is an error, and all problems. Skips entries that `install` wrote."""
    dialect = expressions.PYTHON if _is_kimi_cli(file) else expressions.JAVASCRIPT
    hooks: list[Hook] = []
    problems: list[Problem] = []
    for number, entry in enumerate(entries):
        if is_own_command(str(entry.get("command"))):
            continue
        hook, found = _read_one(entry, number, file, lines, dialect)
        problems += found
        if hook:
            hooks.append(hook)
    if any(problem.severity == "error" for problem in problems):
        return (), tuple(problems)
    return tuple(hooks), tuple(problems)


def _is_kimi_cli(file: str) -> bool:
    """Whether a file is Kimi CLI's: in a `.kimi` folder, or in the one that `KIMI_SHARE_DIR` names."""
    folder = os.path.dirname(os.path.abspath(file))
    moved = "" if places.FIXED else os.environ.get("KIMI_SHARE_DIR", "")
    return os.path.basename(folder) == ".kimi" or folder == moved.rstrip("/")


def _read_one(
    entry: dict[str, Any], number: int, file: str, lines: LineNumbers, dialect: str
) -> tuple[Hook | None, list[Problem]]:
    def line_of(key: str) -> int | None:
        return lines.line_of("hooks", number, key)

    values, problems = hook_fields.check(hook_fields.ARRAY, entry, file, line_of, extra="unknown-key")
    event = values["event"]
    if isinstance(event, str) and event not in BY_NAME:
        message = f"unknown event '{event}'"
        problems.append(Problem("unknown-event", file, line_of("event"), "event", message, suggestion(event)))
    if problems:
        return None, problems
    spec = BY_NAME[event]
    if event != spec.array_name:
        remedy = f"write '{spec.array_name}'" if spec.array_name else "Kimi Code has no such event"
        message = f"Kimi Code refuses a file with the event name '{event}'"
        problems.append(Problem("foreign-event-name", file, line_of("event"), "event", message, remedy))
    matcher, never = values["matcher"], False
    if matcher:
        try:
            expressions.check(dialect, matcher)
        except expressions.BadExpression as error:
            never = True
            message = f"{error.message}; the hook matches nothing"
            remedy = "fix the expression"
            problems.append(Problem("never-matches-expression", file, line_of("matcher"), "matcher", message, remedy))
    hook = Hook(
        name=f"{event}[{number}]",
        event=spec.name,
        declared=event,
        format="array",
        layer="config",
        source=file,
        line=line_of(""),
        command=values["command"],
        tool=matcher or None if spec.has_tool else None,
        target=matcher or None if not spec.has_tool else None,
        dialect=dialect,
        timeout=float(values["timeout"]),
        fail_closed=values["fail_mode"] == "closed",
        never_matches=never,
    )
    return hook, problems
