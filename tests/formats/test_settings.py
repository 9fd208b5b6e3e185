"""Hooks in other agents' own settings: definitions, what they are sent, what they may say."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from formats.agent_settings import SAVE, command, group, says, write
from support import decide, shell_call
from tenterhook import Engine, Event
from tenterhook.events import AGENT_FORMATS
from tenterhook.formats import toml_files

if TYPE_CHECKING:
    from pathlib import Path

# ---- definitions


@pytest.mark.parametrize("agent", AGENT_FORMATS)
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
        *((agent, every, EVERYTHING) for agent in AGENT_FORMATS for every in ("", "*")),
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
        *((agent, "[", []) for agent in AGENT_FORMATS),
    ],
)
def test_a_matcher_is_read_as_its_agent_reads_it(project: Path, agent: str, matcher: str, matched: list[str]) -> None:
    event = "BeforeTool" if agent == "gemini" else "PreToolUse"
    engine = Engine.load(configs=[write(project, agent, {event: group(command("true"), matcher=matcher)})])
    reached = [tool for tool in EVERYTHING if engine.decide(shell_call(tool_name=tool)).runs]
    assert reached == matched
    refused = matcher == "|" or (matcher == "[" and agent != "gemini")
    assert [problem.code for problem in engine.problems] == (["never-matches-expression"] if refused else [])


@pytest.mark.parametrize("agent", AGENT_FORMATS)
def test_without_a_tool_the_source_is_matched(project: Path, agent: str) -> None:
    file = write(project, agent, {"SessionStart": group(command("true"), matcher="resume")})
    engine = Engine.load(configs=[file])
    assert [len(engine.decide(Event("pre-session", source=each)).runs) for each in ("resume", "startup")] == [1, 0]


@pytest.mark.parametrize(("agent", "event"), [("claude", "Stop"), ("qwen", "Stop"), ("gemini", "AfterAgent")])
def test_a_matcher_where_there_is_nothing_to_match_is_ignored_and_said(project: Path, agent: str, event: str) -> None:
    engine = Engine.load(configs=[write(project, agent, {event: group(command("true"), matcher="Bash")})])
    assert [problem.code for problem in engine.problems] == ["ignored-key"]
    assert len(engine.decide(Event("pre-agent-turn-stop")).runs) == 1


# ---- what it may say


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
