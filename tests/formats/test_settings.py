"""Hooks in other agents' own settings: definitions, what they are sent, what they may say."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from support import decide, shell_call, until
from tenterhook import Engine, Event
from tenterhook.agents import dialect
from tenterhook.errors import UnknownEvent
from tenterhook.events import AGENTS
from tenterhook.formats import agent_answers, agent_payloads, toml_files
from tenterhook.model import Hook

CAPTURES = sorted((Path(__file__).parent / "data" / "captures").rglob("*.json"))
NAMES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
}
SAVE = "cat > part; mv part sent"


# Needs what is said in evaluation.py and commands.py for these formats.
def write(folder: Path, agent: str, hooks: dict[str, Any], **beside: Any) -> Path:
    """An agent's settings with these hooks: event to groups, or to a command that runs for all."""
    events = {
        event: [{"hooks": [{"type": "command", "command": groups}]}] if isinstance(groups, str) else groups
        for event, groups in hooks.items()
    }
    file = folder / NAMES[agent]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({**beside, "hooks": events}, indent=2))
    return file


def command(line: str, **keys: Any) -> dict[str, Any]:
    return {"type": "command", "command": line, **keys}


def group(*handlers: dict[str, Any], **keys: Any) -> list[dict[str, Any]]:
    return [{**keys, "hooks": list(handlers)}]


def says(answer: dict[str, Any]) -> str:
    return "cat > /dev/null; printf '%s' '" + json.dumps(answer).replace("'", "'\\''") + "'"


def sent(project: Path, agent: str, declared: str, event: Event) -> dict[str, Any]:
    """What a hook of an agent's settings finds on stdin."""
    (project / "sent").unlink(missing_ok=True)
    decide(write(project, agent, {declared: SAVE}), event)
    until((project / "sent").exists)
    got: dict[str, Any] = json.loads((project / "sent").read_text())
    return got


# ---- definitions


@pytest.mark.parametrize("agent", AGENTS)
def test_the_path_says_whose_settings_they_are(tmp_path: Path, agent: str) -> None:
    (hook,) = toml_files.read(str(write(tmp_path, agent, {"SessionStart": "x"}))).hooks
    assert (hook.format, hook.event, hook.declared, hook.command) == (agent, "pre-session", "SessionStart", "x")
    assert (hook.name, hook.layer, hook.priority) == ("SessionStart[0]", "config", 100)


@pytest.mark.parametrize(
    ("event", "agent"), [("BeforeTool", "gemini"), ("PreToolUse", "claude"), ("Interrupt", "codex")]
)
def test_elsewhere_the_events_say_it(tmp_path: Path, event: str, agent: str) -> None:
    file = tmp_path / "hooks.json"
    file.write_text(json.dumps({"hooks": {event: group(command("x"))}}))
    assert [hook.format for hook in toml_files.read(str(file)).hooks] == [agent]


def test_every_key_of_a_handler_is_read(tmp_path: Path) -> None:
    handler = command("x", timeout=5, name="guard", description="d", env={"A": 1}, statusMessage="…")
    handler["async"] = True
    file = write(tmp_path, "qwen", {"PreToolUse": group(handler, matcher="Bash", sequential=True)})
    (hook,) = toml_files.read(str(file)).hooks
    assert (hook.name, hook.description, hook.timeout, hook.async_) == ("guard", "d", 5.0, True)
    assert (hook.tool, hook.in_parallel, hook.metadata["env"]) == ("Bash", False, {"A": "1"})
    assert hook.line is not None
    assert '"type"' in file.read_text().splitlines()[hook.line]


@pytest.mark.parametrize(
    ("agent", "given", "seconds"),
    [
        ("claude", None, 600),
        ("claude", 5, 5),
        ("claude", 0.5, 0.5),
        ("codex", None, 600),
        ("codex", 7, 7),
        ("gemini", None, 60),
        ("gemini", 1500, 1.5),
        ("qwen", None, 600),
        ("qwen", 30, 30),
        ("qwen", 30000, 30),
    ],
)
def test_timeouts_are_in_the_agents_unit(tmp_path: Path, agent: str, given: float | None, seconds: float) -> None:
    keys = {} if given is None else {"timeout": given}
    (hook,) = toml_files.read(str(write(tmp_path, agent, {"SessionEnd": group(command("x", **keys))}))).hooks
    assert hook.timeout == seconds


def test_codex_has_its_hooks_in_toml_too(tmp_path: Path) -> None:
    file = tmp_path / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text(
        textwrap.dedent("""\
        model = "m"

        [[hooks.PreToolUse]]
        matcher = "^Bash$"
        [[hooks.PreToolUse.hooks]]
        type = "command"
        command = "first"
        timeout = 5
        [[hooks.PreToolUse.hooks]]
        type = "prompt"

        [[hooks.Stop]]
        hooks = [{ type = "command", command = "last" }]

        [hooks.state."x:stop:0:0"]
        trusted_hash = "sha256:0"
        """)
    )
    read = toml_files.read(str(file))
    assert [(hook.format, hook.command, hook.timeout, hook.line) for hook in read.hooks] == [
        ("codex", "first", 5.0, 5),
        ("codex", "last", 600.0, 12),
    ]
    assert [(problem.code, problem.line) for problem in read.problems] == [("foreign-handler", 10)]


def test_a_table_without_inner_hooks_stays_the_table_format(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[[hooks.PreToolUse]]\ncommand = "x"\n')
    assert [hook.format for hook in toml_files.read(str(file)).hooks] == ["table"]


def test_comments_and_trailing_commas_are_no_mistake(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(
        textwrap.dedent("""\
        {
          // my hooks
          "url": "https://example.org/*not a comment*/",
          "hooks": { /* one
            only */
            "Stop": [{"hooks": [
              {"type": "command", "command": "echo '// no comment ,}'"},
            ]}],
          },
        }
        """)
    )
    read = toml_files.read(str(file))
    assert [(hook.command, hook.line) for hook in read.hooks] == [("echo '// no comment ,}'", 7)]
    assert read.problems == ()


@pytest.mark.parametrize(
    ("handler", "code", "key"),
    [
        ({"type": "prompt", "prompt": "is it safe?"}, "foreign-handler", "type"),
        ({"type": "http", "url": "http://127.0.0.1"}, "foreign-handler", "type"),
        (command("x", **{"if": "Bash(git *)"}), "foreign-handler", "if"),
        (command("x", shell="powershell"), "foreign-handler", "shell"),
        ({"type": "command"}, "missing-key", "command"),
        (command(" "), "bad-value", "command"),
        (command("x", timeout="5"), "bad-value", "timeout"),
        (command("x", timeout=0), "bad-value", "timeout"),
    ],
)
def test_a_handler_that_cannot_run_takes_no_other_down(
    tmp_path: Path, handler: dict[str, Any], code: str, key: str
) -> None:
    file = write(tmp_path, "claude", {"PreToolUse": group(command("good"), handler), "Stop": "also"})
    read = toml_files.read(str(file))
    assert [hook.command for hook in read.hooks] == ["good", "also"]
    assert [(problem.code, problem.key) for problem in read.problems] == [(code, key)]
    assert read.problems[0].line is not None
    assert read.problems[0].line > 5


@pytest.mark.parametrize(
    ("agent", "event"), [("claude", "PostToolBatch"), ("codex", "PreModelRequest"), ("gemini", "BeforeModel")]
)
def test_an_event_without_a_counterpart_is_a_warning(tmp_path: Path, agent: str, event: str) -> None:
    read = toml_files.read(str(write(tmp_path, agent, {event: "x", "SessionStart": "y"})))
    assert [hook.command for hook in read.hooks] == ["y"]
    assert [(problem.code, problem.severity, problem.line) for problem in read.problems] == [
        ("foreign-event", "warning", 3)
    ]


def test_a_misspelt_event_is_told_the_right_one(tmp_path: Path) -> None:
    (problem,) = toml_files.read(str(write(tmp_path, "claude", {"PreToolUSe": "x"}))).problems
    assert problem.remedy == "did you mean 'PreToolUse'?"


def test_an_unknown_key_is_a_warning(tmp_path: Path) -> None:
    file = write(tmp_path, "claude", {"Stop": group(command("x", tiemout=3), matchr="")})
    read = toml_files.read(str(file))
    assert len(read.hooks) == 1
    assert [(problem.code, problem.key) for problem in read.problems] == [
        ("ignored-key", "matchr"),
        ("ignored-key", "tiemout"),
    ]


def test_our_own_entries_are_passed_over_in_silence(tmp_path: Path) -> None:
    ours = command("python3 /home/me/.local/share/tenterhook/bridge.py --host claude-code")
    file = write(tmp_path, "claude", {"PreToolUse": group(ours, command("theirs")), "PostToolBatch": group(ours)})
    read = toml_files.read(str(file))
    assert [(hook.command, hook.name) for hook in read.hooks] == [("theirs", "PreToolUse[0]")]
    assert read.problems == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "bad-json"),
        ("[" * 100_000, "bad-json"),
        ("[]", "bad-hooks-section"),
        ('{"hooks": 3}', "bad-hooks-section"),
        ('{"hooks": {"Stop": {"hooks": []}}}', "bad-hooks-section"),
        ('{"hooks": {"Stop": [{}]}}', "missing-key"),
        ('{"hooks": {"Stop": [{"hooks": 3}]}}', "bad-value"),
        ('{"hooks": {"Stop": [{"hooks": ["x"]}]}}', "foreign-handler"),
        ('{"model": "x"}', "no-hooks"),
        ('{"disableAllHooks": true, "hooks": {"Stop": []}}', "switched-off"),
        ('{"hooksConfig": {"enabled": false}, "hooks": {"Stop": []}}', "switched-off"),
    ],
)
def test_a_file_that_is_none_is_a_problem(tmp_path: Path, text: str, code: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(text)
    read = toml_files.read(str(file))
    assert (read.hooks, [problem.code for problem in read.problems]) == ((), [code])


def test_hooks_that_gemini_disables_by_name_are_off(tmp_path: Path) -> None:
    handlers = group(command("a", name="one"), command("b", name="two"))
    file = write(tmp_path, "gemini", {"BeforeTool": handlers}, hooksConfig={"disabled": ["one"]})
    read = toml_files.read(str(file))
    assert [hook.name for hook in read.hooks] == ["two"]
    assert [problem.code for problem in read.problems] == ["switched-off"]


def test_a_name_given_twice_is_used_once(tmp_path: Path) -> None:
    handlers = group(command("a", name="n"), command("b", name="n"))
    read = toml_files.read(str(write(tmp_path, "gemini", {"BeforeTool": handlers})))
    assert [hook.name for hook in read.hooks] == ["n", "BeforeTool[1]"]


def test_arguments_are_passed_without_a_shell(project: Path) -> None:
    handler = command("printf", args=["%s", "$HOME; {a b}"])
    verdict = decide(write(project, "claude", {"PreToolUse": group(handler)}))
    assert verdict.runs[0].stdout == "$HOME; {a b}"


# ---- matchers

EVERYTHING = ["Shell", "WriteFile", "mcp__memory__create"]


@pytest.mark.parametrize(
    ("agent", "matcher", "matched"),
    [
        *((agent, every, EVERYTHING) for agent in AGENTS for every in ("", "*")),
        ("claude", "Bash", ["Shell"]),
        ("claude", "Bas", []),
        ("claude", "Bash|Write", ["Shell", "WriteFile"]),
        ("claude", "Bash, Write", ["Shell", "WriteFile"]),
        ("claude", "mcp__memory", []),
        ("claude", "mcp__memory__.*", ["mcp__memory__create"]),
        ("claude", "^Wri", ["WriteFile"]),
        ("codex", "Bash", ["Shell"]),
        ("codex", "Bas", []),
        ("codex", "^(?i:bash)$", ["Shell"]),
        ("codex", "mcp__.*", ["mcp__memory__create"]),
        ("gemini", "run_shell", ["Shell"]),
        ("gemini", "mcp__", ["mcp__memory__create"]),
        ("qwen", "Bash", ["Shell"]),
        ("qwen", "Shell | write_file", ["Shell", "WriteFile"]),
        ("qwen", "|", []),
        *((agent, "[", []) for agent in AGENTS),
    ],
)
def test_a_matcher_is_read_as_its_agent_reads_it(project: Path, agent: str, matcher: str, matched: list[str]) -> None:
    event = "BeforeTool" if agent == "gemini" else "PreToolUse"
    engine = Engine.load(configs=[write(project, agent, {event: group(command("true"), matcher=matcher)})])
    reached = [tool for tool in EVERYTHING if engine.decide(shell_call(tool_name=tool)).runs]
    assert reached == matched
    refused = matcher == "|" or (matcher == "[" and agent != "gemini")
    assert [problem.code for problem in engine.problems] == (["never-matches-expression"] if refused else [])


@pytest.mark.parametrize("agent", AGENTS)
def test_without_a_tool_the_source_is_matched(project: Path, agent: str) -> None:
    file = write(project, agent, {"SessionStart": group(command("true"), matcher="resume")})
    engine = Engine.load(configs=[file])
    assert [len(engine.decide(Event("pre-session", source=each)).runs) for each in ("resume", "startup")] == [1, 0]


@pytest.mark.parametrize(("agent", "event"), [("claude", "Stop"), ("qwen", "Stop"), ("gemini", "AfterAgent")])
def test_a_matcher_where_there_is_nothing_to_match_is_ignored_and_said(project: Path, agent: str, event: str) -> None:
    engine = Engine.load(configs=[write(project, agent, {event: group(command("true"), matcher="Bash")})])
    assert [problem.code for problem in engine.problems] == ["ignored-key"]
    assert len(engine.decide(Event("pre-agent-turn-stop")).runs) == 1


# ---- what a hook is sent


def test_a_claude_hook_is_sent_claudes_words(project: Path) -> None:
    event = shell_call("ls", session_id="s", tool_use_id="t", transcript_path="/t.jsonl")
    assert sent(project, "claude", "PreToolUse", event) == {
        "session_id": "s",
        "transcript_path": "/t.jsonl",
        "cwd": str(project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "t",
    }


@pytest.mark.parametrize(
    ("agent", "response"),
    [
        ("claude", {"stdout": "out", "stderr": "", "interrupted": False, "isImage": False}),
        ("codex", "out"),
        ("gemini", {"llmContent": "out", "returnDisplay": "out"}),
        ("qwen", {"llmContent": "out", "returnDisplay": "out"}),
    ],
)
def test_a_result_has_the_agents_shape(project: Path, agent: str, response: Any) -> None:
    declared = "AfterTool" if agent == "gemini" else "PostToolUse"
    for output in ("out", {"stdout": "out", "stderr": "", "interrupted": False, "isImage": False}):
        got = sent(project, agent, declared, shell_call(event="post-tool-call", tool_output=output))
        assert got["tool_response"] == response
        assert got["tool_name"] == ("Bash" if agent in ("claude", "codex") else "run_shell_command")


@pytest.mark.parametrize("agent", AGENTS)
def test_a_prompt_is_one_string(project: Path, agent: str) -> None:
    declared = "BeforeAgent" if agent == "gemini" else "UserPromptSubmit"
    got = sent(project, agent, declared, Event("pre-agent-turn", prompt=[{"type": "text", "text": "do it"}]))
    assert (got["prompt"], got["hook_event_name"]) == ("do it", declared)
    assert ("timestamp" in got) is (agent in ("gemini", "qwen"))


@pytest.mark.parametrize("agent", AGENTS)
def test_a_stop_says_whether_it_was_stopped_before(project: Path, agent: str) -> None:
    declared, name = ("AfterAgent", "prompt_response") if agent == "gemini" else ("Stop", "last_assistant_message")
    event = Event("pre-agent-turn-stop", final_message={"role": "assistant", "content": "Done."}, step_count=3)
    got = sent(project, agent, declared, event)
    assert (got["stop_hook_active"], got[name]) == (False, "Done.")
    assert "step_count" not in got


def test_a_subagents_name_is_its_type(project: Path) -> None:
    got = sent(project, "claude", "SubagentStop", Event("post-subagent", subagent_name="coder", response="ok"))
    assert (got["agent_type"], got["last_assistant_message"], got["stop_hook_active"]) == ("coder", "ok", False)


def test_an_event_of_the_same_agent_is_sent_as_it_came_but_for_the_input(project: Path) -> None:
    native = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "a"}, "new": [1]}
    context = {"agent": {"name": "claude", "payload": native}}
    event = Event("pre-tool-call", tool_name="Bash", tool_input={"command": "b"}, context=context)
    assert sent(project, "claude", "PreToolUse", event) == {**native, "tool_input": {"command": "b"}}
    assert "new" not in sent(project, "qwen", "PreToolUse", event)


def test_what_only_the_agent_knows_is_added_where_no_more_was_kept(project: Path) -> None:
    context = {"agent": {"name": "claude", "payload": {"effort": None, "tool_use_id": "t"}}}
    got = sent(project, "claude", "PreToolUse", shell_call("b", context=context))
    assert (got["effort"], got["tool_use_id"], got["tool_name"], got["tool_input"]) == (
        None,
        "t",
        "Bash",
        {"command": "b"},
    )


@pytest.mark.parametrize("file", CAPTURES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_what_an_agent_sent_comes_back_as_it_was(file: Path) -> None:
    payload = json.loads(file.read_text())
    agent = file.parent.name
    event = agent_payloads.read(dialect(agent), payload)
    assert agent_payloads.write(dialect(agent), payload["hook_event_name"], event) == payload


def test_an_event_nobody_knows_is_no_event() -> None:
    for payload in ({"hook_event_name": "PostToolBatch"}, {"hook_event_name": ["x"]}, {}):
        with pytest.raises(UnknownEvent):
            agent_payloads.read(dialect("claude"), payload)


def test_hooks_find_the_agents_variables(project: Path) -> None:
    show = 'printf "%s %s %s" "$CLAUDE_PROJECT_DIR" "$GEMINI_PROJECT_DIR" "$OWN"'
    for agent, event, known in (("claude", "PreToolUse", 1), ("gemini", "BeforeTool", 2)):
        verdict = decide(write(project, agent, {event: group(command(show, env={"OWN": "mine"}))}))
        assert verdict.runs[0].stdout.split() == [str(project)] * known + ["mine"]


def test_what_a_claude_hook_exports_at_the_start_is_in_the_session(project: Path) -> None:
    line = 'echo "export FOUND=it" >> "$CLAUDE_ENV_FILE"'
    engine = Engine.load(configs=[write(project, "claude", {"SessionStart": line})])
    engine.decide(Event("pre-session", session_id="s"))
    assert engine.session_variables("s") == {"FOUND": "it"}


def test_a_plugins_hooks_know_its_folder() -> None:
    hook = Hook("n", "pre-session", "SessionStart", "claude", source="/plugins/it/hooks/hooks.json")
    assert (
        agent_payloads.variables(dialect("claude"), hook, Event("pre-session"))["CLAUDE_PLUGIN_ROOT"] == "/plugins/it"
    )


# ---- what it may say


@pytest.mark.parametrize("agent", AGENTS)
def test_exit_two_blocks(project: Path, agent: str) -> None:
    tool, stop = ("BeforeTool", "AfterAgent") if agent == "gemini" else ("PreToolUse", "Stop")
    line = "echo no >&2; exit 2"
    engine = Engine.load(configs=[write(project, agent, {tool: line, stop: line, "SessionStart": line})])
    for event in (shell_call(), Event("pre-agent-turn-stop")):
        verdict = engine.decide(event)
        assert (verdict.decision, verdict.reason) == ("deny", "no")
    assert engine.decide(Event("pre-session")).decision == "none"


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("word", ["block", "deny"])
def test_decision_block_and_deny_block(project: Path, agent: str, word: str) -> None:
    event = "BeforeTool" if agent == "gemini" else "PreToolUse"
    verdict = decide(write(project, agent, {event: says({"decision": word, "reason": "no"})}))
    assert (verdict.decision, verdict.reason) == ("deny", "no")


def claude(event: str, said: dict[str, Any], **more: Any) -> dict[str, Any]:
    return agent_answers.answer(dialect("claude"), event, said, **more)


@pytest.mark.parametrize(
    ("agent", "said", "action"),
    [
        ("claude", {"hookSpecificOutput": {"permissionDecision": "allow"}}, "approve"),
        ("claude", {"decision": "approve"}, "approve"),
        ("claude", {"decision": "allow"}, "allow"),
        ("codex", {"hookSpecificOutput": {"permissionDecision": "allow"}}, "allow"),
        ("codex", {"decision": "approve"}, "allow"),
        ("gemini", {"decision": "allow"}, "allow"),
        ("qwen", {"hookSpecificOutput": {"permissionDecision": "allow"}}, "allow"),
        ("claude", {"hookSpecificOutput": {"permissionDecision": "ask"}}, "ask"),
        ("qwen", {"hookSpecificOutput": {"permissionDecision": "deny"}}, "deny"),
        ("gemini", {"continue": False, "stopReason": "stop"}, "deny"),
        ("claude", {"continue": True}, "none"),
    ],
)
def test_only_what_skips_the_question_for_the_agent_does_so_here(
    project: Path, agent: str, said: dict[str, Any], action: str
) -> None:
    event = "BeforeTool" if agent == "gemini" else "PreToolUse"
    verdict = decide(write(project, agent, {event: says(said)}))
    assert verdict.decision == action
    assert not verdict.runs[0].decision.unreadable


@pytest.mark.parametrize(
    ("agent", "said", "becomes"),
    [
        ("claude", {"updatedInput": {"command": "ls -l"}}, {"command": "ls -l"}),
        ("codex", {"updatedInput": {"command": "x"}, "permissionDecision": "allow"}, {"command": "x"}),
        ("codex", {"updatedInput": {"command": "x"}}, None),
        ("gemini", {"tool_input": {"command": "x"}}, {"command": "x", "dir": "."}),
    ],
)
def test_the_input_is_modified_in_the_agents_way(project: Path, agent: str, said: Any, becomes: Any) -> None:
    event = "BeforeTool" if agent == "gemini" else "PreToolUse"
    file = write(project, agent, {event: says({"hookSpecificOutput": said})})
    verdict = decide(file, shell_call(tool_input={"command": "ls", "dir": "."}))
    assert verdict.modified_input == becomes


def test_context_and_messages_of_every_event_reach_the_verdict(project: Path) -> None:
    said = {"systemMessage": "for you", "hookSpecificOutput": {"additionalContext": "for the model"}}
    for agent, names in {
        "claude": ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"),
        "gemini": ("SessionStart", "BeforeAgent", "AfterTool"),
    }.items():
        engine = Engine.load(configs=[write(project, agent, dict.fromkeys(names, says(said)))])
        for name in names:
            verdict = engine.decide(Event(dialect(agent).events[name], tool_name="Bash", prompt="p"))
            assert (verdict.additional_context, verdict.messages) == (("for the model",), ("for you",)), name
            assert verdict.decision == "none"


@pytest.mark.parametrize(
    ("agent", "declared", "contexts", "messages"),
    [
        ("claude", "UserPromptSubmit", ("text",), ()),
        ("codex", "SessionStart", ("text",), ()),
        ("qwen", "UserPromptSubmit", ("text",), ()),
        ("gemini", "BeforeAgent", (), ("text",)),
        ("claude", "PreToolUse", (), ()),
    ],
)
def test_plain_text_goes_where_the_agent_puts_it(
    project: Path, agent: str, declared: str, contexts: tuple[str, ...], messages: tuple[str, ...]
) -> None:
    event = Event(dialect(agent).events[declared], tool_name="Bash", prompt="p")
    verdict = decide(write(project, agent, {declared: "echo text"}), event)
    assert (verdict.additional_context, verdict.messages) == (contexts, messages)


def test_a_start_cannot_be_blocked_but_the_reason_is_shown(project: Path) -> None:
    file = write(project, "claude", {"SessionStart": "echo no >&2; exit 2"})
    verdict = decide(file, Event("pre-session"))
    assert (verdict.decision, verdict.messages) == ("none", ("no",))


def test_a_hook_that_wants_the_agent_to_stop_does_not_keep_it_going(project: Path) -> None:
    said = {"decision": "block", "reason": "go on", "continue": False, "stopReason": "enough"}
    verdict = decide(write(project, "claude", {"Stop": says(said)}), Event("pre-agent-turn-stop"))
    assert (verdict.decision, verdict.messages) == ("none", ("enough",))


@pytest.mark.parametrize(
    ("decision", "action"),
    [
        ({"behavior": "allow"}, "approve"),
        ({"behavior": "deny", "message": "no"}, "deny"),
        ({"behavior": "allow", "updatedInput": {"command": "ls"}}, "approve"),
        ({"behavior": "allow", "updatedInput": {"command": "rm"}}, "none"),
        ({"behavior": "maybe"}, "none"),
    ],
)
def test_a_permission_is_given_by_its_behavior(project: Path, decision: dict[str, Any], action: str) -> None:
    said = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
    verdict = decide(
        write(project, "claude", {"PermissionRequest": says(said)}), shell_call(event="permission-request")
    )
    assert verdict.decision == action
    assert verdict.reason == decision.get("message")
    assert verdict.runs[0].failed == (decision["behavior"] == "maybe")


@pytest.mark.parametrize("said", [{"decision": "allow"}, {"decision": "approve"}])
def test_no_other_word_gives_a_permission(said: dict[str, Any]) -> None:
    assert claude("permission-request", said) == {}


def test_what_cannot_be_done_here_is_logged() -> None:
    said: dict[str, Any] = {"hookSpecificOutput": {"updatedToolOutput": {}}}
    assert claude("post-tool-call", said)["log"] == "not done here: hookSpecificOutput updatedToolOutput"


def test_our_own_words_are_understood_too() -> None:
    said = {"decision": "deny", "reason": "r", "modified_input": {"a": 1}, "additional_context": "c"}
    assert claude("pre-tool-call", said) == said


def test_hooks_of_one_event_run_beside_each_other_and_equal_commands_once(project: Path) -> None:
    line = "echo x >> ran; echo no >&2; exit 2"
    wait = "while [ ! -e other ]; do sleep 0.01; done"
    handlers = group(command(line), command(line, timeout=5), command(wait), command("touch other"))
    verdict = decide(write(project, "claude", {"PreToolUse": handlers}))
    assert (project / "ran").read_text() == "x\n"
    assert [str(run.outcome) for run in verdict.runs] == ["blocked", "ok", "ok"]


def test_sequential_groups_run_one_after_another(project: Path) -> None:
    first = says({"hookSpecificOutput": {"tool_input": {"command": "changed"}}})
    file = write(project, "gemini", {"BeforeTool": group(command(first), command(SAVE), sequential=True)})
    assert decide(file).modified_input == {"command": "changed"}
    assert json.loads((project / "sent").read_text())["tool_input"] == {"command": "changed"}


def test_two_agents_hooks_of_one_name_are_each_sent_their_own(project: Path) -> None:
    files = [
        write(project, agent, {"Notification": f"cat > {agent}.part; mv {agent}.part {agent}.sent"}) for agent in AGENTS
    ]
    Engine.load(configs=files).decide(Event("notification", notification_type="x", body="b"))
    for agent in ("claude", "gemini", "qwen"):
        until((project / f"{agent}.sent").exists)
        assert ("timestamp" in json.loads((project / f"{agent}.sent").read_text())) is (agent != "claude")
    deferred = claude("pre-tool-call", {"hookSpecificOutput": {"permissionDecision": "defer"}})
    assert deferred == {"log": "not done here: hookSpecificOutput permissionDecision defer"}
