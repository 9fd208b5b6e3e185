"""Expressions for a tool's name that find no tool of any agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog.checked import checked, only
from support import array_hook, folder_hook, table_hook, write_config
from tenterhook.catalog import tool_expressions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("tool", "remedy"),
    [
        ("Bash(deploy:*)", "write tool: Bash and pattern: '^deploy'"),
        ("Bash(git push:*)", "write tool: Bash and pattern: '^git push'"),
        ("Bash(npm run test *)", "write tool: Bash and pattern: '^npm run test'"),
        ("Edit|Bash(rm:*)", "write tool: Bash and pattern: '^rm'"),
        ("Read(./.env)", r"write tool: Read and pattern: '^\./\.env'"),
        ("WebFetch(domain:example.com)", "write tool: WebFetch"),
    ],
)
def test_a_permission_rule_of_another_program_is_an_error(project: Path, tool: str, remedy: str) -> None:
    made = folder_hook(project, "guard", matcher={"tool": tool})
    status, code, _, said = only(made)
    assert (status, code) == (1, "permission-syntax")
    assert remedy in said
    table = write_config(project / "t.toml", table_hook(":", matcher={"tool": tool}))
    array = write_config(project / "a.toml", array_hook(":", matcher=tool))
    assert [only(file)[:2] for file in (table, array)] == [(1, "permission-syntax")] * 2


def test_a_permission_rule_that_is_no_expression_is_named_as_what_it_is(project: Path) -> None:
    status, code, _, remedy = only(folder_hook(project, "guard", matcher={"tool": "Bash(*)"}))
    assert (status, code) == (1, "bad-expression")
    assert "permission rule" in remedy


@pytest.mark.parametrize(
    ("tool", "meant"),
    [
        ("Terminal", "Shell"),
        ("Bahs", "Bash"),
        ("^shell_$", "Shell"),
        ("file_write", "WriteFile"),
        ("Bash(npm)", "Bash"),
    ],
)
def test_an_expression_that_finds_no_known_tool_is_a_warning(project: Path, tool: str, meant: str) -> None:
    status, code, _, remedy = only(folder_hook(project, "guard", matcher={"tool": tool}))
    assert (status, code) == (0, "unknown-tool")
    assert f"did you mean {meant}?" in remedy


@pytest.mark.parametrize(
    ("tool", "meant"),
    [
        ("mcp:github:create_issue", "mcp:github/create_issue"),
        ("^mcp:github__create_issue$", "mcp:github/create_issue"),
        ("mcp:a/b|mcp:my-server:run", "mcp:my-server/run"),
    ],
)
def test_an_mcp_name_with_another_separator_is_a_warning(project: Path, tool: str, meant: str) -> None:
    status, code, _, remedy = only(folder_hook(project, "guard", matcher={"tool": tool}))
    assert (status, code) == (0, "unknown-tool")
    assert remedy.endswith(f"write {meant}")


FINE = [
    *("Shell", "Bash", "Write|Edit", "^Bash$", ".*", "Web(Fetch|Search)", "Write(?:File)?", "Task(Create)"),
    *("Terminal|Bash", "mcp__x__*", "mcp__github__.*", "^mcp__(a|b)__c$", "apply_patch", "TodoWrite", "Read(File)"),
    *("^mcp:", "mcp:github/", "^mcp:github/create_issue$", "mcp:(a|b)/x", "mcp:a__b/c", "mcp:[^/]*/create.*"),
]  # fmt: skip


@pytest.mark.parametrize("tool", FINE)
def test_an_expression_that_finds_a_tool_or_may_is_fine(project: Path, tool: str) -> None:
    assert checked(folder_hook(project, "guard", matcher={"tool": tool})) == (0, [])


def test_every_name_of_a_tool_is_known() -> None:
    assert len(set(tool_expressions.KNOWN)) == len(tool_expressions.KNOWN)
    assert all(tool_expressions.finds_a_known_tool("python", f"^{name}$") for name in tool_expressions.KNOWN)
