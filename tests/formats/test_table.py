"""The table format (section 2 of the contract): one mistake refuses that hook only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from formats.toml_text import read
from support import table_hook

if TYPE_CHECKING:
    from pathlib import Path


def test_every_table_field_is_read(tmp_path: Path) -> None:
    text = table_hook(
        "x",
        name="n",
        type="command",
        matcher={"tool": "Shell", "pattern": "rm"},
        timeout=1000,
        async_=True,
        description="d",
    )
    (hook,) = read(tmp_path, text).hooks
    assert (hook.name, hook.event, hook.declared, hook.command) == ("n", "pre-tool-call", "before_tool", "x")
    assert (hook.tool, hook.pattern, hook.timeout, hook.async_, hook.description) == ("Shell", "rm", 1.0, True, "d")
    assert hook.dialect == "python"


def test_an_unnamed_table_hook_is_named_by_event_and_number(tmp_path: Path) -> None:
    found = read(tmp_path, table_hook("a") + table_hook("b")).hooks
    assert [hook.name for hook in found] == ["before_tool[0]", "before_tool[1]"]


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (table_hook("x", event="before_toll"), "unknown-event"),
        ("[hooks.before_agent]\ncommand = 'x'\n", "bad-hooks-section"),
        ("[[hooks.before_agent]]\nname = 'n'\n", "missing-key"),
        (table_hook("x", timeout=50), "bad-value"),
        (table_hook("x", type="prompt"), "bad-value"),
        (table_hook("x", matcher={"pattern": "("}), "bad-expression"),
        (table_hook("sh -c 'echo {{tool_name}}'"), "placeholder-in-code"),
    ],
)
def test_one_mistake_in_a_table_file_refuses_that_hook_only(tmp_path: Path, entry: str, code: str) -> None:
    found = read(tmp_path, table_hook("good", event="after_tool") + "\n" + entry)
    assert [hook.command for hook in found.hooks] == ["good"]
    assert [problem.code for problem in found.problems] == [code]
    assert found.problems[0].line is not None


def test_an_unknown_table_key_is_a_warning(tmp_path: Path) -> None:
    found = read(tmp_path, table_hook("x", asynk=True))
    assert len(found.hooks) == 1
    assert [(problem.code, problem.severity) for problem in found.problems] == [("ignored-key", "warning")]
