"""What a target does otherwise with the same definition: effects, stdin, stdout, variables, order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from authoring.convert.ways import FILES, GUARD, agent, array, convert, folder, table
from support import array_hook, table_hook, write_config

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("kind", "event", "to", "differences"),
    [
        ("table", "before_tool", "folder", {}),
        ("array", "PreToolUse", "array", {}),
        ("array", "PreToolUse", "table", {"stdin": "cwd → work_dir"}),
        (
            "array",
            "UserPromptSubmit",
            "table",
            {"stdin": "prompt", "stdout": "plain text shown to the person → ignored"},
        ),
        ("table", "before_tool", "array", {"stdin": "event_type → hook_event_name 'PreToolUse'"}),
        (
            *("table", "before_tool", "claude"),
            {
                "stdin": "tool_name → tool_name in another form",
                "stdout": 'decision "deny" → permissionDecision "deny", modified_input → updatedInput',
                "environment": "KIMI_* → not set, TENTERHOOK_* → not set",
            },
        ),
        (
            *("claude", "PreToolUse", "folder"),
            {
                "stdin": "cwd → work_dir",
                "stdout": 'continue false → decision "deny"',
                "environment": "CLAUDE_PROJECT_DIR",
            },
        ),
        (
            *("claude", "SessionStart", "folder"),
            {"stdin": "cwd", "stdout": "plain text sent to the model → ignored", "environment": "CLAUDE_ENV_FILE"},
        ),
        ("codex", "PostToolUse", "folder", {"stdin": "tool_response → tool_output", "stdout": "updatedInput"}),
        (
            *("gemini", "AfterTool", "folder"),
            {
                "stdin": "tool_response → tool_output",
                "stdout": "a block, whose reason replaces the output → modified_output",
                "environment": "GEMINI_PROJECT_DIR",
            },
        ),
    ],
)
def test_what_the_target_sends_and_reads_differently_is_to_be_checked(
    tmp_path: Path, kind: str, event: str, to: str, differences: dict[str, str]
) -> None:
    made = {"table": table, "array": array}.get(kind, lambda place, event: agent(place, kind, event))
    checks = convert(made(tmp_path, event=event), to, tmp_path / "there").checks
    assert [check.key for check in checks] == list(differences)
    for check in checks:
        assert not check.left_out
        assert check.instead
        assert differences[check.key] in check.why


def test_a_script_is_not_read_so_that_any_may_have_to_be_checked(tmp_path: Path) -> None:
    said = [convert(array(tmp_path, command), "table", tmp_path / "there").checks for command in ("exit 2", "jq .cwd")]
    assert [check.why for check in said[0]] == [check.why for check in said[1]] != []


@pytest.mark.parametrize(
    ("event", "keys", "to", "severity"),
    [
        ("PreToolUse", {}, "table", "error"),
        ("PostToolUse", {}, "table", "warning"),  # it decides nothing in the array format
    ],
)
def test_what_could_cost_a_block_is_an_error(
    tmp_path: Path, event: str, keys: dict[str, Any], to: str, severity: str
) -> None:
    (check,) = convert(array(tmp_path, event=event, **keys), to, tmp_path / "there").checks
    assert check.severity == severity


@pytest.mark.parametrize(
    ("front", "to", "key", "severity"),
    [
        ({"metadata": {"on_failure": "block"}}, "table", "metadata.on_failure", "error"),
        ({"trigger": "session_start"}, "array", "answer", "error"),
        ({"trigger": "after_tool"}, "array", "async", "error"),
        ({"trigger": "before_stop"}, "array", "answer", "error"),
        ({"matcher": {"pattern": "rm"}}, "array", "matcher.pattern", "error"),
        ({"matcher": {"tool": "(?=x)x"}}, "codex", "matcher.tool", "error"),
        ({"priority": 999}, "table", "priority", "warning"),
        ({"description": "Guards"}, "array", "description", "warning"),
        ({"async": True}, "array", "async", "warning"),
    ],
)
def test_a_block_that_is_lost_is_an_error_and_words_are_a_warning(
    tmp_path: Path, front: dict[str, Any], to: str, key: str, severity: str
) -> None:
    losses = convert(folder(tmp_path, **front), to, tmp_path / "there").losses
    assert [loss.severity for loss in losses if loss.key == key] == [severity]


def test_hooks_that_waited_for_each_other_and_would_not_are_listed(tmp_path: Path) -> None:
    text = table_hook("exit 2", name="first") + table_hook(GUARD, name="second") + table_hook("x", "before_stop")
    source = write_config(tmp_path / FILES["table"], text)
    for to in ("array", "claude", "codex"):
        lost = convert(source, to, tmp_path / to).lost()
        assert "order" not in lost["first"]
        assert "order" in lost["second"]
    gemini = convert(source, "gemini", tmp_path / "gemini")
    assert "order" not in [loss.key for loss in gemini.losses]
    assert [hook.metadata.get("sequential", False) for hook in gemini.hooks] == [True, True, False]


def test_hooks_that_ran_side_by_side_and_would_not_are_listed(tmp_path: Path) -> None:
    source = write_config(tmp_path / FILES["array"], array_hook(GUARD) + array_hook(GUARD, matcher="Bash"))
    (loss,) = convert(source, "folder", tmp_path / "there").losses
    assert (loss.hook, loss.key) == ("PreToolUse[1]", "order")
    assert "ran once" in loss.why


def test_hooks_of_gemini_that_wait_and_do_not_are_listed_where_all_of_them_wait(tmp_path: Path) -> None:
    handlers = [{"hooks": [{"type": "command", "command": command}]} for command in ("one", "two")]
    file = agent(tmp_path, "gemini", "BeforeTool")
    file.write_text(json.dumps({"hooks": {"BeforeTool": [handlers[0], {**handlers[1], "sequential": True}]}}))
    assert convert(file, "table", tmp_path / "table").lost() == {"BeforeTool[0]": ["order"]}
    assert convert(file, "array", tmp_path / "array").lost() == {"BeforeTool[1]": ["order"]}
