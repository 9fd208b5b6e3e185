"""Tools of an agent that look like a shell and have a name that Tenterhook does not know."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..events import NAMES_OF_TOOL

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES = frozenset(("shell", "bash", "sh", "zsh", "powershell", "terminal", "subprocess", "command", "commands", "cmd"))
_PARAMETERS = frozenset(("command", "commands", "cmd", "script", "commandline"))


class UnnamedToolWarning(UserWarning):
    """A tool may run shell commands, but matchers, rules and guards for `Shell` do not apply to it."""


def looks_like_shell(name: str, parameters: Mapping[str, Any]) -> bool:
    """Return whether a tool of an unknown name may run shell commands, by its name or a string parameter."""
    if name in NAMES_OF_TOOL:
        return False
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return any(word.lower() in _NAMES for word in words) or any(
        key.replace("_", "").lower() in _PARAMETERS and _may_be_text(schema) for key, schema in parameters.items()
    )


def _may_be_text(schema: Any) -> bool:
    kinds = schema.get("type", "string") if isinstance(schema, dict) else "string"
    return "string" in kinds or "array" in kinds


def advice(name: str) -> str:
    """Return the text of the warning."""
    return (
        f"the tool {name!r} looks like a shell, but guards and rules for Shell do not apply to it: "
        f'name it with tools={{"{name}": "Shell"}}, or as "other" if it is not one'
    )
