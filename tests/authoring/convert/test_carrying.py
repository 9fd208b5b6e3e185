"""What cannot be carried is listed with hook, key, value, reason and remedy; what can be carried is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from authoring.convert.ways import FILES, GUARD, agent, array, convert, finds, folder, found, table
from support import array_hook, folder_hook, table_hook, write_config

if TYPE_CHECKING:
    from pathlib import Path

NAME = ("name", "guard", False)


@pytest.mark.parametrize(
    ("front", "to", "expected"),
    [
        ({}, "table", []),
        ({}, "array", [NAME]),
        ({}, "gemini", []),
        ({"priority": 999}, "table", [("priority", 999, False)]),
        ({"description": "Guards"}, "array", [NAME, ("description", "Guards", False)]),
        ({"description": "Guards"}, "gemini", []),
        ({"timeout": 1500}, "array", [("timeout", "1.5 s", False), NAME]),
        ({"timeout": 1500}, "codex", [("timeout", "1.5 s", False), NAME]),
        ({"timeout": 1500}, "claude", [NAME]),
        ({"timeout": 1500}, "gemini", []),
        ({"async": True}, "table", []),
        ({"async": True}, "claude", [NAME]),
        ({"async": True}, "array", [("async", True, False), NAME]),
        ({"async": True}, "codex", [("async", True, False), NAME]),
        ({"async": True}, "gemini", [("async", True, False)]),
        ({"metadata": {"on_failure": "block"}}, "array", [NAME]),
        ({"metadata": {"on_failure": "block"}}, "table", [("metadata.on_failure", "block", False)]),
        ({"metadata": {"run": True, "n": [1]}}, "table", [("metadata.run", True, False), ("metadata.n", [1], False)]),
        ({"metadata": {"mode": "shadow"}}, "table", [("metadata.mode", "shadow", True)]),
        ({"matcher": {"tool": "Shell"}}, "claude", [NAME]),
        ({"matcher": {"pattern": "rm"}}, "array", [("matcher.pattern", "rm", True)]),
        ({"matcher": {"pattern": "rm"}}, "table", []),
        ({"matcher": {"tool": "x++"}}, "array", [("matcher.tool", "x++", True)]),
        ({"matcher": {"tool": "x++"}}, "table", []),
        ({"matcher": {"tool": "(?=x)x"}}, "codex", [("matcher.tool", "(?=x)x", False), NAME]),
        ({"trigger": "post-agent-turn"}, "array", [("event", "post-agent-turn", True)]),
        ({"trigger": "permission-result"}, "claude", [("event", "permission-result", True)]),
        ({"trigger": "pre-subagent"}, "gemini", [("event", "pre-subagent", True)]),
        ({"trigger": "session_start", "matcher": {"tool": "x"}}, "array", [("matcher", {"tool": "x"}, True)]),
        ({"trigger": "session_start", "matcher": {"tool": "x"}}, "table", []),
        ({"trigger": "session_start"}, "array", [("answer", "pre-session", False), NAME]),
        ({"trigger": "after_tool"}, "table", [("answer", "post-tool-call", False)]),
        ({"trigger": "after_tool"}, "array", [("async", False, False), NAME]),
        ({"trigger": "after_tool", "async": True}, "array", [NAME]),
        ({"trigger": "after_tool"}, "claude", [NAME]),
        ({"trigger": "before_stop"}, "array", [("answer", "pre-agent-turn-stop", False), NAME]),
        ({"trigger": "before_stop"}, "table", []),
    ],
)
def test_a_folder_loses_just_what_the_other_format_cannot_say(
    tmp_path: Path, front: dict[str, Any], to: str, expected: list[Any]
) -> None:
    converted = convert(folder(tmp_path, **front), to, tmp_path / "there")
    assert found(converted) == expected
    for loss in converted.losses:
        assert (loss.hook, loss.source) == ("guard", str(tmp_path / "hooks/guard/HOOK.md"))
        assert loss.why and loss.instead
    assert len(converted.hooks) == (0 if any(loss.left_out for loss in converted.losses) else 1)


@pytest.mark.parametrize(
    ("event", "keys", "to", "expected"),
    [
        ("PreToolUse", {}, "folder", []),
        ("PreToolUse", {"matcher": "Bash", "timeout": 5}, "table", []),
        ("PreToolUse", {"fail_mode": "closed"}, "folder", []),
        ("PreToolUse", {"fail_mode": "closed"}, "table", [("fail_mode", "closed", False)]),
        ("PreToolUse", {"matcher": r"\p{Lu}"}, "table", [("matcher", r"\p{Lu}", True)]),
        ("PreToolUse", {"matcher": r"\p{Lu}"}, "claude", []),
        ("PreToolUse", {"matcher": "("}, "folder", [("matcher", "(", True)]),
        ("PostToolUse", {}, "folder", []),
        ("PostToolUse", {}, "claude", []),
        ("PostToolUse", {}, "gemini", [("async", True, False)]),
        ("SessionStart", {"matcher": "startup"}, "folder", [("matcher", "startup", True)]),
        ("SessionStart", {"matcher": "startup"}, "gemini", [("matcher", "startup", True)]),
        ("SessionStart", {"matcher": "^startup$"}, "gemini", [("answer", "pre-session", False)]),
        ("UserPromptSubmit", {"matcher": "deploy"}, "claude", [("matcher", "deploy", True)]),
        ("UserPromptSubmit", {}, "folder", []),
        ("Stop", {"matcher": "x"}, "folder", [("matcher", "x", True)]),
        ("Notification", {"matcher": r"task\.completed"}, "claude", []),
        ("Notification", {"matcher": r"task\.completed"}, "folder", [("matcher", r"task\.completed", True)]),
    ],
)
def test_an_array_hook_loses_just_what_the_other_format_cannot_say(
    tmp_path: Path, event: str, keys: dict[str, Any], to: str, expected: list[Any]
) -> None:
    assert found(convert(array(tmp_path, event=event, **keys), to, tmp_path / "there")) == expected


def test_a_loss_names_the_place_in_the_file(tmp_path: Path) -> None:
    file = write_config(tmp_path / FILES["array"], array_hook("true") + array_hook(GUARD, fail_mode="closed"))
    (loss,) = [loss for loss in convert(file, "table", tmp_path / "there").losses if loss.key == "fail_mode"]
    assert (loss.hook, loss.source, loss.line) == ("PreToolUse[1]", str(file), 4)


def test_an_event_for_which_kimi_refuses_the_whole_file_is_listed(tmp_path: Path) -> None:
    source = table(tmp_path, event="permission-request")
    assert found(convert(source, "array", tmp_path / "a")) == []
    cli = convert(source, "array", tmp_path / "b", file=".kimi/config.toml")
    assert found(cli) == [("event", "PermissionRequest", False)]
    assert "Kimi CLI itself" in cli.losses[0].why
    told = convert(table(tmp_path / "c", event="agent-event", async_=True), "array", tmp_path / "d")
    assert found(told) == [("event", "AgentEvent", False)]


# ---- matchers


@pytest.mark.parametrize(
    ("tool", "to", "matcher"),
    [
        ("Shell", "array", "Shell|^Bash$"),
        ("Shell", "claude", "Shell|^Bash$"),
        ("Shell", "codex", "Shell|^Bash$"),
        ("Shell", "gemini", "Shell|^run_shell_command$"),
        ("Bash", "claude", "(?:Bash)"),
        ("Bash", "gemini", "Bash|^run_shell_command$"),
        ("^(Bash|Write)$", "claude", "Bash|Write"),
        ("mcp__.*", "claude", "mcp__.*"),
        ("(?P<x>Write)File", "claude", "(?<x>Write)File|^Write$"),
    ],
)
def test_a_matcher_means_the_same_here_and_finds_the_tool_there(
    tmp_path: Path, tool: str, to: str, matcher: str
) -> None:
    converted = convert(table(tmp_path, matcher={"tool": tool}), to, tmp_path / "there")
    assert [loss.key for loss in converted.losses] == []
    text = converted.path.read_text()
    assert json.dumps(matcher)[1:-1] in text or matcher in text
    back = convert(converted.path, "table", tmp_path / "back")
    assert [finds(hook, hook.tool) for hook in back.hooks] == [finds(hook, tool) for hook in back.hooks]


def test_array_hooks_of_kimi_cli_have_expressions_of_python_and_its_names_of_tools(tmp_path: Path) -> None:
    source = table(tmp_path, matcher={"tool": r"(?P<x>Bash)\Z"})
    converted = convert(source, "array", tmp_path / "there", file=".kimi/config.toml")
    assert converted.hooks[0].tool == r"(?P<x>Bash)\Z|^Shell$"
    assert converted.losses == ()


def test_a_class_that_knows_other_scripts_matters_in_prompts_alone(tmp_path: Path) -> None:
    assert convert(table(tmp_path, matcher={"tool": r"mcp__\w+"}), "array", tmp_path / "there").losses == ()
    kimi_cli = tmp_path / ".kimi/config.toml"
    write_config(kimi_cli, array_hook(GUARD, "Notification", matcher=r"task\d"))
    assert found(convert(kimi_cli, "array", tmp_path / "notified")) == []
    write_config(kimi_cli, array_hook(GUARD, "UserPromptSubmit", matcher=r"task\d"))
    (loss,) = convert(kimi_cli, "array", tmp_path / "prompted").losses
    assert (loss.key, loss.value, loss.left_out, loss.severity) == ("matcher", r"task\d", False, "error")


# ---- what it runs


def test_placeholders_become_a_script_in_a_folder_and_are_listed_elsewhere(tmp_path: Path) -> None:
    source = table(tmp_path, "black {{tool_input.file_path}}", "after_tool", async_=True)
    assert found(convert(source, "folder", tmp_path / "folder")) == []
    for to in ("array", "claude", "codex", "gemini"):
        (loss,) = convert(source, to, tmp_path / to).losses
        assert (loss.key, loss.value, loss.left_out) == ("command", "{{tool_input.file_path}}", True)
        assert "--to folder" in loss.instead
    there = convert(tmp_path / "folder" / "hooks", "array", tmp_path / "further")
    assert there.hooks[0].command == f"{tmp_path}/folder/hooks/format-python-after-call/scripts/run.py"


def test_text_that_looks_like_a_placeholder_is_not_made_one(tmp_path: Path) -> None:
    source = array(tmp_path, "echo '{{tool_name}}'")
    assert found(convert(source, "table", tmp_path / "there")) == [("command", "{{tool_name}}", True)]
    assert found(convert(source, "folder", tmp_path / "there")) == []
    assert found(convert(array(tmp_path / "b", "docker ps --format '{{.Names}}'"), "table", tmp_path / "c")) == []


def test_a_folder_without_a_script_is_left_out(tmp_path: Path) -> None:
    hooks = folder(tmp_path)
    (hooks / "guard" / "scripts" / "run.sh").unlink()
    assert [loss.key for loss in convert(hooks, "table", tmp_path / "b").losses if loss.left_out] == ["scripts"]
    assert len(convert(hooks, "folder", tmp_path / "c").hooks) == 1


def test_variables_of_an_agent_are_set_by_the_command_and_taken_away_again(tmp_path: Path) -> None:
    command = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/check'
    source = agent(tmp_path, "claude", "PreToolUse", command)
    there = convert(source, "array", tmp_path / "there")
    assert there.losses == ()
    assert there.hooks[0].command == f'export CLAUDE_PROJECT_DIR="$PWD"; {command}'
    assert convert(there.path, "claude", tmp_path / "back").hooks[0].command == command
    source = agent(tmp_path, "gemini", "BeforeTool", "run", env={"A": "it's 1"})
    there = convert(source, "table", tmp_path / "env")
    assert there.hooks[0].command == """export A='it'"'"'s 1'; run"""
    back = convert(there.path, "gemini", tmp_path / "env-back")
    assert (back.hooks[0].command, back.hooks[0].metadata["env"]) == ("run", {"A": "it's 1"})


def test_a_variable_that_the_target_sets_and_the_source_did_not_is_listed(tmp_path: Path) -> None:
    converted = convert(array(tmp_path, 'ls "$CLAUDE_PROJECT_DIR"'), "claude", tmp_path / "there")
    assert found(converted) == [("environment", "CLAUDE_PROJECT_DIR", False)]


def test_a_variable_that_is_set_and_not_named_is_kept_for_the_programs_that_read_it(tmp_path: Path) -> None:
    command = 'export CLAUDE_PROJECT_DIR="$PWD"; run'
    there = convert(agent(tmp_path, "codex", "PreToolUse", command), "claude", tmp_path / "there")
    assert there.hooks[0].command == command
    assert convert(there.path, "codex", tmp_path / "back").hooks[0].command == command


def test_handlers_and_events_that_are_no_hooks_here_are_listed(tmp_path: Path) -> None:
    file = tmp_path / FILES["claude"]
    file.parent.mkdir()
    handlers = [{"type": "command", "command": GUARD, "timeout": 30}, {"type": "prompt", "prompt": "?"}]
    file.write_text(
        json.dumps({"hooks": {"PreToolUse": [{"hooks": handlers}], "WorktreeCreate": [{"hooks": handlers}]}})
    )
    converted = convert(file, "table", tmp_path / "there")
    assert len(converted.hooks) == 1
    assert [(loss.key, loss.left_out) for loss in converted.losses] == [("type", True), ("WorktreeCreate", True)]


# ---- together


def test_the_order_of_tables_is_the_order_of_folders(tmp_path: Path) -> None:
    text = "".join(table_hook(f"echo {name}", name=name) for name in ("quick", "deep", "another", "zero"))
    converted = convert(write_config(tmp_path / FILES["table"], text), "folder", tmp_path / "there")
    assert converted.losses == ()
    assert [hook.name for hook in sorted(converted.hooks, key=lambda hook: -hook.priority)] == [
        *("quick", "deep", "another", "zero")
    ]
    back = convert(converted.path, "table", tmp_path / "back")
    assert [hook.name for hook in back.hooks] == ["quick", "deep", "another", "zero"]


def test_priorities_of_folders_are_the_order_of_a_file(tmp_path: Path) -> None:
    for name, priority in (("a", 10), ("b", 100), ("c", 999)):
        folder_hook(tmp_path / "hooks", name, GUARD, priority=priority)
    converted = convert(tmp_path / "hooks", "table", tmp_path / "there")
    assert [hook.name for hook in converted.hooks] == ["c", "b", "a"]


def test_a_name_that_is_given_twice_or_is_no_name_of_a_folder_is_changed_and_listed(tmp_path: Path) -> None:
    text = "".join(table_hook(GUARD, f"{when}_tool", name=name, async_=True) for when, name in NAMES)
    converted = convert(write_config(tmp_path / FILES["table"], text), "folder", tmp_path / "there")
    assert sorted(hook.name for hook in converted.hooks) == ["block-calls", "block-calls-2", "guard", "guard-2"]
    assert found(converted) == [("name", "a/b", False), ("name", "..", False), ("name", "guard", False)]


NAMES = [("before", "guard"), ("before", "a/b"), ("before", ".."), ("after", "guard")]


def test_several_sources_of_different_kinds_become_one(tmp_path: Path) -> None:
    paths = [table(tmp_path), array(tmp_path), folder(tmp_path)]
    converted = convert(paths, "table", tmp_path / "there")
    assert [hook.name for hook in converted.hooks] == ["before_tool[0]", "before_tool[1]", "guard"]


def test_the_settings_beside_folders_count(tmp_path: Path) -> None:
    hooks = folder(tmp_path)
    folder_hook(hooks, "off", GUARD)
    disabled, changed = '[[hooks.disable]]\nname = "off"\n', '[[hooks.override]]\nname = "guard"\nasync = true\n'
    (hooks / "hooks.toml").write_text(f"[hooks.defaults]\ntimeout = 1000\n{disabled}{changed}")
    converted = convert(hooks, "table", tmp_path / "there")
    assert [(hook.name, hook.timeout, hook.async_) for hook in converted.hooks] == [("guard", 1.0, True)]
    assert ("off", f"not converted: {hooks}/hooks.toml switches it off") in converted.notes
    copied = convert(hooks, "folder", tmp_path / "copy")
    assert (copied.hooks[0].timeout, copied.hooks[0].async_) == (1.0, True)
    assert (copied.path / "guard" / "HOOK.md").read_text().endswith("# guard\n")
