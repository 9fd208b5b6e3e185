"""The folder format: `<name>/HOOK.md` with YAML front matter, and the script beside it.

The front matter is read when hooks are loaded, the body when it is shown, the script when it runs.
"""

from __future__ import annotations

import os
import re

from ..basics import light_json
from ..basics.named_tuples import NamedTuple
from ..errors import BadEvent, Problem
from ..events import BY_NAME, suggestion
from ..model import Hook
from . import expressions, front_matter, hook_fields
from .entry_points import FolderState, entry_point

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class FolderDefinition(NamedTuple):
    """The hook in a folder, None if there is an error, and its problems."""

    hook: Hook | None
    problems: tuple[Problem, ...] = ()


def read(
    folder: str, layer: str, changes: Mapping[str, Any] | None = None, seen: FolderState | None = None
) -> FolderDefinition:
    """Return the hook in a folder. `changes` are defaults and overrides from `hooks.toml`, as front-matter fields."""
    file = f"{folder}/HOOK.md"
    front = front_matter.read(file)
    if isinstance(front, Problem):
        return FolderDefinition(None, (front,))
    raw = front.raw
    if changes:
        override = changes.get("override", {})
        own, other = raw.get("metadata"), override.get("metadata")
        if isinstance(own, dict) and isinstance(other, dict):  # keys that an override does not name are kept
            override = {**override, "metadata": {**own, **other}}
        raw = {**changes.get("defaults", {}), **raw, **override}
    values, problems = hook_fields.check(hook_fields.FOLDER, raw, file, front.line_of)
    problems[:0] = front.problems
    matcher, matcher_problems = expressions.read(values["matcher"], file, front.line_of)
    problems += matcher_problems
    trigger = values["trigger"]
    if isinstance(trigger, str) and trigger not in BY_NAME:
        message = f"unknown event '{trigger}'"
        problems.append(
            Problem("unknown-event", file, front.line_of("trigger"), "trigger", message, suggestion(trigger))
        )
    name = values["name"]
    if isinstance(name, str):
        problems += _name_problems(name, folder, file, front)
    if any(problem.severity == "error" for problem in problems):
        return FolderDefinition(None, tuple(problems))
    spec = BY_NAME[trigger]
    if not spec.has_tool and (matcher.tool or matcher.pattern):
        problems.append(expressions.on_other_event(file, front.line_of("matcher"), trigger))
    if not values["description"].strip():
        line = front.line_of("description")
        problems.append(
            Problem(
                "no-description", file, line, "description", "no description", "describe in one line what the hook does"
            )
        )
    try:
        metadata = light_json.plain(values["metadata"])  # as JSON, which hooks get: a date becomes a string
    except BadEvent as error:
        line = front.line_of("metadata")
        problems.append(Problem("bad-value", file, line, "metadata", "'metadata' nests too deeply", error.remedy))
        return FolderDefinition(None, tuple(problems))
    _, script_problem = entry_point(folder, seen)
    if script_problem and metadata.get("guard") is None:  # a guard needs no script here
        problems.append(script_problem)
    on_failure = metadata.get("on_failure", "open")
    if on_failure not in ("block", "open"):
        message = f"'on_failure' is {on_failure!r}; it is treated as block"
        remedy = "write on_failure: block, or open, which is the default"
        problems.append(Problem("odd-on-failure", file, front.line_of("on_failure"), "on_failure", message, remedy))
    hook = Hook(
        name=name,
        event=spec.name,
        declared=trigger,
        format="folder",
        layer=layer,
        source=file,
        line=1,
        folder=folder,
        tool=matcher.tool,
        pattern=matcher.pattern,
        timeout=values["timeout"] / 1000,
        async_=values["async"],
        priority=values["priority"],
        description=values["description"],
        metadata=metadata,
        fail_closed=on_failure != "open",
    )
    return FolderDefinition(hook, tuple(problems))


_PLAIN_NAME = re.compile(r"[a-z0-9-]*").fullmatch


def _name_problems(name: str, folder: str, file: str, front: front_matter.FrontMatter) -> list[Problem]:
    if _PLAIN_NAME(name) and folder.endswith(f"/{name}"):
        return []
    line = front.line_of("name")
    if "/" in name or any(ord(char) < 32 or ord(char) == 127 for char in name):
        remedy = "use lower-case letters, digits and hyphens"
        return [Problem("bad-value", file, line, "name", f"'name' is {name!r}", remedy)]
    found = []
    if not _PLAIN_NAME(name):
        remedy = "use lower-case letters, digits and hyphens"
        found.append(Problem("odd-name", file, line, "name", f"the name '{name}' has other characters", remedy))
    if name != os.path.basename(folder):
        remedy = "give both the same name"
        message = f"the name is '{name}', the folder is '{os.path.basename(folder)}'"
        found.append(Problem("name-differs", file, line, "name", message, remedy))
    return found


def body(folder: str) -> str:
    """Return the Markdown below the front matter."""
    with open(os.path.join(folder, "HOOK.md"), encoding="utf-8-sig", errors="replace", newline="") as file:
        text = file.read().replace("\r\n", "\n")
    _, _, rest = text.partition("---\n")
    _, _, rest = rest.partition("\n---\n")
    return rest.strip("\n")
