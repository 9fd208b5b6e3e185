"""Which hooks an event reaches (section 3 of the contract)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.one_hook import call, engine_of
from support import array_hook, decide, table_hook, write_config
from tenterhook import Engine, Event, Verdict
from tenterhook.events import TOOL_NAMES

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = ("folder", "table", "array")


def reached(verdict: Verdict) -> bool:
    return bool(verdict.runs)


def matches(project: Path, event: Event, format_: str = "table", **matcher: Any) -> bool:
    return reached(engine_of(project, format_, **matcher).decide(event))


# ---- tool names


@pytest.mark.parametrize(
    ("expression", "tool", "found"),
    [
        ("Shell", "Shell", True),
        ("hel", "Shell", True),
        ("^Shell$", "Shell", True),
        ("Shell|WriteFile", "WriteFile", True),
        ("^Write", "Shell", False),
        ("shellx", "Shell", False),
        ("mcp__.*__query", "mcp__db__query", True),
        (".*", "anything", True),
        ("^$", "Shell", False),
        ("", "Shell", True),
    ],
)
@pytest.mark.parametrize("format_", FORMATS)
def test_a_tool_matcher_is_searched_in_the_name(
    project: Path, format_: str, expression: str, tool: str, found: bool
) -> None:
    assert matches(project, call(tool), format_, tool=expression) is found


@pytest.mark.parametrize("format_", FORMATS)
def test_without_a_matcher_every_tool_is_reached(project: Path, format_: str) -> None:
    engine = engine_of(project, format_)
    assert reached(engine.decide(call("Shell")))
    assert reached(engine.decide(call(None)))


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("expression", ["Shell", ".*", "^$"])
def test_a_matcher_and_no_tool_name_is_no_match(project: Path, format_: str, expression: str) -> None:
    assert not matches(project, call(None, {"command": "ls"}), format_, tool=expression)


@pytest.mark.parametrize("names", TOOL_NAMES, ids=[names[0] for names in TOOL_NAMES])
def test_a_matcher_that_finds_any_name_of_a_tool_finds_the_tool(project: Path, names: tuple[str, ...]) -> None:
    engine = engine_of(project, "table", tool=f"^{names[1]}$")
    assert all(reached(engine.decide(call(name))) for name in names)
    assert not reached(engine.decide(call("Other")))


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("native", ["Shell", "Bash", "run_shell_command", "exec_command"])
def test_the_shell_has_the_same_guard_under_every_agents_name(project: Path, format_: str, native: str) -> None:
    assert matches(project, call(native), format_, tool="^Bash$")


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("mcp:github/create_issue", True),
        ("^mcp:github/", True),
        ("mcp:[^/]+/create_.*", True),
        ("mcp__github__create_issue", True),
        ("^mcp:git/", False),
        ("^mcp:github/create$", False),
        ("mcp:other/", False),
    ],
)
@pytest.mark.parametrize("native", ["mcp__github__create_issue", "github___create_issue", "mcp:github/create_issue"])
def test_a_tool_of_an_mcp_server_is_matched_by_server_and_by_tool(
    project: Path, format_: str, native: str, expression: str, found: bool
) -> None:
    named = Event("pre-tool-call", tool_name=native, tool_input={}, mcp_names=["mcp:github/create_issue"])
    assert matches(project, named, format_, tool=expression) is found


@pytest.mark.parametrize("expression", ["^mcp:docs/", "^mcp:(do)+cs/"])  # found at once, and in the helper process
def test_where_a_name_can_be_read_in_two_ways_a_hook_may_refuse_and_not_approve(project: Path, expression: str) -> None:
    readings = ["mcp:docs-evil/read", "mcp:docs/evil-read"]
    event = Event("pre-tool-call", tool_name="docs-evil-read", tool_input={}, mcp_names=readings)
    assert engine_of(project, "table", tool=expression).decide(event).denied
    says = write_config(
        project / "approve.toml",
        table_hook('echo \'{"hookSpecificOutput": {"permissionDecision": "allow"}}\'', matcher={"tool": expression}),
    )
    verdict = Engine.load(project, configs=[says]).decide(event)
    assert verdict.decision == "none"
    assert "can be read as mcp:docs-evil/read or mcp:docs/evil-read" in verdict.runs[0].decision.notes[0]
    certain = event.replace(mcp_names=["mcp:docs/evil-read"])
    assert Engine.load(project, configs=[says]).decide(certain).decision == "approve"


def test_a_matcher_that_matches_every_reading_is_certain(project: Path) -> None:
    event = Event("pre-tool-call", tool_name="a-b-c", tool_input={}, mcp_names=["mcp:a/b-c", "mcp:a-b/c"])
    says = write_config(
        project / "approve.toml",
        table_hook('echo \'{"hookSpecificOutput": {"permissionDecision": "allow"}}\'', matcher={"tool": "^mcp:a"}),
    )
    assert Engine.load(project, configs=[says]).decide(event).decision == "approve"


@pytest.mark.parametrize("tool", [5, {"a": 1}, ["Shell"], "", "x" * 300, "\ud800", "a\nb"])
def test_any_tool_name_an_agent_may_send_reaches_a_guard_for_all_tools(project: Path, tool: Any) -> None:
    assert engine_of(project, "table").decide(call(tool, {})).denied


# ---- input patterns


@pytest.mark.parametrize(
    ("pattern", "tool_input", "found"),
    [
        (r"\.py$", {"file_path": "/a/b.py"}, True),
        (r"\.py$", {"file_path": "/a/b.py", "content": "…"}, True),
        (r"\.py$", {"file_path": "/a/b.pyc"}, False),
        (r"\.py$", {"edits": [{"path": ["x", "y.py"]}]}, True),
        ("^rm", {"command": "rm -rf /"}, True),
        ("^rm", {"command": "echo rm"}, False),
        ("command", {"command": "ls"}, False),
        ("^42$", {"n": 42}, True),
        ("^1.5$", {"n": 1.5}, True),
        ("^true$", {"deep": {"flag": True}}, True),
        ("^True$", {"flag": True}, False),
        ("null|None", {"nothing": None}, False),
        ("^$", {"empty": ""}, True),
        (".*", {}, False),
        (".*", [], True),
        (".*", None, False),
        ("^ls -l$", "ls -l", True),
        ("^7$", 7, True),
        ("^false$", False, True),
        ('"b.py"', ["a", "b.py"], True),
        ("é$", {"path": "caf\u00e9"}, True),
        ("", None, True),
    ],
)
@pytest.mark.parametrize("format_", ["folder", "table"])
def test_a_pattern_is_searched_in_each_value_of_the_input(
    project: Path, format_: str, pattern: str, tool_input: Any, found: bool
) -> None:
    assert matches(project, call("Any", tool_input), format_, pattern=pattern) is found


@pytest.mark.parametrize(
    ("tool", "command", "found"), [("Shell", "rm x", True), ("Shell", "ls", False), ("Read", "rm x", False)]
)
def test_tool_and_pattern_must_both_match(project: Path, tool: str, command: str, found: bool) -> None:
    assert matches(project, call(tool, {"command": command}), tool="^Shell$", pattern="^rm") is found


@pytest.mark.parametrize("event", ["permission-request", "permission-result", "post-tool-call"])
def test_matchers_apply_to_permission_events_too(project: Path, event: str) -> None:
    engine = engine_of(project, "table", event=event, tool="^Shell$", pattern="^rm")
    assert reached(engine.decide(Event(event, tool_name="Bash", tool_input={"command": "rm"})))
    assert not reached(engine.decide(Event(event, tool_name="Bash", tool_input={"command": "ls"})))


# ---- other events


@pytest.mark.parametrize("format_", ["folder", "table"])
@pytest.mark.parametrize("matcher", [{"tool": ".*"}, {"pattern": ".*"}])
@pytest.mark.parametrize("event", ["session_start", "before_agent", "before_stop", "notification"])
def test_a_folder_or_table_matcher_on_an_event_without_a_tool_never_matches(
    project: Path, format_: str, matcher: dict[str, str], event: str
) -> None:
    engine = engine_of(project, format_, event=event, **matcher)
    fields: dict[str, Any] = {"tool_name": "Shell", "tool_input": {"command": "ls"}, "prompt": "x", "source": "startup"}
    assert not reached(engine.decide(Event(event, **fields)))
    assert "matcher-on-other-event" in [problem.code for problem in engine.problems]


@pytest.mark.parametrize(
    ("event", "fields", "expression", "found"),
    [
        ("SessionStart", {"source": "resume"}, "^resume$", True),
        ("SessionStart", {}, "^startup$", True),
        ("SessionStart", {"source": "resume"}, "startup", False),
        ("SessionEnd", {}, "^exit$", True),
        ("UserPromptSubmit", {"prompt": "please deploy"}, "deploy$", True),
        ("UserPromptSubmit", {"prompt": [{"type": "text", "text": "please deploy"}]}, "^please deploy$", True),
        ("UserPromptSubmit", {"prompt": [{"type": "image"}, {"type": "text", "text": "x"}]}, "^x$", True),
        ("UserPromptSubmit", {"prompt": "hello"}, "deploy", False),
        ("Stop", {}, "^$", True),
        ("Stop", {}, ".*", True),
        ("Stop", {"stop_reason": "done"}, "done", False),
        ("StopFailure", {"error_type": "rate_limit"}, "rate", True),
        ("SubagentStart", {"agent_name": "coder"}, "^coder$", True),
        ("SubagentStart", {"subagent_name": "coder"}, "^coder$", True),
        ("SubagentStop", {"agent_name": "coder"}, "writer", False),
        ("PreCompact", {"trigger": "auto"}, "auto", True),
        ("PostCompact", {"trigger": "manual"}, "auto", False),
        ("Notification", {"notification_type": "task.completed"}, r"task\.completed", True),
        ("Notification", {"notification_type": "task.failed"}, r"task\.completed", False),
        ("UserPromptQueued", {"prompt": "later"}, "later", True),
        ("TurnStarted", {"origin_kind": "user"}, "^user$", True),
        ("TaskStarted", {"kind": "agent"}, "^agent$", True),
        ("Interrupt", {"reason": "key"}, "key", False),
        ("SessionHeartbeat", {"uptime_ms": 1}, "^$", True),
        ("PermissionRequest", {"tool_name": "Shell"}, "^Bash$", True),
    ],
)
def test_an_array_matcher_is_searched_in_the_events_target(
    project: Path, event: str, fields: dict[str, Any], expression: str, found: bool
) -> None:
    engine = engine_of(project, "array", event=event, line="true", tool=expression)
    assert reached(engine.decide(Event(event, **fields))) is found


@pytest.mark.parametrize("event", ["SubagentStart", "Notification", "UserPromptSubmit", "PreCompact"])
def test_an_array_matcher_and_no_name_given_is_no_match(project: Path, event: str) -> None:
    assert not reached(engine_of(project, "array", event=event, line="true", tool=".*").decide(Event(event)))


# ---- dialects


DIALECTS = [  # expression, text, found in Python, found in JavaScript
    (r"^Bash$", "Bash\n", True, False),
    (r"^\d$", "\u0663", True, False),
    (r"^\w$", "é", True, False),
    (r"a\Z", "a", True, False),
    (r"a\Z", "aZ", False, True),
    (r"(?P<x>a)(?P=x)", "aa", True, None),
    (r"(?i)bash", "BASH", True, None),
    (r"(?<x>a)\k<x>", "aa", None, True),
    (r"^\p{L}$", "é", None, True),
    (r"^\p{L}$", "1", None, False),
    (r"^[^]$", "\n", None, True),
    (r"^\u{1F600}$", "\U0001f600", None, True),
    (r"a(?=b)", "ab", True, True),
    (r"(?<!x)b", "ab", True, True),
]


@pytest.mark.parametrize(("expression", "text", "python", "javascript"), DIALECTS)
def test_array_files_use_javascript_expressions(
    project: Path, expression: str, text: str, python: bool | None, javascript: bool | None
) -> None:
    engine = engine_of(project, "array", tool=expression)
    assert reached(engine.decide(call(text))) is bool(javascript)
    codes = [problem.code for problem in engine.problems]
    assert ("never-matches-expression" in codes) is (javascript is None)


@pytest.mark.parametrize(("expression", "text", "python", "javascript"), DIALECTS)
def test_array_files_of_kimi_cli_use_python_expressions(
    home: Path, project: Path, expression: str, text: str, python: bool | None, javascript: bool | None
) -> None:
    config = write_config(home / ".kimi" / "config.toml", array_hook("exit 2", matcher=expression))
    engine = Engine.load(configs=[config])
    assert reached(engine.decide(call(text))) is bool(python)
    codes = [problem.code for problem in engine.problems]
    assert ("never-matches-expression" in codes) is (python is None)


@pytest.mark.parametrize(("expression", "text", "python", "javascript"), DIALECTS)
@pytest.mark.parametrize("format_", ["folder", "table"])
def test_folder_and_table_hooks_use_python_expressions_and_are_refused_without(
    project: Path, format_: str, expression: str, text: str, python: bool | None, javascript: bool | None
) -> None:
    engine = engine_of(project, format_, tool=expression)
    assert reached(engine.decide(call(text))) is bool(python)
    assert ("bad-expression" in [problem.code for problem in engine.problems]) is (python is None)


def test_an_expression_that_python_warns_of_is_matched_without_a_word(project: Path) -> None:
    """An agent shows what its hooks write to stderr; warnings are errors in these tests."""
    assert reached(engine_of(project, "table", tool="[[S]hell").decide(call("Shell")))


def test_an_invalid_array_matcher_matches_nothing_and_leaves_the_others_alone(project: Path) -> None:
    config = write_config(project / "hooks.toml", array_hook("exit 1", matcher="(") + array_hook("exit 2"))
    verdict = decide(config)
    assert [run.hook.command for run in verdict.runs] == ["exit 2"]
    assert [problem.code for problem in verdict.problems] == ["never-matches-expression"]


@pytest.mark.parametrize(
    "expression", ["x{,3}y", "x{2}y", "x{2,}y", "x{0,30}y", "x{2,}?y", "a{ ", "{}", "x{,}y", "x{1 ", "[]a]x", "(?#c[)x"]
)
@pytest.mark.parametrize("format_", ["folder", "table"])
def test_every_way_to_write_a_repetition_or_a_brace_can_be_matched(
    project: Path, format_: str, expression: str
) -> None:
    assert matches(project, call("xxy a{ {} {,} x{1 ax"), format_, tool=expression)


@pytest.mark.parametrize("expression", ["x{,3}y", "x{2}y", "x{2,}y", "x{0,30}y", "x{2,}?y"])
def test_every_way_to_write_a_javascript_repetition_can_be_matched(project: Path, expression: str) -> None:
    assert matches(project, call("xxy x{,3}y"), "array", tool=expression)
