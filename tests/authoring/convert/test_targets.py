"""What each target of a conversion can hold, and what it calls events and tools."""

from __future__ import annotations

import pytest

from tenterhook import Hook
from tenterhook.authoring.convert import targets
from tenterhook.authoring.convert.targets import TARGETS
from tenterhook.formats import expressions


def hook(event: str, declared: str, form: str) -> Hook:
    return Hook("guard", event, declared, form)


def test_array_hooks_in_kimi_clis_folder_have_pythons_expressions() -> None:
    assert targets.target_for("array", "/home/me/.kimi/config.toml").dialect == expressions.PYTHON
    for out in ("/home/me/.kimi-code/config.toml", None):
        assert targets.target_for("array", out).dialect == expressions.JAVASCRIPT
    assert targets.target_for("table", "/home/me/.kimi/config.toml") == TARGETS["table"]


@pytest.mark.parametrize(
    ("declared", "form", "to", "name"),
    [
        ("PreToolUse", "folder", "table", "PreToolUse"),  # both send the event's type: any name stays
        ("pre-tool-call", "folder", "array", "PreToolUse"),
        ("before_tool", "table", "gemini", "BeforeTool"),
        ("PreToolUse", "array", "table", "before_tool"),
        ("PreToolUse", "array", "folder", "pre-tool-call"),
        ("BeforeTool", "gemini", "gemini", "BeforeTool"),
    ],
)
def test_an_event_is_named_as_the_target_names_it(declared: str, form: str, to: str, name: str) -> None:
    assert targets.event_name(hook("pre-tool-call", declared, form), TARGETS[to]) == name


def test_an_event_that_the_target_does_not_have_has_no_name() -> None:
    assert targets.event_name(hook("session-heartbeat", "session-heartbeat", "folder"), TARGETS["claude"]) is None


def test_an_array_file_is_refused_whole_for_an_event_that_its_agent_does_not_know() -> None:
    assert targets.refuses_event(TARGETS["array"], "session-heartbeat")
    assert not targets.refuses_event(TARGETS["array"], "PreToolUse")
    assert not targets.refuses_event(TARGETS["table"], "session-heartbeat")


def test_a_tools_own_names_are_those_of_the_targets_agent() -> None:
    names = ("Shell", "Bash", "run_shell_command")
    assert targets.own_tool_names(TARGETS["table"], names) == ()
    assert targets.own_tool_names(TARGETS["claude"], names) == ("Bash",)
    assert targets.own_tool_names(TARGETS["gemini"], names) == ("run_shell_command",)
    assert targets.own_tool_names(targets.target_for("array", ".kimi/config.toml"), names) == ("Shell",)
    assert targets.own_tool_names(TARGETS["claude"], ("mcp__x__run",)) == ()
