"""The table format: `[[hooks.<event>]]` tables. An error rejects only that hook."""

from __future__ import annotations

from ..errors import Problem
from ..events import BY_NAME, suggestion
from ..model import Hook
from . import expressions, hook_fields, placeholders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .toml_files import LineNumbers


def read(tables: dict[str, Any], file: str, lines: LineNumbers) -> tuple[tuple[Hook, ...], tuple[Problem, ...]]:
    """Return the valid hooks of a file in order of definition, and all problems."""
    hooks: list[Hook] = []
    problems: list[Problem] = []
    for event, entries in tables.items():
        header = f"hooks.{event}"
        if event not in BY_NAME:
            line = lines.line_of(header, 0, "")
            message = f"unknown event '{event}'"
            problems.append(Problem("unknown-event", file, line, event, message, suggestion(event)))
            continue
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            line = lines.line_of(header, 0, "")
            message = f"'{header}' is not an array of tables"
            remedy = f"write [[{header}]] with double brackets"
            problems.append(Problem("bad-hooks-section", file, line, event, message, remedy))
            continue
        for number, entry in enumerate(entries):
            hook, found = _read_one(event, number, entry, file, lines)
            problems += found
            if hook:
                hooks.append(hook)
    return tuple(hooks), tuple(problems)


def _read_one(
    event: str, number: int, entry: dict[str, Any], file: str, lines: LineNumbers
) -> tuple[Hook | None, list[Problem]]:
    def line_of(key: str) -> int | None:
        return lines.line_of(f"hooks.{event}", number, key)

    values, problems = hook_fields.check(hook_fields.TABLE, entry, file, line_of)
    matcher, matcher_problems = expressions.read(values["matcher"], file, line_of)
    problems += matcher_problems
    command = values["command"]
    if isinstance(command, str):
        for placeholder in placeholders.template(command).misplaced:
            message = f"{placeholder.text} would be run as code ({placeholder.where})"
            remedy = "read the value from the JSON on stdin, or use the placeholder as a plain argument"
            problems.append(Problem("placeholder-in-code", file, line_of("command"), "command", message, remedy))
    if any(problem.severity == "error" for problem in problems):
        return None, problems
    spec = BY_NAME[event]
    if not spec.has_tool and (matcher.tool or matcher.pattern):
        problems.append(expressions.on_other_event(file, line_of("matcher"), event))
    hook = Hook(
        name=values["name"] or f"{event}[{number}]",
        event=spec.name,
        declared=event,
        format="table",
        layer="config",
        source=file,
        line=line_of(""),
        command=command,
        tool=matcher.tool,
        pattern=matcher.pattern,
        timeout=values["timeout"] / 1000,
        async_=values["async_"],
        description=values["description"],
    )
    return hook, problems
