"""Sample values: every documented field of every event, as given where it was given."""

from __future__ import annotations

import pytest

from tenterhook.cli import sample_events
from tenterhook.events import BY_NAME, EVENTS, EventSpec

CALL = BY_NAME["pre-tool-call"]


@pytest.mark.parametrize("spec", EVENTS, ids=lambda spec: spec.name)
def test_every_documented_field_has_a_value(spec: EventSpec) -> None:
    assert {*spec.fields} - {"mcp_names", "tool_kind"} <= sample_events.fields(spec, {}, "/work").keys()


def test_what_was_given_is_kept_and_none_is_not_given() -> None:
    given = {"tool_name": "Deploy", "tool_input": {"to": "staging"}, "tool_use_id": None}
    found = sample_events.fields(CALL, given, "/work")
    assert (found["tool_name"], found["tool_input"]) == ("Deploy", {"to": "staging"})
    assert found["tool_use_id"]


@pytest.mark.parametrize(("tool", "key"), [("Bash", "command"), ("run_shell_command", "command"), ("Write", "content")])
def test_the_sample_input_fits_the_tool_whatever_an_agent_calls_it(tool: str, key: str) -> None:
    assert key in sample_events.fields(CALL, {"tool_name": tool}, "/work")["tool_input"]


def test_a_tool_that_nobody_knows_has_an_empty_input() -> None:
    assert sample_events.fields(CALL, {"tool_name": "mcp__x__y"}, "/work")["tool_input"] == {}


def test_a_permission_request_is_about_the_call_that_was_given() -> None:
    spec = BY_NAME["permission-request"]
    found = sample_events.fields(spec, {"tool_name": "Shell", "tool_input": {"command": "make"}}, "/work")
    assert found["display"] == {"kind": "command", "command": "make", "cwd": "/work"}
