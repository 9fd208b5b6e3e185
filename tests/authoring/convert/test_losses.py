"""What cannot be carried is listed with hook, key, value, reason and remedy; what can be carried is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from authoring.convert.ways import FILES, Converted, convert, finds
from support import array_hook, folder_hook, table_hook, write_config

if TYPE_CHECKING:
    from pathlib import Path

GUARD = "cat > /dev/null; echo no >&2; exit 2"


def table(directory: Path, command: str = GUARD, event: str = "before_tool", **keys: Any) -> Path:
    return write_config(directory / FILES["table"], table_hook(command, event, **keys))


def array(directory: Path, command: str = GUARD, event: str = "PreToolUse", **keys: Any) -> Path:
    return write_config(directory / FILES["array"], array_hook(command, event, **keys))


def agent(directory: Path, name: str, event: str, command: str = GUARD, matcher: str = "", **keys: Any) -> Path:
    group = {"matcher": matcher, "hooks": [{"type": "command", "command": command, "timeout": 30, **keys}]}
    file = directory / FILES[name]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"hooks": {event: [group]}}))
    return file


def folder(directory: Path, script: str = GUARD, trigger: str = "pre-tool-call", **front: Any) -> Path:
    return folder_hook(directory / FILES["folder"], "guard", script, trigger, **{"description": "", **front}).parent


def found(converted: Converted) -> list[tuple[str, Any, bool]]:
    return [(loss.key, loss.value, loss.left_out) for loss in converted.losses]


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
    assert there.hooks[0].command == f"{tmp_path}/folder/hooks/post-tool-call-0/scripts/run.py"


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


# ---- what it reads and prints


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
    assert sorted(hook.name for hook in converted.hooks) == ["guard", "guard-2", "pre-tool-call-0", "pre-tool-call-1"]
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
