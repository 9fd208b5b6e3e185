"""Which tools look like a shell, by their names and parameters."""

from __future__ import annotations

from typing import Any

import pytest

from tenterhook.adapters.own_tools import advice, looks_like_shell

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("run_shell", {}),
        ("execBash", {}),
        ("run-command", {}),
        ("mcp__box__terminal_run", {}),
        ("sandbox", {"cmd": TEXT}),
        ("run", {"script": {"type": ["string", "null"]}}),
        ("run", {"command_line": {"anyOf": [TEXT]}}),
        ("run", {"command": {"type": "array"}}),
    ],
)
def test_these_do(name: str, parameters: dict[str, Any]) -> None:
    assert looks_like_shell(name, parameters)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("Bash", {"command": TEXT}),  # known, and guarded by its name
        ("run_shell_command", {"command": TEXT}),
        ("weather", {"city": TEXT}),
        ("publish", {"date": TEXT}),
        ("robot", {"command": {"type": "integer"}}),
        ("fetch", {"description": TEXT}),
        ("refresh", {}),
    ],
)
def test_these_do_not(name: str, parameters: dict[str, Any]) -> None:
    assert not looks_like_shell(name, parameters)


def test_the_advice_is_what_to_write() -> None:
    assert 'tools={"run_shell": "Shell"}' in advice("run_shell")
