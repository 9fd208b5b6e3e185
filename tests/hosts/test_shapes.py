"""How payloads of a new version are compared with the recorded ones."""

from __future__ import annotations

from typing import Any

import pytest

from hosts.recorded import RECORDED, each_agent, native_name, recorded, sent
from hosts.shapes import differences

BASH = {
    "session_id": "s",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_response": {"stdout": "", "code": 0},
}


def said(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[str]:
    return [str(each) for each in differences({"PostToolUse": before}, {"PostToolUse": now})]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"session_id": "another"}, []),
        ({"session_id": 5}, ["`PostToolUse`: `session_id` was text, is a number"]),
        ({"session_id": None}, []),
        ({"turn": {"id": 1}}, ["`PostToolUse`: `turn` is new"]),
        ({"tool_input": {"command": "ls", "description": "x"}}, []),
        ({"tool_input": {}}, []),
        ({"tool_input": "ls"}, ["`PostToolUse`: `tool_input` was an object, is text"]),
        (
            {"tool_response": {"stdout": "", "code": "0"}},
            ["`PostToolUse of Bash`: `tool_response.code` was a number, is text"],
        ),
        ({"tool_response": {"stdout": ""}}, ["`PostToolUse of Bash`: `tool_response.code` is gone"]),
        ({"tool_name": "Read", "tool_response": {"file": {}}}, []),
    ],
)
def test_what_changed_is_said_and_nothing_else(change: dict[str, Any], expected: list[str]) -> None:
    assert said([BASH], [{**BASH, **change}]) == expected


def test_a_key_that_is_gone_is_said_once_with_all_that_was_in_it() -> None:
    without = {key: value for key, value in BASH.items() if key != "tool_response"}
    assert said([BASH], [without]) == ["`PostToolUse`: `tool_response` is gone"]


def test_a_key_that_was_sometimes_missing_may_be_missing() -> None:
    assert said([BASH, {**BASH, "agent_id": "a"}], [BASH]) == []
    assert said([{**BASH, "agent_id": "a"}], [BASH]) == ["`PostToolUse`: `agent_id` is gone"]
    assert said([{**BASH, "agent_id": "a"}], [BASH, {**BASH, "agent_id": "b"}]) == []


def test_a_key_that_was_null_may_be_anything() -> None:
    assert said([{"parent": None}], [{"parent": "x"}]) == []


def test_elements_of_lists_are_compared_and_may_be_missing() -> None:
    before = {"tasks": [{"id": 1}, {"id": 2, "title": "x"}]}
    assert said([before], [{"tasks": []}]) == []
    assert said([before], [{"tasks": [{"id": 3}]}]) == []
    assert said([before], [{"tasks": [{"id": "3"}]}]) == ["`PostToolUse`: `tasks[].id` was a number, is text"]
    assert said([before], [{"tasks": [{"id": 3, "new": 1}]}]) == ["`PostToolUse`: `tasks[].new` is new"]


def test_events_of_one_side_are_left_out() -> None:
    assert differences({"Stop": [{"a": 1}]}, {"Other": [{}]}) == []


@each_agent
def test_what_is_recorded_does_not_differ_from_itself(agent: str) -> None:
    by_event: dict[str, list[dict[str, Any]]] = {}
    for file in recorded(agent):
        by_event.setdefault(native_name(file), []).append(sent(file))
    assert by_event
    assert len(RECORDED) >= sum(map(len, by_event.values()))
    assert differences(by_event, by_event) == []
