"""Checks of expressions for tool names: known tools, and the permission syntax of other programs."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ..agents import AGENTS
from ..basics import expression_cost
from ..events import NAMES_OF_TOOL
from ..formats import expressions

if TYPE_CHECKING:
    from collections.abc import Sequence

KNOWN = (*NAMES_OF_TOOL, *dict.fromkeys(tool for agent in AGENTS.values() for tool in agent.tools))

# Further words for tools, which no agent uses as names.
_ALSO_CALLED = {
    "Shell": ("terminal", "console", "command", "cmd", "execute", "exec", "run"),
    "WriteFile": ("filewrite", "createfile", "save", "newfile"),
    "ReadFile": ("fileread", "openfile", "cat"),
    "StrReplaceFile": ("fileedit", "editfile", "patch", "update", "modify", "change"),
    "FetchURL": ("fetch", "http", "curl", "browser", "url"),
}
_MISSPELT_MCP = re.compile(r"mcp:([\w-]+?)(?::|__)([\w-]*)\$?(?=$|\|)")  # `mcp:github:create`, `mcp:github__create`
_RULE = re.compile(r"(?:^|\|)\s*\^?([A-Za-z_]\w*)\((?!\?)([^()|]*)\)\$?\s*(?=$|\|)")


def finds_a_known_tool(dialect: str, expression: str) -> bool:
    """Whether an expression matches a tool of a known agent. True if that cannot be determined."""
    if expression_cost.is_exponential(expression):
        return True
    try:
        found = expressions.search(dialect, expression)
    except expressions.BadExpression:  # reported elsewhere
        return True
    return any(found(name) for name in KNOWN)


def may_mean_other_tools(expression: str) -> bool:
    """Whether an expression is for tools of an MCP server, whose names are not known."""
    return "mcp" in expression.lower() and not _MISSPELT_MCP.search(expression)


def permission_rule(dialect: str, expression: str) -> str | None:
    """Return the part of an expression that is another program's permission rule, such as `Bash(git push:*)`; or None.

    As an expression that matches only `Bashgit push`. A single word in parentheses is taken for an expression.
    """
    for rule in _RULE.finditer(expression):
        branch = rule[0].strip("| ")
        if rule[1] in KNOWN and re.search(r"\W", rule[2]) and not _finds(dialect, branch):
            return branch
    return None


def _finds(dialect: str, branch: str) -> bool:
    try:
        return any(map(expressions.search(dialect, branch), KNOWN))
    except expressions.BadExpression:  # such as `Bash(*)`
        return False


def instead_of_rule(rule: str, *, has_pattern: bool) -> str:
    """Return the remedy for another program's permission rule."""
    name, _, rest = rule.strip("^$ ").partition("(")
    asked = re.sub(r"[:\s]*\*+$", "", rest.removesuffix(")")).strip()
    if not has_pattern:
        return f"write {name}; it is an expression for the tool's name, and the hook checks the input itself"
    pattern = f" and pattern: '^{re.escape(asked)}'".replace("\\ ", " ") if asked and "*" not in asked else ""
    return f"it is an expression for the tool's name; write tool: {name}{pattern}"


def suggestion(expression: str) -> str:
    """Return a remedy for an expression that matches no tool, with the tools that were probably meant."""
    if misspelt := _MISSPELT_MCP.search(expression):
        return f"tools of MCP servers are called mcp:server/tool; write mcp:{misspelt[1]}/{misspelt[2]}"
    meant = dict.fromkeys(name for word in re.findall(r"\w+", expression) for name in _meant(word))
    known = f"did you mean {' or '.join(meant)}?" if meant else "tools are called Shell, WriteFile, ReadFile, …;"
    return f"{known} For a tool of your own, ignore this"


def _meant(word: str) -> Sequence[str]:
    lowered = {name.lower(): name for name in reversed(KNOWN)}
    plain = word.lower().replace("_", "")
    for name, others in _ALSO_CALLED.items():
        if plain in others or plain.removesuffix("tool") in others:
            return (name,)
    return [lowered[close] for close in get_close_matches(word.lower(), lowered, n=1, cutoff=0.7)]
