"""What cannot be carried is listed with hook, key, value, reason and remedy; what can be carried is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from converting.ways import FILES, Converted, convert
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
        ("(?i)bash", "array", "[bB][aA][sS][hH]"),
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
    if not tool.startswith("(?"):
        assert back.hooks[0].tool == tool


def test_array_hooks_of_kimi_cli_have_expressions_of_python_and_its_names_of_tools(tmp_path: Path) -> None:
    source = table(tmp_path, matcher={"tool": r"(?P<x>Bash)\Z"})
    converted = convert(source, "array", tmp_path / "there", file=".kimi/config.toml")
    assert converted.hooks[0].tool == r"(?P<x>Bash)\Z|^Shell$"
    assert converted.losses == ()


def test_a_class_that_knows_other_scripts_is_a_note_for_tools_and_a_loss_for_texts(tmp_path: Path) -> None:
    noted = convert(table(tmp_path, matcher={"tool": r"mcp__\w+"}), "array", tmp_path / "there")
    assert noted.losses == ()
    assert any("\\w" in note.text for note in noted.notes)
    kimi_cli = write_config(tmp_path / ".kimi/config.toml", array_hook(GUARD, "Notification", matcher=r"task\d"))
    assert found(convert(kimi_cli, "array", tmp_path / "js")) == [("matcher", r"task\d", False)]


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


def test_a_folder_without_a_script_or_with_a_broken_one_is_left_out(tmp_path: Path) -> None:
    hooks = folder(tmp_path, "if true; then")
    assert [loss.key for loss in convert(hooks, "table", tmp_path / "a").losses if loss.left_out] == ["scripts"]
    (hooks / "guard" / "scripts" / "run.sh").unlink()
    assert [loss.key for loss in convert(hooks, "table", tmp_path / "b").losses if loss.left_out] == ["scripts"]
    assert len(convert(hooks, "folder", tmp_path / "c").hooks) == 1


@pytest.mark.parametrize(
    ("script", "to", "lost"),
    [
        ("""jq -r '.tool_input.command'; exit 2""", "array", None),
        ("""grep -o '"work_dir": "[^"]*"'""", "array", "work_dir"),
        ("""jq -r .event_type""", "array", "event_type"),
        ("""python3 -c 'import json, sys; json.load(sys.stdin)["tool_use_id"]'""", "array", "tool_use_id"),
        ("""python3 -c 'import json, sys; json.load(sys.stdin)["tool_use_id"]'""", "claude", None),
        ("""jq -r .tool_name""", "claude", "tool_name"),
        ("""node -e 'console.error("context")'""", "array", "context"),
        ("""jq -r .work_dir""", "table", None),
    ],
)
def test_what_a_script_reads_and_would_not_find_is_listed(
    tmp_path: Path, script: str, to: str, lost: str | None
) -> None:
    converted = convert(folder(tmp_path, script), to, tmp_path / "there")
    assert [loss.value for loss in converted.losses if loss.key == "payload"] == ([lost] if lost else [])


def test_a_script_that_the_command_names_is_looked_into(tmp_path: Path) -> None:
    script = tmp_path / "guard.py"
    script.write_text("import json, sys\nevent = json.load(sys.stdin)\nprint(event['cwd'])\n")
    converted = convert(array(tmp_path, f"python3 {script}"), "table", tmp_path / "there")
    assert found(converted) == [("payload", "cwd", False)]
    assert "cwd → work_dir" in converted.losses[0].why


def test_an_array_command_that_reads_its_own_words_gets_them_in_a_folder(tmp_path: Path) -> None:
    converted = convert(array(tmp_path, "jq -r .cwd"), "folder", tmp_path / "there")
    assert converted.losses == ()
    assert (converted.path / "pre-tool-call-0" / "scripts" / "run.py").exists()
    plain = convert(array(tmp_path / "b", "jq -r .tool_input"), "folder", tmp_path / "c")
    assert (plain.path / "pre-tool-call-0" / "scripts" / "run.sh").exists()


# ---- what it says


@pytest.mark.parametrize(
    ("script", "lost"),
    [
        ("echo no >&2; exit 2", None),
        ("""echo '{"decision": "deny"}'""", "decision"),
        ("""echo '{"modified_input": {}, "additional_context": "x"}'""", "modified_input, additional_context"),
    ],
)
def test_answers_that_the_agent_itself_may_not_understand_are_listed(
    tmp_path: Path, script: str, lost: str | None
) -> None:
    for to in ("claude", "codex", "gemini"):
        converted = convert(folder(tmp_path / to, script), to, tmp_path / to / "there")
        losses = [loss for loss in converted.losses if loss.key == "answer"]
        assert [loss.value for loss in losses] == ([lost] if lost else [])
        assert all("itself may not understand" in loss.why and "Tenterhook does" in loss.why for loss in losses)
    assert [loss.key for loss in convert(tmp_path / "claude/hooks", "table", tmp_path / "t").losses] == []


def test_a_script_that_is_not_there_may_say_anything(tmp_path: Path) -> None:
    source = array(tmp_path, "python3 /nowhere/guard.py")
    unseen = [("payload", "/nowhere/guard.py", False), ("answer", "/nowhere/guard.py", False)]
    assert found(convert(source, "claude", tmp_path / "there")) == unseen
    assert found(convert(source, "table", tmp_path / "table")) == unseen[:1]
    in_folder = convert(source, "folder", tmp_path / "folder")
    assert found(in_folder) == []
    assert found(convert(in_folder.path, "array", tmp_path / "back")) == []


@pytest.mark.parametrize(
    ("name", "event", "command", "lost"),
    [
        ("claude", "PreToolUse", """echo '{"hookSpecificOutput": {"permissionDecision": "deny"}}'""", []),
        ("claude", "PreToolUse", """echo '{"hookSpecificOutput": {"updatedInput": {}}}'""", ["updatedInput"]),
        (
            "codex",
            "PreToolUse",
            """echo '{"hookSpecificOutput": {"permissionDecision": "allow"}}'""",
            ["permissionDecision"],
        ),
        ("claude", "SessionStart", "cat AGENTS.md", ["pre-session", "text"]),
        ("gemini", "BeforeTool", "exit 2", []),
        ("gemini", "BeforeTool", "git status; exit 2", ["text"]),
        ("gemini", "BeforeTool", """jq -n '{decision: "deny", systemMessage: "no"}'""", ["systemMessage"]),
        ("gemini", "BeforeTool", """jq '.hookSpecificOutput|.systemMessage="no"'""", ["text", "systemMessage"]),
        ("claude", "PreToolUse", """echo '{"continue": false, "stopReason": "x"}'""", ["stopReason, continue"]),
    ],
)
def test_words_of_an_agent_that_mean_nothing_here_are_listed(
    tmp_path: Path, name: str, event: str, command: str, lost: list[str]
) -> None:
    converted = convert(agent(tmp_path, name, event, command), "folder", tmp_path / "there")
    assert [loss.value for loss in converted.losses if loss.key == "answer"] == lost


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


def test_variables_of_ours_are_listed_for_agents(tmp_path: Path) -> None:
    converted = convert(table(tmp_path, 'ls "$KIMI_WORK_DIR"'), "claude", tmp_path / "there")
    assert found(converted) == [("environment", "KIMI_WORK_DIR", False)]


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
