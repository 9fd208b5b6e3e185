"""Payloads that nest: with Claude Code's keys, whatever is in them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hosts.recorded import DATA
from tenterhook.agents import AGENTS
from tenterhook.agents.nested_payloads import flat
from tenterhook.dispatch import dispatch

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
calls = values | st.fixed_dictionaries({}, optional=dict.fromkeys(("id", "name", "input", "output", "error"), values))


def test_the_session_the_place_and_the_call_are_at_the_top() -> None:
    payload = json.loads((DATA / "cline" / "PostToolUse-mcp.json").read_text())
    found = flat(payload)
    assert found["session_id"] == payload["sessionContext"]["rootSessionId"]
    assert found["cwd"] == "/home/user/project"
    assert (found["tool_name"], found["tool_use_id"]) == ("echo__echo", "call_1")
    assert found["tool_input"] == {"text": "hi"}
    assert found["tool_response"]["content"][0]["text"] == "MCP-ECHO hi"
    assert found["taskId"] == payload["taskId"]
    assert not {"sessionContext", "tool_result", "postToolUse"} & set(found)


def test_one_that_does_not_nest_stays_as_it_is() -> None:
    payload = {"session_id": "s", "tool_call": {"name": "x"}}
    assert flat(payload) is payload


def test_a_bare_list_of_commands_is_one_under_its_key() -> None:
    call = {"name": "run_commands", "input": ["ls", "rm -rf x"]}
    assert flat({"sessionContext": {}, "tool_call": call})["tool_input"] == {"commands": ["ls", "rm -rf x"]}


@settings(max_examples=200)
@given(
    payload=st.fixed_dictionaries(
        {"sessionContext": values},
        optional={"taskId": values, "workspaceRoots": values, "tool_call": calls, "tool_result": calls},
    ),
    native=st.sampled_from(sorted(AGENTS["cline"].events)),
)
def test_a_payload_of_wrong_types_is_still_an_event(payload: dict[str, Any], native: str) -> None:
    received = AGENTS["cline"].read_event(payload, native)
    assert isinstance(received.event.session_id, str)
    assert isinstance(received.event.work_dir, str)
    assert isinstance(received.event.tool_name, str | None)
    dispatch._matched_values(flat(payload))


@pytest.mark.parametrize(
    ("commands", "is_known"),
    [(["ls"], True), (["ls", "rm x"], False), ([{"command": "rm", "args": ["x"]}], False), ([], False)],
)
def test_the_index_judges_a_list_of_commands_only_if_hooks_see_no_other_text(
    commands: list[Any], is_known: bool
) -> None:
    payload = {"tool_name": "run_commands", "tool_input": {"commands": commands}}
    assert (dispatch._matched_values(payload) is not None) == is_known
